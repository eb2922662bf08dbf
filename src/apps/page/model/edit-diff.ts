import { diffLines } from "diff";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { editsOfCall } from "../../../core/facts/edits.ts";

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
 * @param input - Arguments of a tool call: an old and a new text, a list `edits` of such, or a patch in an envelope.
 * @param path - Only changes to this file, where a patch names several; default: all.
 * @returns A comparison for each edit; empty if this is no edit.
 */
export function editsIn(input: unknown, path?: string): DiffLine[][] {
  const compared = editsOfCall(input).map(({ before, after }) => compare(before, after));
  if (compared.length > 0) return compared;
  const fields = fieldsOf(input);
  return patchedIn([fields["input"], fields["patch"]].map(textOf).join("\n"), path);
}

/** Returns the lines of a text that was written whole, as added ones. */
export function writtenLines(text: string): DiffLine[] {
  return linesOf(text, "+");
}

const SIGNS: readonly DiffLine["sign"][] = ["+", "-", " "];

/** Reads the hunks of a patch in an envelope (`*** Begin Patch`). */
function patchedIn(patch: string, path: string | undefined): DiffLine[][] {
  if (!patch.includes("*** ")) return [];
  return patch
    .split(/^\*\*\* (?=(?:Add|Update|Delete) File: )/m)
    .slice(1)
    .flatMap((part) => {
      const [head = "", ...lines] = part.split("\n");
      const isMeant =
        path === undefined || head.endsWith(`: ${path}`) || lines[0]?.endsWith(`to: ${path}`) === true;
      const changed = lines.flatMap((line): DiffLine[] => {
        const sign = SIGNS.find((one) => line.startsWith(one));
        return sign === undefined ? [] : [{ sign, text: line.slice(1) }];
      });
      return isMeant && changed.length > 0 ? [changed] : [];
    });
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
