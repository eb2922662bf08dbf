import { diffBranches, SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { findLeafPath } from "../../../src/core/context/leaf-path.ts";
import type { SessionEntry } from "../../../src/core/format/entry.ts";
import fc from "../../support/fast-check.ts";

/** Creates a session in which each number is an entry's distance to its parent; an entry with none at that distance is a root. */
function grown(steps: readonly number[]): SessionManager {
  const session = SessionManager.inMemory();
  const ids: string[] = [];
  for (const step of steps) {
    const parent = ids[ids.length - step];
    if (parent === undefined) session.resetLeaf();
    else session.branch(parent);
    ids.push(session.appendMessage({ role: "user", content: String(ids.length), timestamp: 1 }));
  }
  return session;
}

test("splits two paths into their common and separate entries, for any two entries of any tree", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(6), { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (steps, i, j) => {
      const session = grown(steps);
      const entries = session.getEntries();
      const [x = "", y = ""] = [i, j].map((n) => entries[n % entries.length]?.id);
      const [pathX, pathY] = [findLeafPath(entries, x), findLeafPath(entries, y)];
      const shared = pathX.filter((entry) => pathY.includes(entry));
      const diff = diffBranches(session, x, y);
      expect(diff.commonAncestorId).toBe(shared.at(-1)?.id ?? null);
      expect(diff.x.entries).toEqual(pathX.slice(shared.length));
      expect(diff.y.entries).toEqual(pathY.slice(shared.length));
      expect(diff.commonAncestorId).toBe(session.getCommonAncestorId(x, y));
    }),
  );
});

test("reads at most twice the entries of the longer side", () => {
  const session = grown([...Array(5000).fill(1), ...Array(20).fill(1)]);
  const trunk = session.getPathIds()[4999] ?? "";
  const long = session.getLeafId() ?? "";
  session.branch(trunk);
  const short = session.appendMessage({ role: "user", content: "short", timestamp: 1 });
  let reads = 0;
  const counting = {
    getEntry: (id: string): SessionEntry | undefined => {
      reads++;
      return session.getEntry(id);
    },
  };
  const { commonAncestorId, x, y } = diffBranches(counting, long, short);
  expect([commonAncestorId, x.entries.length, y.entries.length]).toEqual([trunk, 20, 1]);
  expect(reads).toBeLessThanOrEqual(2 * 21);
});

test("returns the files touched on each side", () => {
  const session = SessionManager.inMemory();
  const call = (name: string, path: string) =>
    session.appendMessage({
      role: "assistant",
      content: [{ type: "toolCall", id: "1", name, arguments: { path } }],
      api: "a",
      provider: "p",
      model: "m",
      usage: {
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0,
        totalTokens: 0,
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
      },
      stopReason: "toolUse",
      timestamp: 1,
    });
  const shared = call("edit", "shared.ts");
  call("read", "b.ts");
  call("read", "a.ts");
  const x = call("write", "b.ts");
  session.branch(shared);
  const y = call("read", "shared.ts");
  const diff = diffBranches(session, x, y);
  expect([diff.x.readFiles, diff.x.modifiedFiles]).toEqual([["a.ts"], ["b.ts"]]);
  expect([diff.y.readFiles, diff.y.modifiedFiles]).toEqual([["shared.ts"], []]);
});

test("throws for an entry that does not exist", () => {
  const session = grown([1]);
  const id = session.getLeafId() ?? "";
  for (const [x, y] of [
    ["nowhere", id],
    [id, "nowhere"],
  ] as const) {
    expect(() => diffBranches(session, x, y)).toThrow(expect.objectContaining({ code: "ENTRY_NOT_FOUND" }));
  }
});
