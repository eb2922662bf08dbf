import { expect, test } from "vitest";
import { chooseLandmarks, type Landmarks } from "../../../src/apps/cli/commands/tree.ts";
import { loadWidths } from "../../../src/apps/cli/text/width.ts";
import { getMessageKind } from "../../../src/apps/text/entry-kind.ts";
import { chooseAll, findTrunk, layOutRows, type TreeRow } from "../../../src/apps/text/tree-rows.ts";
import { makeAncestorTest, walkEntries } from "../../../src/core/facts/ancestry.ts";
import { ColumnTree } from "../../../src/core/tree/column-tree.ts";
import { NONE } from "../../../src/core/tree/entry-tree.ts";
import fc from "../../support/fast-check.ts";

await loadWidths();

/** Creates a tree of messages; a parent that does not precede its entry makes the entry a root. */
function treeOf(parents: readonly number[]): ColumnTree {
  const tree = new ColumnTree();
  parents.forEach((parent, i) => {
    tree.add("message", i, parent < i ? parent : null, i);
  });
  return tree;
}

const anyTree = fc
  .array(fc.nat(), { minLength: 1, maxLength: 120 })
  // Parents near by make long lines, far ones make many branches.
  .chain((seeds) =>
    fc
      .integer({ min: 1, max: 120 })
      .map((reach) =>
        seeds.map((seed, i) => (seed % 50 === 0 ? i : i - 1 - (seed % Math.min(i || 1, reach)))),
      ),
  )
  .map(treeOf);

const roles = ["user", "assistant", "toolResult"].map((role) => getMessageKind({ role }));

function rowsOf(tree: ColumnTree, leaf: number, landmarks?: Landmarks) {
  const trunk = findTrunk(tree, leaf);
  const kinds = [...tree.ordinals()].map((i) => roles[i % 3] ?? getMessageKind({}));
  const chosen = landmarks ?? chooseLandmarks({ tree, leaf, kinds, labeled: [] }, trunk);
  return [...layOutRows({ tree, trunk, ...chosen, rootDepth: 1 })];
}

/** Returns the number of entries in a row for several entries. */
function foldedIn(tree: ColumnTree, row: TreeRow): number {
  if (row.kind === "entry") return 0;
  return row.kind === "run" ? row.ordinals.length : [...walkEntries(tree, row.heads)].length;
}

test("everything is drawn once, parents before children, with branches as in the tree", () => {
  fc.assert(
    fc.property(anyTree, fc.nat(), (tree, seed) => {
      const leaf = seed % tree.size;
      const entries = rowsOf(tree, leaf, { isDrawn: chooseAll(tree) }).filter((row) => row.kind === "entry");
      expect(entries.map(({ ordinal }) => ordinal).sort((a, b) => a - b)).toEqual([...tree.ordinals()]);
      const rowOf = new Map(entries.map((row, place) => [row.ordinal, { ...row, place }]));
      for (const row of rowOf.values()) {
        const parent = rowOf.get(tree.parentAt(row.ordinal));
        const depth = parent?.depth ?? 0;
        expect(row.depth).toBe(row.start !== undefined ? depth + 1 : depth);
        expect(row.place).toBeGreaterThan(parent?.place ?? -1);
      }
      for (const ordinal of tree.path(leaf)) expect(rowOf.get(ordinal)?.depth).toBe(0);
    }),
  );
});

test("folded entries are counted: none is drawn twice, none is missing", () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      const leaf = tree.size - 1;
      const rows = rowsOf(tree, leaf);
      const drawn = rows.flatMap((row) => (row.kind === "entry" ? row.ordinal : []));
      expect(new Set(drawn).size).toBe(drawn.length);
      expect(drawn).toContain(leaf);
      const folded = rows.reduce((sum, row) => sum + foldedIn(tree, row), 0);
      // Branches on a folded run are shown as a number only.
      const hasHidden = rows.some((row) => row.kind === "run" && row.branches > 0);
      if (!hasHidden) expect(drawn.length + folded).toBe(tree.size);
      else expect(drawn.length + folded).toBeLessThan(tree.size);
    }),
  );
});

test("ancestors match the paths", () => {
  fc.assert(
    fc.property(anyTree, fc.nat(), fc.nat(), (tree, a, b) => {
      const [first, second] = [a % tree.size, b % tree.size];
      const isAncestor = makeAncestorTest(tree);
      expect(isAncestor(first, second)).toBe(tree.path(second).includes(first));
    }),
  );
});

test("an empty tree has no rows", () => {
  expect(rowsOf(new ColumnTree(), NONE)).toEqual([]);
});
