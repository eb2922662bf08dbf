import { describe, expect, it } from "vitest";
import { ColumnTree } from "../../../src/core/tree/column-tree.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import fc from "../../support/fast-check.ts";

const parentsOf = (tree: ColumnTree) => Array.from(tree.ordinals(), (ordinal) => tree.parentAt(ordinal));

/** Creates a tree in which entry number i has the id i; a parent of undefined makes a root. */
function treeOf(...parents: (number | undefined)[]): ColumnTree {
  const tree = new ColumnTree();
  for (const [i, parent] of parents.entries()) tree.add("message", i, parent ?? null, i);
  tree.resolveParents();
  return tree;
}

describe("ColumnTree", () => {
  it("rejects an id that exists", () => {
    const tree = treeOf(undefined, 0);
    const before = Array.from(tree.ordinals(), (ordinal) => tree.headAt(ordinal));
    expect([tree.add("label", 1, null, 5), tree.add("label", 1, 1, 5), tree.hasType("label")]).toEqual([
      NONE,
      NONE,
      false,
    ]);
    expect(tree.resolveParents()).toEqual([]);
    expect(Array.from(tree.ordinals(), (ordinal) => tree.headAt(ordinal))).toEqual(before);
    expect([...tree.children(NONE), ...tree.children(0)]).toEqual([0, 1]);
  });

  it("returns the heads that were added", () => {
    const tree = new ColumnTree();
    tree.add("message", 0x1f, null, 1.5);
    tree.add("__proto__", "__proto__", 0x1f, Number.NaN);
    expect(tree.headAt(0)).toEqual({ type: "message", id: "0000001f", parentId: null, timestampMs: 1.5 });
    expect(tree.headAt(1)).toEqual({
      type: "__proto__",
      id: "__proto__",
      parentId: "0000001f",
      timestampMs: Number.NaN,
    });
    expect([tree.size, tree.find("0000001f"), tree.find("__proto__"), tree.findKey(0x1f)]).toEqual([
      2, 0, 1, 0,
    ]);
  });

  it("compares a head with the given fields", () => {
    const tree = new ColumnTree();
    tree.add("message", 0x1f, null, 0);
    tree.add("label", "other", 0x1f, 0);
    tree.add("message", 0x20, "other", 0);
    const ids = ["0000001f", "other", "00000020", "0000001F", null, 0x1f, undefined];
    for (const ordinal of tree.ordinals()) {
      const head = tree.headAt(ordinal);
      for (const type of ["message", "label", undefined]) {
        for (const id of ids) {
          for (const parentId of ids) {
            const isSaid = type === head.type && id === head.id && parentId === head.parentId;
            expect(tree.isHeadAt(ordinal, type, id, parentId)).toBe(isSaid);
          }
        }
      }
    }
  });

  it("finds no entry under an id that only looks like an existing one", () => {
    const tree = treeOf(undefined);
    for (const id of ["0", "", "constructor", "0000000G", "000000000"]) expect(tree.find(id)).toBe(NONE);
    expect(tree.find("00000000")).toBe(0);
  });

  it("is empty at first", () => {
    const tree = new ColumnTree();
    expect([
      tree.size,
      [...tree.children(NONE)],
      [...tree.leaves()],
      [...tree.path(NONE)],
      tree.resolveParents(),
    ]).toEqual([0, [], [], [], []]);
    expect(tree.parentAt(0)).toBe(NONE);
  });

  it("returns children, roots, and leaves in file order", () => {
    const tree = treeOf(undefined, 0, undefined, 0, 1, 0);
    expect([...tree.children(NONE)]).toEqual([0, 2]);
    expect([...tree.children(0)]).toEqual([1, 3, 5]);
    expect([...tree.leaves()]).toEqual([2, 3, 4, 5]);
  });

  it("returns the path to an entry, and the deepest common entry of two paths", () => {
    const tree = treeOf(undefined, 0, 1, 1, 3, undefined);
    expect([...tree.path(4)]).toEqual([0, 1, 3, 4]);
    expect(tree.commonAncestor(2, 4)).toBe(1);
    expect(tree.commonAncestor(4, 1)).toBe(1);
    expect(tree.commonAncestor(4, 4)).toBe(4);
    expect(tree.commonAncestor(4, 5)).toBe(NONE);
    expect(tree.commonAncestor(4, NONE)).toBe(NONE);
  });

  it("makes later entries children of the entry that took over an id, and finds the first", () => {
    const tree = new ColumnTree();
    tree.add("message", "same", null, 0);
    tree.add("message", "before", "same", 0);
    tree.add("message", "invented", null, 0);
    tree.alias("same", 2);
    tree.add("message", "after", "same", 0);
    expect(parentsOf(tree)).toEqual([NONE, 0, NONE, 2]);
    expect(tree.find("same")).toBe(0);
  });

  describe("settle", () => {
    it("attaches an entry to a later parent, among its siblings in file order", () => {
      const tree = new ColumnTree();
      tree.add("message", 1, 9, 0);
      tree.add("message", 9, null, 0);
      tree.add("message", 2, 9, 0);
      expect(tree.resolveParents()).toEqual([]);
      expect([...tree.children(NONE)]).toEqual([1]);
      expect([...tree.children(1)]).toEqual([0, 2]);
    });

    it("makes a root of an entry whose parent is missing, until the parent arrives", () => {
      const tree = new ColumnTree();
      tree.add("message", 1, "gone", 0);
      const found = { ordinal: 0, kind: "missing", parentId: "gone" };
      expect(tree.resolveParents()).toEqual([{ ...found, isOver: false }]);
      expect(tree.resolveParents()).toEqual([]);
      expect(parentsOf(tree)).toEqual([NONE]);
      tree.add("message", "gone", null, 0);
      expect(tree.resolveParents()).toEqual([{ ...found, isOver: true }]);
      expect(parentsOf(tree)).toEqual([1, NONE]);
      expect(tree.resolveParents()).toEqual([]);
    });

    it("attaches an entry to its fallback, until the parent arrives", () => {
      const tree = new ColumnTree();
      tree.add("message", 1, null, 0);
      tree.add("message", 2, "gone", 0, 0);
      expect(tree.resolveParents()).toEqual([
        { ordinal: 1, kind: "bridged", parentId: "gone", isOver: false },
      ]);
      expect(parentsOf(tree)).toEqual([NONE, 0]);
      tree.add("message", "gone", null, 0);
      tree.resolveParents();
      expect(parentsOf(tree)).toEqual([NONE, 2, NONE]);
    });

    it("makes a root of an entry that is its own parent", () => {
      const tree = new ColumnTree();
      tree.add("message", 1, 1, 0);
      expect(tree.resolveParents()).toEqual([
        { ordinal: 0, kind: "cycle", parentId: "00000001", isOver: false },
      ]);
      expect(parentsOf(tree)).toEqual([NONE]);
    });

    it("breaks a cycle at its first entry in the file", () => {
      const tree = new ColumnTree();
      tree.add("message", "root", null, 0);
      tree.add("message", "a", "c", 0);
      tree.add("message", "b", "a", 0);
      tree.add("message", "c", "b", 0);
      expect(tree.resolveParents()).toEqual([{ ordinal: 1, kind: "cycle", parentId: "c", isOver: false }]);
      expect([...tree.path(3)]).toEqual([1, 2, 3]);
      expect([...tree.children(NONE)]).toEqual([0, 1]);
    });

    it("repairs a broken cycle when one of its links changes", () => {
      const tree = new ColumnTree();
      tree.add("message", "a", "b", 0);
      tree.add("message", "b", "a", 0);
      tree.resolveParents();
      tree.relink(1, NONE);
      expect(tree.resolveParents()).toEqual([{ ordinal: 0, kind: "cycle", parentId: "b", isOver: true }]);
      expect(parentsOf(tree)).toEqual([1, NONE]);
    });

    it("makes one tree of the same entries in any batches", () => {
      const size = 12;
      const entry = fc.tuple(fc.integer({ min: -1, max: size }), fc.boolean());
      fc.assert(
        fc.property(fc.array(entry, { minLength: size, maxLength: size }), (entries) => {
          const tree = new ColumnTree();
          const told = new Map<string, number>();
          const settle = () => {
            for (const { ordinal, kind, isOver } of tree.resolveParents()) {
              const name = `${kind} ${ordinal}`;
              told.set(name, (told.get(name) ?? 0) + (isOver ? -1 : 1));
            }
          };
          for (const [i, [parent, isBatchEnd]] of entries.entries()) {
            tree.add("message", i, parent < 0 ? null : parent, 0);
            if (isBatchEnd) settle();
          }
          settle();
          const { parents, cut } = plainForest(entries.map(([parent]) => parent));
          expect(parentsOf(tree)).toEqual(parents);
          const missing = entries.flatMap(([parent], i) => (parent === size ? [`missing ${i}`] : []));
          const cycles = cut.map((ordinal) => `cycle ${ordinal}`);
          const inForce = [...told].filter(([, times]) => times !== 0);
          expect(inForce.sort()).toEqual([...missing, ...cycles].map((name) => [name, 1]).sort());
          for (const ordinal of tree.ordinals()) {
            const children = parents.flatMap((parent, child) => (parent === ordinal ? [child] : []));
            expect([...tree.children(ordinal)]).toEqual(children);
          }
        }),
        { numRuns: 500 },
      );
    });
  });

  describe("at a depth of 200,000", () => {
    const depth = 200_000;

    it("walks a path", () => {
      const tree = new ColumnTree();
      for (let i = 0; i < depth; i++) tree.add("message", i, i === 0 ? null : i - 1, 0);
      expect(tree.resolveParents()).toEqual([]);
      const path = tree.path(depth - 1);
      expect(path.length).toBe(depth);
      expect(path.every((ordinal, i) => ordinal === i)).toBe(true);
      expect(tree.commonAncestor(depth - 1, 7)).toBe(7);
    });

    it("links a chain in which every parent arrives late", () => {
      const tree = new ColumnTree();
      for (let i = 0; i < depth; i++) tree.add("message", i, i === depth - 1 ? null : i + 1, 0);
      expect(tree.resolveParents()).toEqual([]);
      expect(tree.path(0).length).toBe(depth);
      expect([...tree.leaves()]).toEqual([0]);
    });

    it("breaks a ring", () => {
      const tree = new ColumnTree();
      for (let i = 0; i < depth; i++) tree.add("message", i, (i + 1) % depth, 0);
      expect(tree.resolveParents().map(({ ordinal, kind }) => [ordinal, kind])).toEqual([[0, "cycle"]]);
      expect(tree.path(1).length).toBe(depth);
    });
  });
});

/** Returns the tree of entries with these parents: missing parents are ignored, and each ring is cut at its first entry. */
function plainForest(named: readonly number[]): { parents: number[]; cut: number[] } {
  const parents = named.map((parent) => (parent < named.length ? parent : NONE));
  const cut: number[] = [];
  for (const start of parents.keys()) {
    let at = parents[start] ?? NONE;
    for (let steps = 0; at !== NONE && at !== start && steps < named.length; steps++)
      at = parents[at] ?? NONE;
    if (at !== start) continue;
    parents[start] = NONE;
    cut.push(start);
  }
  return { parents, cut };
}
