import { expect, test } from "vitest";
import { encodeRecord } from "../../../src/core/jsonl/encode.ts";
import { exportAtif } from "../../../src/interop/atif/export-atif.ts";
import { findAtifSession } from "../../../src/interop/import/atif/stored-lines.ts";
import type { SessionManager as Manager } from "../../../src/session/manager/session-manager.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import fc from "../../support/fast-check.ts";
import { assistant, call, toolResult, usage, user } from "../../support/messages.ts";
import { importBack, readSource, summarizePath, writeText } from "./support/trajectories.ts";
import { findAtifProblems } from "./support/validate-atif.ts";

type Append = (session: Manager) => void;

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const id = fc.constantFrom("a", "b", "c", "");

const append: fc.Arbitrary<Append> = fc.oneof(
  text.map(
    (said): Append =>
      (session) =>
        session.appendMessage(user(said)),
  ),
  fc
    .record({
      said: text,
      ids: fc.array(id, { maxLength: 3 }),
      tokens: fc.nat({ max: 99 }),
      end: fc.constantFrom("stop", "aborted"),
    })
    .map(
      ({ said, ids, tokens, end }): Append =>
        (session) => {
          const stopReason = end === "stop" ? {} : { stopReason: "aborted" as const };
          session.appendMessage(
            assistant(
              said,
              { usage: usage(tokens, tokens / 8), ...stopReason },
              ...ids.map((one) => call(one)),
            ),
          );
        },
    ),
  fc.tuple(id, text, fc.boolean()).map(
    ([of, said, isError]): Append =>
      (session) =>
        session.appendMessage(toolResult(of, said, isError)),
  ),
  text.map(
    (said): Append =>
      (session) =>
        session.appendCustomMessageEntry("note", said, true),
  ),
  text.map(
    (name): Append =>
      (session) =>
        session.appendSessionInfo(name),
  ),
  fc.tuple(text, fc.nat()).map(
    ([summary, place]): Append =>
      (session) => {
        const path = session.getBranch();
        const kept = path[place % path.length];
        if (kept !== undefined) session.appendCompaction(summary || "so far", kept.id, place);
      },
  ),
  fc.nat().map(
    (place): Append =>
      (session) => {
        const entries = session.getEntries();
        const entry = entries[place % entries.length];
        if (entry !== undefined) session.branch(entry.id);
      },
  ),
);

test("exports random sessions as valid documents with equal texts, calls, results, and sums after import", () => {
  fc.assert(
    fc.property(fc.array(append, { maxLength: 20 }), (appends) => {
      const session = SessionManager.inMemory();
      session.appendMessage(user("begin"));
      for (const one of appends) one(session);
      const exported = exportAtif(session);
      expect(findAtifProblems(exported.trajectory)).toEqual([]);
      const [back] = importBack(exported);
      if (back === undefined) throw new Error("no session was made");
      const path = readSource(writeText(back)).getBranch();
      expect(summarizePath(path)).toEqual(summarizePath(session.getBranch()));
      expect(findAtifProblems(exportAtif(session, { compacted: "context" }).trajectory)).toEqual([]);
      const { trajectory } = exportAtif(session, { lossless: true });
      const written = [session.getHeader(), ...session.getEntries()].map(
        (one) => `${encodeRecord(one ?? {})}\n`,
      );
      expect(findAtifSession(JSON.parse(JSON.stringify(trajectory)))).toBe(written.join(""));
    }),
  );
});
