import { expect, test } from "vitest";
import { importOpenCode } from "../../../../src/interop/import/opencode/import-opencode.ts";
import fc from "../../../support/fast-check.ts";
import { damage, damaged, place } from "../support/damage.ts";
import {
  answer,
  call,
  makeDocument,
  type OpenCodeMessage,
  prompt,
  text,
} from "../support/opencode-records.ts";
import { partsMade, readView } from "../support/session-view.ts";

const turn = fc.record({
  calls: fc.nat({ max: 3 }),
  isCompacted: fc.boolean(),
  back: fc.nat({ max: 3 }),
});

/** A session: turns with calls, some of them cleared, compactions, and turns that were reverted and then deleted. */
const conversation = fc.array(turn, { minLength: 1, maxLength: 6 }).map((turns) => {
  const live: OpenCodeMessage[] = [];
  const deleted: { message: OpenCodeMessage; createdSeq: number; deletedSeq: number }[] = [];
  for (const [n, { calls, isCompacted, back }] of turns.entries()) {
    for (const message of live.splice(live.length - Math.min(back, live.length)))
      deleted.push({ message, createdSeq: Number(message.info["seq"]), deletedSeq: n * 10 });
    const parts = Array.from({ length: calls }, (_, i) =>
      call(`t${n}${i}`, "read", {
        time: { end: 1, compacted: i === 0 ? n * 10_000 + 5000 : undefined },
      }),
    );
    const seq = { seq: n * 10 + 1 };
    const asked = prompt(`q${n}`, n * 10, ...(isCompacted ? [{ type: "compaction" }] : [`prompt ${n}`]));
    const more = isCompacted ? { ...seq, summary: true } : seq;
    live.push({ ...asked, info: { ...asked.info, ...seq } });
    live.push(answer(`a${n}`, n * 10 + 1, [text(`answer ${n}`), ...(isCompacted ? [] : parts)], more));
  }
  return { live, deleted };
});

function partsIn(messages: readonly OpenCodeMessage[]): string[] {
  return messages
    .flatMap(({ parts }) =>
      parts.flatMap((part) => {
        const { text, callID } = Object(part);
        return callID === undefined ? (text ?? []) : [callID, `of ${callID}`];
      }),
    )
    .sort();
}

test("loses, duplicates, or orphans nothing healthy in OpenCode's messages, whatever is cut, duplicated, and moved", () => {
  fc.assert(
    fc.property(conversation, damage, ({ live, deleted }, harm) => {
      const left = damaged(live, harm);
      const gone = damaged(deleted, harm);
      const session = importOpenCode({
        document: makeDocument(left),
        deleted: gone,
        importedAt: "2027-01-01T00:00:00.000Z",
      });
      const all = [...new Set([...left, ...gone.map(({ message }) => message)])];
      expect(session !== undefined).toBe(all.length > 0);
      if (session === undefined) return;
      const view = readView(session);
      expect(view.read.issues).toEqual([]);
      expect(view.problems).toEqual([]);
      expect(partsMade(view)).toEqual(partsIn(all));
      const { counts } = session;
      expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
      expect(counts.mapped).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("makes a session from any values of OpenCode's fields, and accounts for everything", () => {
  const fields = ["time", "tokens", "error", "summary", "finish", "role", "model", "path"] as const;
  const overwritten = fc.record({ at: place, field: fc.constantFrom(...fields), value: fc.jsonValue() });
  const ofParts = fc.record({
    at: place,
    field: fc.constantFrom("type", "text", "state"),
    value: fc.jsonValue(),
  });
  fc.assert(
    fc.property(conversation, fc.array(overwritten), ofParts, ({ live, deleted }, changes, other) => {
      const messages = live.map(({ info, parts }, at) => ({
        info: {
          ...info,
          ...Object.fromEntries(changes.flatMap((one) => (one.at === at ? [[one.field, one.value]] : []))),
        },
        parts: parts.map((one, n) => (n === other.at ? { ...one, [other.field]: other.value } : one)),
      }));
      const document = makeDocument(messages);
      const session = importOpenCode({ document, deleted, importedAt: "2027-01-01T00:00:00.000Z" });
      if (session === undefined) return;
      const { read, problems } = readView(session);
      expect([...read.issues, ...problems]).toEqual([]);
      const { counts } = session;
      expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
      expect(counts.mapped).toBeGreaterThanOrEqual(0);
    }),
  );
});

test("makes a session from a message whose role is an object without a usable toString", () => {
  const hostile = JSON.parse('{"toString":0,"valueOf":0}');
  const { info, parts } = prompt("q0", 0, "prompt 0");
  const messages = [{ info: { ...info, role: hostile }, parts }, answer("a0", 1, [text("answer 0")])];
  const session = importOpenCode({
    document: makeDocument(messages),
    importedAt: "2027-01-01T00:00:00.000Z",
  });
  expect(session?.counts.records).toBeGreaterThan(0);
});
