import { describe, expect, it } from "vitest";
import { SessionIndex } from "../../src/core/jsonl/session-index.ts";
import { NONE } from "../../src/core/tree/entry-tree.ts";
import { scaleCount } from "../support/share.ts";
import { join } from "./support/session-files.ts";

const MILLION = scaleCount(1_000_000);
const MANY = scaleCount(200_000);
const PIECE_LINES = 10_000;

const encoder = new TextEncoder();
const hex = (n: number) => n.toString(16).padStart(8, "0");
const header = (version: number) =>
  `{"type":"session","version":${version},"id":"s","timestamp":"t","cwd":"/"}\n`;

/** Creates the smallest possible entry. */
const label = (id: number, parent: number | null, more = "") =>
  `{"type":"label","id":"${hex(id)}","parentId":${parent === null ? "null" : `"${hex(parent)}"`},"timestamp":"2026-01-01T00:00:00.000Z"${more}}\n`;

/** Reads the given number of lines, as large pieces of a file that is kept only if lines must be compared. */
function readLines(count: number, lineAt: (i: number) => string, version = 3, isKept = false): SessionIndex {
  const pieces: Uint8Array[] = [];
  let all: Uint8Array = new Uint8Array(0);
  const index = new SessionIndex({ readBytes: (offset, length) => all.subarray(offset, offset + length) });
  for (let i = -1; i < count; i += PIECE_LINES) {
    const lines = i === -1 ? [header(version)] : [];
    for (let j = Math.max(i, 0); j < Math.min(i + PIECE_LINES, count); j++) lines.push(lineAt(j));
    const piece = encoder.encode(lines.join(""));
    if (isKept) pieces.push(piece);
    else index.feed(piece);
  }
  if (isKept) {
    all = join(pieces);
    index.feed(all);
  }
  index.end();
  return index;
}

function countOf(ordinals: Iterable<number>): number {
  let count = 0;
  for (const _ of ordinals) count++;
  return count;
}

/** Returns the number of issues of each code. */
function tally(index: SessionIndex): object {
  const counts: { [code: string]: number } = {};
  for (const { code } of index.issues) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

describe("a million entries", () => {
  it("in one path are one path, and every walk over it ends", () => {
    const { tree, storedLeaf, issues } = readLines(MILLION, (i) => label(i, i === 0 ? null : i - 1));
    expect(issues).toEqual([]);
    const path = tree.path(storedLeaf);
    expect(path.length).toBe(MILLION);
    expect(path.every((ordinal, i) => ordinal === i)).toBe(true);
    expect(tree.commonAncestor(storedLeaf, 0)).toBe(0);
    expect(tree.commonAncestor(storedLeaf, MILLION / 2)).toBe(MILLION / 2);
    expect([...tree.leaves()]).toEqual([storedLeaf]);
  });

  it("under one parent are its children, in the order of the file", () => {
    const { tree, issues } = readLines(MANY, (i) => label(i, i === 0 ? null : 0));
    expect(issues).toEqual([]);
    let next = 1;
    for (const child of tree.children(0)) if (child === next) next++;
    expect(next).toBe(MANY);
    expect(countOf(tree.children(0))).toBe(MANY - 1);
    expect(countOf(tree.leaves())).toBe(MANY - 1);
  });

  it("each before its parent are one path backward", () => {
    const { tree, issues } = readLines(MANY, (i) => label(i, i === MANY - 1 ? null : i + 1));
    expect(issues).toEqual([]);
    const path = tree.path(0);
    expect(path.length).toBe(MANY);
    expect(path.every((ordinal, i) => ordinal === MANY - 1 - i)).toBe(true);
    expect([...tree.children(NONE)]).toEqual([MANY - 1]);
  });

  it("that are orphans of the same parent are roots, each reported", () => {
    const index = readLines(MANY, (i) => label(i, 0xffffffff));
    expect(countOf(index.tree.children(NONE))).toBe(MANY);
    expect(tally(index)).toEqual({ PARENT_MISSING: MANY });
  });

  it("that are orphans of one parent are its children if it comes last", () => {
    const index = readLines(MANY, (i) => (i === MANY - 1 ? label(0xffffffff, null) : label(i, 0xffffffff)));
    expect(countOf(index.tree.children(MANY - 1))).toBe(MANY - 1);
    expect(index.issues).toEqual([]);
  });

  it("that are orphans with different parents are roots", () => {
    const index = readLines(MANY, (i) => label(i, i + MANY));
    expect(countOf(index.tree.children(NONE))).toBe(MANY);
    expect(tally(index)).toEqual({ PARENT_MISSING: MANY });
  });

  it("that form one ring are cut once", () => {
    const index = readLines(MANY, (i) => label(i, (i + 1) % MANY));
    expect(tally(index)).toEqual({ PARENT_CYCLE: 1 });
    expect(index.tree.path(1).length).toBe(MANY);
  });

  it("that are their own parents are roots", () => {
    const index = readLines(MANY, (i) => label(i, i));
    expect(tally(index)).toEqual({ PARENT_CYCLE: MANY });
    expect(countOf(index.tree.children(NONE))).toBe(MANY);
  });

  it("that form rings of two, with tails that lead into them, are cut half as often", () => {
    const index = readLines(MANY, (i) => label(i, i % 4 < 2 ? i ^ 1 : i & ~2));
    expect(tally(index)).toEqual({ PARENT_CYCLE: MANY / 4 });
    expect(index.tree.path(MANY - 1).length).toBeLessThanOrEqual(3);
  });

  it("of version 1 are one path with generated ids", () => {
    const index = readLines(MANY, () => '{"type":"label","timestamp":"t"}\n', 1);
    expect(index.tree.path(index.storedLeaf).length).toBe(MANY);
    expect(index.entryIdFrom(MANY)).toBe(index.tree.idAt(MANY - 1));
    expect(index.issues).toEqual([]);
  });
});

describe("hundreds of thousands of lines", () => {
  const COUNT = 2 * scaleCount(150_000);

  it("with one id, all different, are entries, each the parent of the next", () => {
    const index = readLines(COUNT, (i) => label(7, 7, `,"n":${i}`), 3, true);
    expect(index.tree.size).toBe(COUNT);
    expect(index.tree.path(COUNT - 1).length).toBe(COUNT);
    expect(tally(index)).toEqual({ ID_DUPLICATE: COUNT - 1, PARENT_CYCLE: 1 });
  });

  it("that repeat one line are one entry", () => {
    const index = readLines(COUNT, () => label(7, null), 3, true);
    expect(index.tree.size).toBe(1);
    expect(tally(index)).toEqual({ ENTRY_REPEATED: COUNT - 1 });
  });

  it("with every other one damaged are connected", () => {
    const index = readLines(COUNT, (i) => (i % 2 === 0 ? label(i, i === 0 ? null : i - 1) : "???\n"));
    expect(index.tree.path(index.storedLeaf).length).toBe(COUNT / 2);
    expect(tally(index)).toEqual({ LINE_UNREADABLE: COUNT / 2, PARENT_BRIDGED: COUNT / 2 - 1 });
  });

  it("that are appended one by one are read in time proportional to their bytes", () => {
    const index = new SessionIndex({ readBytes: () => new Uint8Array(0) });
    index.feed(encoder.encode(header(3)));
    for (let i = 0; i < COUNT; i++) {
      index.feed(encoder.encode(label(i, i === 0 ? null : i - 1)));
      index.end();
    }
    expect(index.tree.path(index.storedLeaf).length).toBe(COUNT);
  });
});

describe("a line of megabytes", () => {
  const BYTES = scaleCount(5_000_000);
  const unit = (text: string) => text.repeat(Math.floor(BYTES / text.length));

  it.each([
    ["braces", unit("{")],
    ["heads of records", unit('{"type":"message","id":"a",')],
    ["records that never end, and small ones that do", unit('{"id":{"type":"label","timestamp":1}')],
    ["records", unit('{"type":"label","timestamp":1}')],
    ["quotes", unit('"')],
    ["zero bytes", unit("\0")],
    ["brackets", unit("[")],
  ])("of %s is read", (_name, line) => {
    const bytes = encoder.encode(`${header(3)}${line}x\n${label(1, null)}`);
    const index = new SessionIndex({
      readBytes: (offset, length) => bytes.subarray(offset, offset + length),
    });
    index.feed(bytes);
    index.end();
    expect(index.tree.find(hex(1))).toBe(index.tree.size - 1);
    expect(index.issues.length).toBeGreaterThan(0);
  });
});
