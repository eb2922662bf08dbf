import { parseSessionEntries, SessionManager } from "sessiontree";
import { mergeSessionContents } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import { compaction, HEADER, joinFile, label, merged, named, said } from "./support/lines.ts";

const root = said("00000001", null, 1);

describe("two copies", () => {
  test("that were continued become one with both branches, in either order", () => {
    const [left, right] = [said("00000002", "00000001", 2), said("00000003", "00000001", 3)];
    const { text, report, issues } = merged(joinFile(root, left), joinFile(root, right));
    expect(text).toBe(joinFile(root, left, right));
    expect(issues).toEqual([]);
    expect(report).toMatchObject({ entries: 3, onlyInA: 1, onlyInB: 1, inBoth: 1, conflicts: [] });
    expect(merged(joinFile(root, right), joinFile(root, left)).text).toBe(text);
  });

  test("merge to the one that has all entries of the other", () => {
    const long = joinFile(root, said("00000002", "00000001", 2));
    expect(merged(joinFile(root), long).text).toBe(long);
    expect(merged(long, joinFile(root)).text).toBe(long);
  });

  test("may be given as bytes, and may be empty", () => {
    const bytes = new TextEncoder().encode(joinFile());
    expect(merged(bytes, joinFile(root)).text).toBe(joinFile(root));
    expect(merged(bytes, bytes).leafId).toBeNull();
  });

  test("keep their lines byte for byte, including unknown fields and spelling", () => {
    const spaced =
      '{"type": "x-note", "id": "00000002", "parentId": "00000001", "timestamp": "2026-02-03T22:02:00.000Z", "n": 1e3, "é": "\\u00e9"}\n';
    expect(merged(joinFile(root) + spaced, joinFile(root)).text).toBe(joinFile(root) + spaced);
  });

  test("with an entry in different spellings have it once", () => {
    const state = { customType: "host", data: { a: 1 } };
    const time = "2026-02-03T22:02:00.000Z";
    const first = { type: "custom", id: "00000002", parentId: "00000001", timestamp: time, ...state };
    const last = { type: "custom", ...state, id: "00000002", parentId: "00000001", timestamp: time };
    const { text, report } = merged(joinFile(root, first), joinFile(root, last));
    expect(report).toMatchObject({ entries: 2, inBoth: 2, conflicts: [] });
    expect(merged(joinFile(root, last), joinFile(root, first)).text).toBe(text);
  });

  test("of different versions merge to today's", () => {
    const old = JSON.stringify({ ...HEADER, version: 2 });
    const hook = { ...said("00000002", "00000001", 2), message: { role: "hookMessage", content: "x" } };
    const custom = { ...hook, message: { role: "custom", content: "x" } };
    const { text, report } = merged(
      `${old}\n${joinFile(root, hook).split("\n").slice(1).join("\n")}`,
      joinFile(root, custom),
    );
    expect(text).toBe(joinFile(root, custom));
    expect(report.conflicts).toEqual([]);
  });
});

describe("different entries with the same id", () => {
  const a = joinFile(root, said("00000002", "00000001", 2, "one"), said("00000003", "00000002", 4));
  const b = joinFile(
    root,
    said("00000002", "00000001", 3, "two"),
    said("00000004", "00000002", 5),
    label("00000005", "00000004", 6, "00000002", "mine"),
    compaction("00000006", "00000005", 7, "00000002"),
  );
  const { text, report, entries } = merged(a, b);
  const [kept, invented] = report.conflicts[0]?.entries ?? [];

  test("are both kept: the earlier keeps the id, the other gets one derived from its origin", () => {
    expect(report.conflicts).toHaveLength(1);
    expect(kept).toEqual({ id: "00000002", from: "a" });
    expect(invented).toEqual({ id: expect.stringMatching(/^00000002~[0-9a-f]{36}$/), from: "b" });
  });

  test("keep their children and references", () => {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    expect(byId.get("00000003")?.parentId).toBe("00000002");
    expect(byId.get("00000004")?.parentId).toBe(invented?.id);
    expect(byId.get("00000005")).toMatchObject({ targetId: invented?.id });
    expect(byId.get("00000006")).toMatchObject({ firstKeptEntryId: invented?.id });
  });

  test("have the same ids in either order, and when merged again", () => {
    for (const [one, other] of [
      [b, a],
      [text, text],
      [text, a],
      [b, text],
    ] as const) {
      expect(merged(one, other).text).toBe(text);
    }
    expect(merged(text, text).report.conflicts).toEqual([]);
  });

  test("keep the path of each copy", () => {
    const pathTo = (content: string, leafId: string) => {
      const session = SessionManager.inMemory("/projects/a", {}, recordsOf(content));
      return session
        .getBranch(leafId)
        .map((entry) => JSON.stringify({ ...entry, id: 0, parentId: 0, targetId: 0, firstKeptEntryId: 0 }));
    };
    expect(pathTo(text, "00000003")).toEqual(pathTo(a, "00000003"));
    expect(pathTo(text, "00000006")).toEqual(pathTo(b, "00000006"));
  });

  test("are renamed if a third copy has an earlier one", () => {
    const c = joinFile(root, said("00000002", "00000001", 1, "three"));
    const all = merged(text, c);
    expect(all.report.conflicts[0]?.entries.map(({ from }) => from)).toEqual(["b", "a", "a"]);
    expect(merged(a, merged(c, b).text).text).toBe(all.text);
    expect(merged(merged(a, c).text, b).text).toBe(all.text);
  });
});

describe("names and labels", () => {
  test("are the latest by time, whichever copy comes first", () => {
    const early = joinFile(
      root,
      named("00000002", "00000001", 2, "early"),
      label("00000003", "00000002", 5, "00000001", "late"),
    );
    const late = joinFile(
      root,
      named("00000004", "00000001", 4, "late"),
      label("00000005", "00000004", 3, "00000001", "early"),
    );
    for (const content of [merged(early, late).text, merged(late, early).text]) {
      const session = SessionManager.inMemory("/projects/a", {}, recordsOf(content));
      expect(session.getSessionName()).toBe("late");
      expect(session.getLabel("00000001")).toBe("late");
    }
  });
});

describe("headers", () => {
  const other = { ...HEADER, timestamp: "2026-02-03T21:00:00.000Z", cwd: "/projects/b", note: { x: 1 } };

  test("that differ are merged, and the differences are reported", () => {
    const { report, header } = merged(joinFile(root), `${JSON.stringify(other)}\n`);
    expect(header).toEqual({ ...HEADER, timestamp: other.timestamp, note: { x: 1 } });
    expect(report.headerDifferences).toEqual([
      { field: "timestamp", a: HEADER.timestamp, b: other.timestamp, merged: other.timestamp },
      { field: "cwd", a: "/projects/a", b: "/projects/b", merged: "/projects/a" },
      { field: "note", a: undefined, b: { x: 1 }, merged: { x: 1 } },
    ]);
  });

  test("keep provider and model together", () => {
    const of = (provider: string, modelId: string) => `${JSON.stringify({ ...HEADER, provider, modelId })}\n`;
    expect(merged(of("a", "z"), of("b", "y")).header).toMatchObject({ provider: "a", modelId: "z" });
  });

  test("of different sessions are rejected unless explicitly allowed", () => {
    const stranger = `${JSON.stringify({ ...HEADER, id: "s0" })}\n`;
    expect(() => mergeSessionContents(joinFile(), stranger)).toThrow(
      expect.objectContaining({ code: "SESSIONS_DIFFER", details: { a: "s1", b: "s0" } }),
    );
    expect(mergeSessionContents(joinFile(), stranger, { allowDifferentIds: true }).sessionId).toBe("s0");
  });

  test("that are missing or too new are rejected", () => {
    const tooNew = `${JSON.stringify({ ...HEADER, version: 4 })}\n`;
    expect(() => mergeSessionContents(joinFile(), tooNew)).toThrow(
      expect.objectContaining({ code: "VERSION_TOO_NEW" }),
    );
    expect(() => mergeSessionContents("nothing\n", joinFile())).toThrow(
      expect.objectContaining({ code: "NOT_A_SESSION" }),
    );
  });
});

describe("damage", () => {
  const child = said("00000003", "00000002", 3);
  const whole = joinFile(root, said("00000002", "00000001", 2), child);

  test("in one copy is repaired from the other, and reported", () => {
    const lost = `${joinFile(root)}?????\n${JSON.stringify(child)}\n`;
    const { text, report } = merged(lost, whole);
    expect(text).toBe(whole);
    expect(report.issues.a.map(({ code }) => code)).toEqual(["LINE_UNREADABLE", "PARENT_BRIDGED"]);
    expect(merged(whole, lost).text).toBe(whole);
  });

  test("of a body is repaired, too", () => {
    const torn = whole.replace('"content":"00000002"', '"content":"000');
    const { text, report } = merged(torn, whole);
    expect(text).toBe(whole);
    expect(report.conflicts).toEqual([]);
    expect(report.issues.a.map(({ code }) => code)).toContain("BODY_DAMAGED");
  });

  test("that is in both copies is kept as text", () => {
    const torn = joinFile(root, said("00000002", "00000001", 2)).replace(
      '"content":"00000002"',
      '"content":"000',
    );
    const { entries, report } = merged(torn, torn);
    expect(entries[1]).toMatchObject({ id: "00000002", customType: "sessiontree.damaged" });
    for (const side of ["a", "b"] as const) {
      expect(report.issues[side].map(({ code }) => code)).toContain("BODY_DAMAGED");
    }
  });
});

test("a chain of 60,000 entries does not overflow the stack", () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => {
    const id = (i + 1).toString(16).padStart(8, "0");
    const parentId = i === 0 ? null : i.toString(16).padStart(8, "0");
    return `${JSON.stringify({ type: "x", id, parentId, timestamp: "2026-02-03T22:00:00.000Z" })}\n`;
  });
  const [short, long] = [30_000, 60_000].map((n) => joinFile() + lines.slice(0, n).join(""));
  expect(merged(short ?? "", long ?? "").text).toBe(long);
});

function recordsOf(content: string) {
  const records = parseSessionEntries(content);
  expect(records.length).toBe(content.split("\n").length - 1);
  return records;
}
