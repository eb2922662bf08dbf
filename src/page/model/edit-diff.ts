import { diffLines } from "diff";
import { editsOfCall } from "../../view/edits.ts";

/** A line of a comparison. */
export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
}

/** Longer texts are not compared: that can take long. */
const LONGEST_COMPARED = 200_000;

/** Comparing gives up after so many changed lines. */
const MOST_CHANGES = 2000;

/**
 * Returns the changes that an edit tool was asked to make, if the arguments are those of one.
 *
 * @param input - Arguments of a tool call: an old and a new text, or a list `edits` of such.
 * @returns A comparison for each edit; empty if this is no edit.
 */
export function editsIn(input: unknown): DiffLine[][] {
  return editsOfCall(input).map(({ before, after }) => compare(before, after));
}

function compare(before: string, after: string): DiffLine[] {
  const isShort = before.length + after.length <= LONGEST_COMPARED;
  const changes = isShort ? diffLines(before, after, { maxEditLength: MOST_CHANGES }) : undefined;
  if (changes === undefined) return [...linesOf(before, "-"), ...linesOf(after, "+")];
  return changes.flatMap(({ value, added, removed }) => linesOf(value, added ? "+" : removed ? "-" : " "));
}

function linesOf(text: string, sign: DiffLine["sign"]): DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, text: line }));
}
