import { describe, expect, it } from "vitest";
import { readSession } from "../../src/core/jsonl/read-session.ts";
import { type EntryTree, NONE } from "../../src/core/tree/entry-tree.ts";
import { LabelsAndName } from "../../src/core/tree/labels-and-name.ts";
import fc from "../support/fast-check.ts";
import { readAtOnce, takeSnapshot } from "./support/snapshots.ts";

const encoder = new TextEncoder();

/** Names of members of every JavaScript object, or that look like numbers. */
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "length",
  "0",
  "-1",
  "NaN",
  "null",
];
const name = fc.constantFrom(...NAMES);

interface Line {
  readonly id: string;
  readonly parentId: string | null | undefined;
  readonly type: string;
  readonly targetId: string;
}

/** Entries with arbitrary parents: earlier, later, themselves, missing, or several of one id. */
const graph = fc.array(
  fc.record<Line>({
    id: fc.oneof(
      name,
      fc.nat(30).map((n) => n.toString(16).padStart(8, "0")),
    ),
    parentId: fc.oneof(
      { weight: 3, arbitrary: name },
      { weight: 3, arbitrary: fc.nat(30).map((n) => n.toString(16).padStart(8, "0")) },
      { weight: 1, arbitrary: fc.constantFrom(null, undefined, "nowhere") },
    ),
    type: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("label", "session_info") },
      { weight: 1, arbitrary: name },
    ),
    targetId: name,
  }),
  { maxLength: 40 },
);

function fileOf(lines: readonly Line[]): string {
  const entries = lines.map(({ id, parentId, type, targetId }, n) =>
    JSON.stringify({
      type,
      id,
      parentId,
      timestamp: "2026-01-01T00:00:00.000Z",
      targetId,
      label: id,
      name: id,
      n,
    }),
  );
  return `{"type":"session","version":3,"id":"s"}\n${entries.join("\n")}\n`;
}

const read = (text: string) => readAtOnce(encoder.encode(text));

/** Returns the path to an entry, by looking up one parent after the other. */
function plainPath(tree: EntryTree, ordinal: number): number[] {
  const path: number[] = [];
  for (let at = ordinal; at !== NONE && path.length <= tree.size; at = tree.parentAt(at)) path.unshift(at);
  return path;
}

describe("the tree of any session", () => {
  it("is a forest, in which every walk ends and every result agrees with every other", () => {
    fc.assert(
      fc.property(graph, (lines) => {
        const { tree } = read(fileOf(lines));
        const ordinals = [...tree.ordinals()];
        expect(ordinals).toHaveLength(lines.length);
        expect(new Set(ordinals.map((ordinal) => tree.idAt(ordinal))).size).toBe(lines.length);
        const reached = [...tree.children(NONE)];
        for (let i = 0; i < reached.length && i <= lines.length; i++)
          reached.push(...tree.children(reached[i] ?? NONE));
        expect(reached.toSorted((a, b) => a - b)).toEqual(ordinals);
        for (const ordinal of ordinals) {
          const path = [...tree.path(ordinal)];
          expect(path).toEqual(plainPath(tree, ordinal));
          expect(path.length).toBeLessThanOrEqual(lines.length);
          expect(tree.find(tree.idAt(ordinal))).toBe(ordinal);
          expect([...tree.children(tree.parentAt(ordinal))]).toContain(ordinal);
          expect(tree.isLeaf(ordinal)).toBe([...tree.children(ordinal)].length === 0);
          const children = [...tree.children(ordinal)];
          expect(children).toEqual(children.toSorted((a, b) => a - b));
        }
        expect([...tree.leaves()]).toEqual(ordinals.filter((ordinal) => tree.isLeaf(ordinal)));
      }),
      { numRuns: 1000 },
    );
  });

  it("has for any two entries the deepest one that is on both paths", () => {
    fc.assert(
      fc.property(graph, fc.nat(), fc.nat(), (lines, m, n) => {
        fc.pre(lines.length > 0);
        const { tree } = read(fileOf(lines));
        const [a, b] = [m % lines.length, n % lines.length];
        const onBoth = plainPath(tree, a).filter((ordinal) => plainPath(tree, b).includes(ordinal));
        expect(tree.commonAncestor(a, b)).toBe(onBoth.at(-1) ?? NONE);
      }),
      { numRuns: 1000 },
    );
  });

  it("is the same on every read, including generated ids", () => {
    fc.assert(
      fc.property(graph, (lines) => {
        const text = fileOf(lines);
        expect(takeSnapshot(read(text))).toEqual(takeSnapshot(read(text)));
        const [first, second] = [readSession(text), readSession(text)];
        expect(first).toEqual(second);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps the ids of its entries when more are appended", () => {
    fc.assert(
      fc.property(graph, graph, (lines, more) => {
        const before = read(fileOf(lines)).tree;
        const after = read(fileOf([...lines, ...more])).tree;
        for (const ordinal of before.ordinals()) expect(after.idAt(ordinal)).toBe(before.idAt(ordinal));
      }),
      { numRuns: 300 },
    );
  });
});

describe("names of members of every object", () => {
  it("are ids, parents and types like any other", () => {
    const lines = NAMES.map((id, i) => ({ id, parentId: NAMES[i - 1] ?? null, type: id, targetId: id }));
    const index = read(fileOf(lines));
    expect(index.issues).toEqual([]);
    for (const [ordinal, { id, parentId }] of lines.entries()) {
      expect(index.tree.headAt(ordinal)).toMatchObject({ type: id, id, parentId });
    }
    expect(index.tree.path(NAMES.length - 1).length).toBe(NAMES.length);
  });

  it("are unknown if no entry has them", () => {
    const lines = NAMES.map((parentId, i) => ({
      id: `own-${i}`,
      parentId,
      type: "label",
      targetId: parentId,
    }));
    const index = read(fileOf(lines));
    expect(index.issues.map(({ code }) => code)).toEqual(NAMES.map(() => "PARENT_MISSING"));
    for (const id of NAMES) expect(index.tree.find(id)).toBe(NONE);
  });

  it("are targets of labels, and set no prototype", () => {
    const text = fileOf(NAMES.map((id) => ({ id, parentId: null, type: "label", targetId: id })));
    const { entries } = readSession(text);
    const { tree } = read(text);
    const labels = new LabelsAndName({ tree }, (ordinal) => entries[ordinal]).labels();
    expect([...labels.keys()]).toEqual(NAMES);
    for (const id of NAMES) expect(labels.get(id)?.label).toBe(id);
    expect(labels.get("isPrototypeOf")).toBeUndefined();
  });

  it("are fields that are kept, as data and not as prototypes", () => {
    const body =
      '"__proto__":{"id":"evil","parentId":"x"},"constructor":{"prototype":{"polluted":1}},"toString":"t"';
    for (const version of [1, 2, 3]) {
      const text = `{"type":"session","version":${version},"id":"s","__proto__":{"version":9}}\n{"type":"custom","id":"a","parentId":null,"timestamp":17,${body}}\n{${body}}\n`;
      const { version: found, entries, issues } = readSession(text);
      expect(found).toBe(version);
      expect(issues.map(({ code }) => code)).toEqual(["NOT_AN_ENTRY"]);
      const [entry = {}] = entries;
      expect(entry).toMatchObject({ id: "a", parentId: null });
      expect(Object.keys(entry)).toEqual(expect.arrayContaining(["__proto__", "constructor", "toString"]));
      expect(Object.getPrototypeOf(entry)).toBe(Object.prototype);
      expect(JSON.stringify(entry)).toContain('"__proto__":{"id":"evil","parentId":"x"}');
      expect("polluted" in {}).toBe(false);
    }
  });

  it("are not a type, id, or parent if a record inherits them", () => {
    const text =
      '{"type":"session","version":3,"id":"s"}\n{"__proto__":{"type":"message","id":"a"}}\n{"type":"label","__proto__":{"parentId":null}}\n';
    const index = read(text);
    expect(index.tree.size).toBe(1);
    expect(index.issues.map(({ code }) => code)).toEqual(["FOREIGN_FORMAT", "NOT_AN_ENTRY", "ID_INVENTED"]);
  });
});
