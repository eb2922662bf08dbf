import { expect, test } from "vitest";
import { importGemini } from "../../../src/interop/import/gemini/import-gemini.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { importQwen } from "../../../src/interop/import/qwen/import-qwen.ts";
import { readSourceText } from "../../../src/interop/import/source-text.ts";
import fc from "../../support/fast-check.ts";
import {
  type ClaudeRecord,
  call,
  importAll,
  joinLines,
  part,
  record,
  result,
  text,
  user,
  uuid,
} from "./support/claude-records.ts";
import {
  type CodexRecord,
  call as codexCall,
  importThread,
  meta,
  numbered,
  output,
  said,
  turn,
  usage,
} from "./support/codex-records.ts";
import {
  answer,
  type CopilotEvent,
  event,
  result as eventResult,
  importEvents,
  numbered as numberedEvents,
  prompt,
  start,
  tokens,
} from "./support/copilot-records.ts";
import { damage, damaged, place } from "./support/damage.ts";
import {
  answered,
  asked,
  chat,
  system as chatNote,
  makeCall,
  report,
  resulted,
} from "./support/qwen-records.ts";
import { briefMessage, partsMade, readView } from "./support/session-view.ts";

const claudeTurn = fc.record({
  calls: fc.nat({ max: 3 }),
  back: fc.nat({ max: 2 }),
  note: fc.boolean(),
  end: fc.constantFrom("answer", "answer", "interruption", "compaction"),
  /** In a compaction: whether the last answer is preserved. */
  keeps: fc.boolean(),
});

/** A conversation of any length: turns with parallel calls, rewinds, notes, interruptions, and compactions. */
const claudeRecords: fc.Arbitrary<ClaudeRecord[]> = fc
  .array(claudeTurn, { minLength: 1, maxLength: 6 })
  .map((turns) => {
    const records: ClaudeRecord[] = [];
    const ends: (string | null)[] = [null];
    for (const [n, { calls, back, note, end, keeps }] of turns.entries()) {
      const parent = ends.at(-1 - back) ?? ends.at(-1) ?? null;
      records.push(user(`q${n}`, parent, `prompt ${n}`));
      let last = `q${n}`;
      if (note) records.push(record("attachment", `n${n}`, last, { attachment: { type: "note" } }));
      if (note) last = `n${n}`;
      for (let i = 0; i < calls; i++) {
        records.push(
          part(`c${n}${i}`, i === 0 ? last : `c${n}${i - 1}`, `m${n}`, call(`t${n}${i}`), {
            stop: "tool_use",
          }),
        );
      }
      for (let i = 0; i < calls; i++)
        records.push(result(`r${n}${i}`, `c${n}${i}`, `t${n}${i}`, `out ${n} ${i}`));
      if (calls > 0) last = `r${n}${calls - 1}`;
      if (end === "interruption") {
        // The program's own reader makes it a child of the last call's result, whose row it follows.
        records.push(user(`a${n}`, last, `[Request interrupted by user] ${n}`));
        ends.push(`a${n}`);
        continue;
      }
      records.push(part(`a${n}`, last, `f${n}`, text(`answer ${n}`)));
      ends.push(`a${n}`);
      if (end !== "compaction") continue;
      const anchorUuid = uuid(`s${n}`);
      const preserved = keeps && { preservedMessages: { anchorUuid, uuids: [uuid(`a${n}`)] } };
      records.push(
        record("system", `b${n}`, null, {
          subtype: "compact_boundary",
          logicalParentUuid: uuid(`a${n}`),
          compactMetadata: { preTokens: 9, ...preserved },
        }),
        user(`s${n}`, `b${n}`, `summary ${n}`, { isCompactSummary: true }),
      );
      ends.push(`s${n}`);
    }
    return records;
  });

/** Returns a short form of each prompt, result, text, and call in the records. */
function healthyParts(records: readonly ClaudeRecord[]): string[] {
  const seen = new Map(records.map((one) => [one["uuid"], one]));
  return Array.from(seen.values())
    .flatMap(({ message }) => {
      const { content } = Object(message);
      if (typeof content === "string") return [content];
      return Array.isArray(content)
        ? content.map((block) => block.text ?? block.id ?? `of ${block.tool_use_id}`)
        : [];
    })
    .sort();
}

test("loses, duplicates, or orphans nothing healthy in Claude Code's records, whatever is cut, duplicated, and moved", () => {
  fc.assert(
    fc.property(claudeRecords, damage, (records, harm) => {
      const left = damaged(records, harm);
      const [session] = importAll(left);
      const hasTurn = left.some(({ type }) => type === "user" || type === "assistant");
      expect(session !== undefined).toBe(hasTurn);
      if (session === undefined) return;
      const view = readView(session);
      expect(view.read.issues).toEqual([]);
      expect(view.problems).toEqual([]);
      expect(partsMade(view)).toEqual(healthyParts(left));
      const { counts } = session;
      expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
      expect(counts.records).toBe(left.length);
    }),
  );
});

test("needs no pair repair for whole records of Claude Code, and ignores duplicates", () => {
  fc.assert(
    fc.property(claudeRecords, damage, (records, { doubled }) => {
      const [healthy] = importAll(records).map(readView);
      const [twice] = importAll(damaged(records, { cut: [], doubled, moves: [] })).map(readView);
      expect(healthy?.repairs).toEqual([]);
      expect(twice?.messages.map(briefMessage)).toEqual(healthy?.messages.map(briefMessage));
    }),
  );
});

const codexTurn = fc.record({ calls: fc.nat({ max: 3 }), back: fc.nat({ max: 2 }) });

/** A thread of any length, numbered or not. */
const codexRecords: fc.Arbitrary<CodexRecord[]> = fc
  .tuple(fc.array(codexTurn, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([turns, isNumbered]) => {
    const records = [meta()];
    for (const [n, { calls, back }] of turns.entries()) {
      const ids = Array.from({ length: calls }, (_, i) => `t${n}${i}`);
      if (back > 0)
        records.push({ ...turn("")[0], payload: { type: "thread_rolled_back", num_turns: back } });
      records.push(
        ...turn(
          `prompt ${n}`,
          ...ids.map((id) => codexCall(id)),
          ...ids.map((id) => output(id, `out ${id}`)),
        ),
      );
      records.push(said("assistant", `answer ${n}`), usage(`r${n}`, { output_tokens: 1, total_tokens: 1 }));
    }
    return isNumbered ? numbered(records) : records;
  });

function codexParts(records: readonly CodexRecord[]): string[] {
  const seen = new Map(records.map((one) => [JSON.stringify(one), one]));
  return Array.from(seen.values())
    .flatMap(({ type, payload }) => {
      const { type: kind, content, call_id: id } = Object(payload);
      if (type !== "response_item") return [];
      if (kind === "message") return [content[0].text];
      return [kind === "function_call" ? id : `of ${id}`];
    })
    .sort();
}

test("loses, duplicates, or orphans nothing healthy in Codex's records, whatever is cut, duplicated, and moved", () => {
  fc.assert(
    fc.property(codexRecords, damage, (records, harm) => {
      const left = damaged(records, harm);
      const session = importThread([left]);
      const parts = codexParts(left);
      expect(session !== undefined).toBe(
        parts.length > 0 || left.some(({ payload }) => Object(payload).type === "user_message"),
      );
      if (session === undefined) return;
      const view = readView(session);
      expect(view.read.issues).toEqual([]);
      expect(view.problems).toEqual([]);
      // A prompt without its item is that of its event: then there are no items at all, or it is not counted.
      if (parts.some((one) => one.startsWith("prompt") || one.startsWith("answer")))
        expect(partsMade(view)).toEqual(parts);
      const { counts } = session;
      expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
    }),
  );
});

test("needs no pair repair for whole records of Codex, and ignores duplicates", () => {
  fc.assert(
    fc.property(codexRecords, damage, (records, { doubled }) => {
      const healthy = importThread([records]);
      const twice = importThread([damaged(records, { cut: [], doubled, moves: [] }, false)]);
      if (healthy === undefined || twice === undefined) throw new Error("no session was made");
      expect(readView(healthy).repairs).toEqual([]);
      expect(readView(twice).messages.map(briefMessage)).toEqual(
        readView(healthy).messages.map(briefMessage),
      );
    }),
  );
});

const geminiStep = fc.record({
  kind: fc.constantFrom("turn", "turn", "call", "note", "rewind", "list", "snapshot"),
  back: fc.nat({ max: 5 }),
});

/** A log of patches: rewritten messages, rewinds, lists that replace them, and summaries. */
const geminiRecords = fc.array(geminiStep, { minLength: 1, maxLength: 8 }).map((steps) => {
  const timestamp = "2026-11-22T05:01:00.000Z";
  const said: { id: string; type: string; content: string }[] = [];
  const message = (id: string, type: string, content: string, more: object = {}) => {
    const made = { id, timestamp, type, content, ...more };
    said.push(made);
    return made;
  };
  const records: object[] = [{ sessionId: "g", projectHash: "h", startTime: timestamp }];
  for (const [n, { kind, back }] of steps.entries()) {
    const toolCalls = [{ id: `c${n}`, name: "f", args: {}, status: "success", result: "ok" }];
    records.push(message(`u${n}`, "user", `prompt ${n}`));
    if (kind === "call") records.push({ ...message(`a${n}`, "gemini", `answer ${n}`) });
    records.push(message(`a${n}`, "gemini", `answer ${n}`, kind === "call" ? { toolCalls } : {}));
    if (kind === "note") records.push({ id: `i${n}`, timestamp, type: "info", content: "note" });
    if (kind === "rewind") records.push({ $rewindTo: said.at(-1 - back)?.id ?? "nobody" });
    if (kind === "list") records.push({ $set: { messages: said.slice(0, -back || undefined) } });
    if (kind === "snapshot") {
      const summary = {
        id: `s${n}`,
        timestamp,
        type: "user",
        content: `<state_snapshot>${n}</state_snapshot>`,
      };
      records.push({ $set: { messages: [summary, ...said.slice(said.length - back)] } });
    }
  }
  return records;
});

test("loses or orphans nothing healthy in Gemini CLI's records, whatever is cut, duplicated, and moved", () => {
  fc.assert(
    fc.property(geminiRecords, damage, (records, harm) => {
      const left = damaged(records, harm);
      const text = readSourceText(left.map((one) => `${JSON.stringify(one)}\n`).join(""));
      const session = importGemini({ ...text, importedAt: "2027-01-01T00:00:00.000Z" });
      const parts = left
        .flatMap((one) => [one, ...(Object(one).$set?.messages ?? [])])
        .flatMap((one) => {
          const { type, content } = Object(one);
          return type === "user" || type === "gemini" ? [String(content)] : [];
        });
      const hasHeader = left.some((one) => "sessionId" in one);
      expect(session !== undefined).toBe(hasHeader && parts.length > 0);
      if (session === undefined) return;
      const view = readView(session);
      expect(view.read.issues).toEqual([]);
      expect(view.problems).toEqual([]);
      expect(new Set(partsMade(view).filter((one) => !/^(?:of )?c\d/.test(one)))).toEqual(new Set(parts));
      const { counts } = session;
      expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
      expect(counts.mapped).toBeGreaterThanOrEqual(0);
    }),
  );
});

/** Records of each program for a conversation with everything in it, and their import function. */
const CONVERSATIONS: readonly (readonly [
  name: string,
  records: readonly object[],
  importRecords: (records: readonly object[]) => ImportedSession[],
  prompts: (records: readonly object[]) => number,
])[] = [
  [
    "Copilot CLI",
    numberedEvents([
      start(),
      prompt("one"),
      tokens("r1"),
      answer("r1", "first", { c1: "task", c2: "bash" }),
      event("subagent.started", { toolCallId: "c1" }, "a1"),
      prompt("look", {}, "a1"),
      tokens("s1", {}, "a1"),
      answer("s1", "seen", { c3: "view" }, "a1"),
      eventResult("c3", "file", {}, "a1"),
      eventResult("c2", "out\n<exited with exit code 1>"),
      event("session.compaction_start"),
      prompt("two"),
      event("session.compaction_complete", { success: true, summaryContent: "so far" }),
      event("session.info", { infoType: "rewind" }),
      event("session.error", { message: "no" }),
      event("abort"),
      event("session.shutdown", {
        modelMetrics: { "m-1": { usage: { inputTokens: 900, outputTokens: 90 } } },
      }),
    ]),
    (records) => importEvents(records as CopilotEvent[]),
    (records) =>
      new Set(records.flatMap((one) => (Object(one).type === "user.message" ? [Object(one).id] : []))).size,
  ],
  [
    "Qwen Code",
    chat([
      asked("q1", "one"),
      report("p1", "r1"),
      answered("a1", [{ text: "hm", thought: true }, makeCall("c1")]),
      resulted("t1", "c1", "Exit Code: 1"),
      report("p2", "r2", { subagent_name: "memory" }),
      asked("q2", "two"),
      chatNote("k1", "chat_compression", {
        compressedHistory: [{ role: "user", parts: [{ text: "so far" }] }],
      }),
      answered("a2", [{ text: "second" }]),
      { ...asked("s1", "look"), isSidechain: true, agentId: "x" },
      chatNote("w1", "rewind", {}),
      chatNote("n1", "custom_title", { customTitle: "Walls" }),
      asked("q3", "three"),
    ]),
    (records) =>
      importQwen({ ...readSourceText(joinLines(records)), importedAt: "2027-01-01T00:00:00.000Z" }),
    (records) =>
      new Set(records.flatMap((one) => (Object(one).type === "user" ? [Object(one).uuid] : []))).size,
  ],
];

test.each(CONVERSATIONS)(
  "loses or orphans nothing healthy in %s's records, whatever is cut, duplicated, moved, and overwritten",
  (_, records, importRecords, prompts) => {
    const overwritten = fc.record({
      at: place,
      field: fc.constantFrom("data", "systemPayload", "timestamp", "message"),
      value: fc.jsonValue(),
    });
    fc.assert(
      fc.property(damage, fc.option(overwritten), (harm, other) => {
        const left = damaged(records, harm);
        const made = importRecords(left);
        const users = made.reduce((sum, { counts }) => sum + counts.userMessages, 0);
        if (made.length > 0) expect(users).toBe(prompts(left));
        const changed = left.map((one, i) =>
          i === other?.at ? { ...one, [other.field]: other.value } : one,
        );
        for (const session of [...made, ...importRecords(changed)]) {
          const { read, problems } = readView(session);
          expect([...read.issues, ...problems]).toEqual([]);
          const { counts } = session;
          expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
          expect(counts.mapped).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  },
);
