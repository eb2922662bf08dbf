import { describe, expect, test } from "vitest";
import { getMessageFields } from "../../../src/core/context/entry-fields.ts";
import {
  findContinuedSession,
  parseContinuedSession,
} from "../../../src/interop/import/continued-session.ts";
import type { ImportedSession } from "../../../src/interop/import/imported-session.ts";
import { importAll, part, text, user } from "./support/claude-records.ts";
import { compacted, event, importThread, meta, said, turn, usage } from "./support/codex-records.ts";
import { getImportProvenance } from "./support/session-view.ts";

const CONTINUED = { sessionId: "wall", leafId: "0000000a" };

describe("a continuation record", () => {
  test.each([
    [{ type: "sessiontree", payload: CONTINUED }],
    [{ type: "sessiontree", continued: CONTINUED, sessionId: "x" }],
    [{ $set: { sessiontree: CONTINUED } }],
  ])("is read from %j", (record) => {
    expect(findContinuedSession(record)).toEqual(CONTINUED);
  });

  test.each([
    [{}],
    [{ type: "sessiontree" }],
    [{ type: "sessiontree", payload: { sessionId: "wall" } }],
    [{ type: "sessiontree", payload: { sessionId: "wall", leafId: 3 } }],
    [{ type: "other", payload: CONTINUED }],
    [{ $set: { sessiontree: "wall" } }],
  ])("is not %j", (record) => {
    expect(findContinuedSession(record)).toBeUndefined();
  });

  test("has only these fields", () => {
    expect(parseContinuedSession({ ...CONTINUED, more: 1 })).toEqual(CONTINUED);
  });
});

/** Returns the tokens of answers and compactions, those of copies first. */
function countTokens({ entries, continued }: ImportedSession): [copied: number[], own: number[]] {
  const counted = entries.flatMap((entry) => {
    const { usage = Object(entry).usage } = getMessageFields(entry);
    const tokens = Object(usage).totalTokens;
    return typeof tokens === "number" ? [{ id: entry.id, tokens }] : [];
  });
  const isCopy = ({ id }: { id: string }) => continued?.copiedIds.has(id) === true;
  return [
    counted.filter(isCopy).map(({ tokens }) => tokens),
    counted.filter((one) => !isCopy(one)).map(({ tokens }) => tokens),
  ];
}

describe("calls of copies", () => {
  test("are not counted in Claude Code, and calls after them are", () => {
    const [session] = importAll([
      user("q", null, "hello"),
      part("a", "q", "msg_1", text("hi"), { stop: "end_turn" }),
      { type: "custom-title", customTitle: "Wall", sessionId: "x" },
      { type: "sessiontree", sessionId: "x", continued: CONTINUED },
      user("q2", "a", "go on"),
      part("a2", "q2", "msg_2", text("done"), { stop: "end_turn" }),
    ]);
    if (session === undefined) throw new Error("no session was made");
    expect(countTokens(session)).toEqual([[0], [120]]);
    expect(session.continued).toMatchObject(CONTINUED);
    expect(session.continued?.copiedIds.size).toBe(3);
    expect(session.dropped).toEqual({ sessiontree: 1 });
    expect(getImportProvenance(session.entries)).toMatchObject({ continued: CONTINUED });
  });

  test("are not counted in Codex, including a summary's", () => {
    const tokens = { input_tokens: 40, output_tokens: 10, total_tokens: 50 };
    const session = importThread([
      [
        meta(),
        ...turn("hello", said("assistant", "hi"), usage("r1", tokens)),
        said("assistant", "In short."),
        usage("r2", tokens),
        compacted("In short.", []),
        { timestamp: "2026-11-22T05:10:00.000Z", type: "sessiontree", payload: CONTINUED },
        ...turn("go on", said("assistant", "done"), usage("r3", tokens)),
      ],
    ]);
    if (session === undefined) throw new Error("no session was made");
    expect(session.entries.some(({ type }) => type === "compaction")).toBe(true);
    expect(countTokens(session)).toEqual([[0], [50]]);
  });

  test("do not make a subagent join its agent's session", () => {
    const records = [
      ...turn("hello", said("assistant", "hi")),
      { timestamp: "2026-11-22T05:10:00.000Z", type: "sessiontree", payload: CONTINUED },
      ...turn("look", said("assistant", "done")),
    ];
    const getContinued = (fields: object) => importThread([[meta(fields), ...records]])?.continued;
    expect(getContinued({})).toMatchObject(CONTINUED);
    expect(getContinued({ parent_thread_id: "01a201b4-0000-7000-8000-00000000000a" })).toBeUndefined();
  });

  test("are separate in Codex if their records are equal", () => {
    const timestamp = "2026-11-22T05:10:00.000Z";
    const records = [meta(), said("user", "go on"), said("assistant", "done"), said("user", "go on")];
    const atOnce = records.map((one) => ({ ...one, timestamp }));
    const count = (more: readonly object[]) =>
      importThread([[...atOnce, ...more.map((one) => ({ ...one }))]])?.counts.userMessages;
    expect(count([])).toBe(1);
    expect(count([{ timestamp, type: "sessiontree", payload: CONTINUED }])).toBe(2);
    expect(count([event("user_message")])).toBe(1);
  });
});
