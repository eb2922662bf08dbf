import { expect, test } from "vitest";
import { findChangedFiles } from "../../../src/apps/page/model/file-changes.ts";
import { type DiffLine, FileTexts } from "../../../src/apps/page/model/line-numbers.ts";
import { makeModel, said } from "./support/session.ts";

/** Reads lines that begin with their sign. */
const toLines = (...lines: string[]): DiffLine[] =>
  lines.map((line) => ({
    sign: line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ",
    text: line.slice(1),
  }));
const numbersOf = (lines: readonly DiffLine[]) => lines.map(({ number }) => number);
const EDIT = toLines(" b", "-c", "+C", "+D", " e");

test("an edit of a file that was read has line numbers, and so does the next one after it", () => {
  const texts = new FileTexts();
  texts.addRead("f", "a\nb\nc\ne\nf\n");
  expect(numbersOf(texts.makeEdit("f", EDIT, undefined))).toEqual([2, 3, 3, 4, 5]);
  expect(numbersOf(texts.makeEdit("f", toLines("-f", "+g"), undefined))).toEqual([6, 6]);
});

test("line numbers added by a tool are not part of the text", () => {
  const texts = new FileTexts();
  texts.addRead("f", "     1→a\n     2→b\n     3→c\n     4→e\n");
  expect(numbersOf(texts.makeEdit("f", EDIT, undefined))).toEqual([2, 3, 3, 4, 5]);
});

test("a file that was written completely is numbered from its first line, and so are later edits", () => {
  const texts = new FileTexts();
  expect(numbersOf(texts.makeEdit("f", toLines("+a", "+b"), undefined))).toEqual([1, 2]);
  expect(numbersOf(texts.makeEdit("f", toLines("-b", "+c"), undefined))).toEqual([2, 2]);
});

test("an edit of an unknown file has the numbers of the diff stored by the tool, or none", () => {
  const texts = new FileTexts();
  expect(numbersOf(texts.makeEdit("f", EDIT, undefined))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  const diff = "     ...\n  7 b\n- 8 c\n+ 8 C\n+ 9 D\n 10 e";
  expect(numbersOf(texts.makeEdit("f", EDIT, { diff }))).toEqual([7, 8, 8, 9, 10]);
  const structuredPatch = [{ oldStart: 7, newStart: 7, lines: [" b", "-c", "+C", "+D", " e"] }];
  expect(numbersOf(texts.makeEdit("f", EDIT, { structuredPatch }))).toEqual([7, 8, 8, 9, 10]);
});

test("a failed call changes nothing, and has no numbers", () => {
  const call = (id: string, name: string, input: object) =>
    said("assistant", [{ type: "toolCall", id, name, arguments: input }]);
  const result = (id: string, text: string, isError = false) =>
    said("toolResult", [{ type: "text", text }], { toolCallId: id, isError });
  const model = makeModel([
    ["a", null, call("1", "read", { path: "f" })],
    ["b", "a", result("1", "x\ny\n")],
    ["c", "b", call("2", "edit", { path: "f", oldText: "y", newText: "z" })],
    ["d", "c", result("2", "no", true)],
    ["e", "d", call("3", "edit", { path: "f", oldText: "y", newText: "w" })],
    ["f", "e", result("3", "done")],
  ]);
  const [file] = findChangedFiles(model, [...model.tree.path(model.leaf)]);
  expect(file?.changes.map(({ edits }) => numbersOf(edits.flat()))).toEqual([
    [undefined, undefined],
    [2, 2],
  ]);
});
