import { describe, expect, it } from "vitest";
import type { SessionIndex } from "../../../src/core/jsonl/session-index.ts";
import { codes, entryLine, GrowingFile, headerLine, ids, joinSession, links, read } from "./support/files.ts";

const [a, b, c] = [entryLine("a", null), entryLine("b", "a"), entryLine("c", "b")];

/** Reads pieces in turn and returns what was known after each; checks the end against reading at once. */
function growing(...pieces: readonly string[]): { links: string[]; codes: string[] }[] {
  const file = new GrowingFile();
  // Zero bytes in two pieces are two issues of one line.
  const stateOf = (index: SessionIndex) => ({ links: links(index), codes: [...new Set(codes(index))] });
  const states = pieces.map((piece) => stateOf(file.grow(piece).index));
  const anew = read(file.text);
  expect(states.at(-1)).toEqual(stateOf(anew));
  expect(file.index.needsUpgrade).toBe(anew.needsUpgrade);
  return states;
}

describe("a file that grows", () => {
  it("numbers a line that seemed complete when its line break arrives", () => {
    for (const lineBreak of [["\n"], ["\r\n"], ["\r", "\n"], [" ", "\n"]]) {
      const file = new GrowingFile().grow(joinSession(a)).grow(b);
      for (const piece of lineBreak) file.grow(piece);
      file.grow(`${c}\n`);
      expect([0, 1, 2].map((ordinal) => file.index.spans.at(ordinal).line)).toEqual([2, 3, 4]);
      expect(codes(file.index)).toEqual([]);
    }
  });

  it("may continue after a line that seemed complete, without a line break", () => {
    expect(growing(joinSession(a), b, `${c}\n`).map((state) => state.codes)).toEqual([
      [],
      [],
      ["RECORDS_GLUED 3"],
    ]);
    growing(joinSession(a), b, "???", "\n", entryLine("d", "gone"));
    growing(joinSession(a), b, "\0\0", "\0", "\n", entryLine("d", "gone"));
    growing(joinSession(a), b, c.slice(0, 30), c.slice(30), c.slice(0, -9), "\n");
  });

  it("withdraws the issue of a missing parent when the parent arrives", () => {
    const states = growing(joinSession(entryLine("b", "a")), `${entryLine("x", null)}\n`, `${a}\n`);
    expect(states.map(({ links }) => links[0])).toEqual(["b", "b", "b < a"]);
    expect(states.map((state) => state.codes)).toEqual([["PARENT_MISSING 2"], ["PARENT_MISSING 2"], []]);
  });

  it("removes a bridge when the parent arrives", () => {
    const states = growing(joinSession(entryLine("x", null), "???", entryLine("b", "a")), `${a}\n`);
    expect(states.map(({ links }) => links[1])).toEqual(["b < x", "b < a"]);
    expect(states.map((state) => state.codes)).toEqual([
      ["LINE_UNREADABLE 3", "PARENT_BRIDGED 4"],
      ["LINE_UNREADABLE 3"],
    ]);
  });

  it("breaks a cycle that a late parent closes", () => {
    const states = growing(joinSession(entryLine("a", "c"), b), `${c}\n`);
    expect(states.map((state) => state.codes)).toEqual([["PARENT_MISSING 2"], ["PARENT_CYCLE 2"]]);
  });

  it("repairs a cycle that a bridge had closed", () => {
    const states = growing(
      joinSession(entryLine("a", "c"), "???", entryLine("c", "x")),
      `${entryLine("x", null)}\n`,
    );
    expect(states.map(({ links }) => links)).toEqual([
      ["a", "c < a"],
      ["a < c", "c < x", "x"],
    ]);
    expect(states[1]?.codes).toEqual(["LINE_UNREADABLE 3"]);
  });

  it("separates entries without the parentId key when the key arrives", () => {
    const lines = [entryLine("a", undefined), entryLine("b", undefined)];
    const states = growing(
      joinSession(...lines),
      `${entryLine("c", undefined)}\n`,
      `${entryLine("d", "b")}\n`,
    );
    expect(states.map(({ links }) => links)).toEqual([
      ["a", "b < a"],
      ["a", "b < a", "c < b"],
      ["a", "b", "c", "d < b"],
    ]);
  });

  it("becomes a tree when the first id arrives, if its header has no version", () => {
    const bare = entryLine(undefined, undefined);
    const header = `${headerLine({ version: "x" })}\n`;
    const states = growing(header, `${bare}\n`, `${bare}\n`, `${a}\n`, `${entryLine("b", null)}\n`);
    expect(states.map(({ codes }) => codes.length)).toEqual([1, 1, 1, 3, 3]);
    expect(states[4]?.links.slice(2)).toEqual(["a", "b"]);
  });

  it("keeps generated ids when more entries arrive", () => {
    const bare = entryLine(undefined, undefined);
    const file = new GrowingFile().grow(joinSession(bare, "???")).grow(bare);
    const before = ids(file.index);
    file.grow(`\n${bare}\n`);
    expect(ids(file.index).slice(0, 2)).toEqual(before);
    expect(ids(file.index)).toEqual(ids(read(file.text)));
  });

  it("recognizes a repeated line, also in pieces", () => {
    const states = growing(
      joinSession(a, b),
      a.slice(0, 20),
      a.slice(20),
      "\n",
      `${entryLine("a", null, { n: 1 })}\n`,
    );
    expect(states.map(({ codes }) => codes)).toEqual([
      [],
      ["TAIL_TORN 4"],
      ["ENTRY_REPEATED 4"],
      ["ENTRY_REPEATED 4"],
      ["ENTRY_REPEATED 4", "ID_DUPLICATE 5"],
    ]);
  });

  it("does not report the earlier torn tail after more was read", () => {
    const file = new GrowingFile().grow(`${joinSession(a)}${b.slice(0, 20)}`);
    expect(codes(file.index)).toEqual(["TAIL_TORN 3"]);
    file.index.feed(file.write(`${b.slice(20)}\n`));
    expect(codes(file.index)).toEqual([]);
  });

  it("may be checked without having grown", () => {
    growing("", joinSession(a), "", b.slice(0, 9), "", b.slice(9), "", "\n", "");
  });
});
