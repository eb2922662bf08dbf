import { diffLines } from "diff";
import { fieldsOf } from "../../../core/context/entry-fields.ts";
import { textOf } from "../../../core/context/message-parts.ts";
import { callsIn } from "../../../core/facts/tool-calls.ts";
import { editsOfCall, filesOfCall } from "../../../core/facts/touched-files.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { hasFailedAt, type SessionModel } from "./session-model.ts";

/** A change that a call of a tool made to a file. */
export interface FileChange {
  readonly path: string;
  /** The entry that holds the call, and the result, if there is one. */
  readonly ordinal: number;
  readonly result: number | undefined;
  readonly tool: string;
  readonly hasFailed: boolean;
  /** What it changed, as far as the call says; a text that was written whole counts as added. */
  readonly edits: readonly (readonly DiffLine[])[];
}

/** A file that was changed, with the changes in their order. */
export interface ChangedFile {
  readonly path: string;
  readonly changes: readonly FileChange[];
}

/**
 * Finds the files that tools changed on a path.
 *
 * @returns In the order of their first changes.
 * @remarks Cost: O(path).
 */
export function changedFiles(session: SessionModel, path: readonly number[]): ChangedFile[] {
  const { facts } = session;
  const results = new Map(path.map((ordinal) => [facts[ordinal]?.callId, ordinal]));
  const calling = path.filter((ordinal) => facts[ordinal]?.calls.length !== 0);
  const changes = calling.flatMap((ordinal) =>
    callsIn(session.entryAt(ordinal)).flatMap(({ id, name, input }): FileChange[] => {
      const files = filesOfCall({ name, input }).filter(({ isChanged }) => isChanged);
      const result = id === "" ? undefined : results.get(id);
      const hasFailed = result !== undefined && hasFailedAt(session, result);
      const common = { ordinal, result, tool: name, hasFailed };
      return files.map((file) => ({ ...common, path: file.path, edits: editsOf(input, file.path) }));
    }),
  );
  return Array.from(
    groupBy(changes, (change) => change.path),
    ([name, some]) => ({ path: name, changes: some }),
  );
}

/** What a call says of its change to a file. */
function editsOf(input: unknown, path: string): DiffLine[][] {
  const edits = editsIn(input, path);
  const { content, file_text } = fieldsOf(input);
  const written = textOf(content) || textOf(file_text);
  return edits.length > 0 || written === "" ? edits : [writtenLines(written)];
}

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
function writtenLines(text: string): DiffLine[] {
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
