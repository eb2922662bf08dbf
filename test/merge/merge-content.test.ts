import { describe, expect, test } from "vitest";
import { mergeSessionContents } from "../../src/merge/merge-content.ts";
import { readSession } from "../../src/reading/read-session.ts";

const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-02-03T22:00:00.000Z", cwd: "/projects/a" };

/** Spells a session file. */
function fileOf(...records: object[]): string {
  return [HEADER, ...records].map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** A user message; minutes tell when it was written. */
function said(id: string, parentId: string | null, minute: number, text = id) {
  const timestamp = new Date(Date.parse("2026-02-03T22:00:00.000Z") + minute * 60_000).toISOString();
  return { type: "message", id, parentId, timestamp, message: { role: "user", content: text, timestamp: 1 } };
}

function merged(a: string, b: string) {
  const { content, ...report } = mergeSessionContents(a, b);
  const text = new TextDecoder().decode(content);
  return { text, report, ...readSession(content) };
}

describe("two copies", () => {
  test("that went on become one with both branches, whichever is the first", () => {
    const root = said("00000001", null, 1);
    const left = said("00000002", "00000001", 2);
    const right = said("00000003", "00000001", 3);
    const { text, report, issues } = merged(fileOf(root, left), fileOf(root, right));
    expect(text).toBe(fileOf(root, left, right));
    expect(issues).toEqual([]);
    expect(report).toMatchObject({ entries: 3, onlyInA: 1, onlyInB: 1, inBoth: 1, conflicts: [] });
    expect(merged(fileOf(root, right), fileOf(root, left)).text).toBe(text);
  });

  test("conflict", () => {
    const root = said("00000001", null, 1);
    const a = fileOf(root, said("00000002", "00000001", 2, "one"), said("00000003", "00000002", 4));
    const b = fileOf(root, said("00000002", "00000001", 3, "two"), said("00000004", "00000002", 5), {
      type: "label",
      id: "00000005",
      parentId: "00000004",
      timestamp: "2026-02-03T22:06:00.000Z",
      targetId: "00000002",
      label: "mine",
    });
    const { text, report } = merged(a, b);
    console.log(text, JSON.stringify(report, null, 1));
    expect(merged(b, a).text).toBe(text);
    expect(merged(text, text).text).toBe(text);
    expect(merged(text, b).text).toBe(text);
    expect(merged(a, text).text).toBe(text);
  });
});
