import { diffLines } from "diff";
import { getTexts } from "../../../core/context/content-text.ts";
import { getMessageFields, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { getToolCalls } from "../../../core/facts/tool-calls.ts";
import { findCallEdits, findCallFiles } from "../../../core/facts/touched-files.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { type DiffLine, FileTexts } from "./line-numbers.ts";
import { hasFailedAt, type SessionModel } from "./session-model.ts";

/** Change that a tool call made to a file. */
export interface FileChange {
  readonly path: string;
  /** Entry that contains the call, and the entry of its result, if any. */
  readonly ordinal: number;
  readonly result: number | undefined;
  readonly tool: string;
  readonly hasFailed: boolean;
  /** Edits that the call specifies; the whole text of a written file is treated as added. */
  readonly edits: readonly (readonly DiffLine[])[];
}

/** Changed file, with its changes in order. */
export interface ChangedFile {
  readonly path: string;
  readonly changes: readonly FileChange[];
}

/**
 * Finds the files that tools changed on a path.
 *
 * @returns Ordered by first change.
 * @remarks Cost: O(path).
 */
export function findChangedFiles(session: SessionModel, path: readonly number[]): ChangedFile[] {
  const { facts } = session;
  const results = new Map(path.map((ordinal) => [facts[ordinal]?.callId, ordinal]));
  const calling = path.filter((ordinal) => facts[ordinal]?.calls.length !== 0);
  const texts = new FileTexts();
  const changes = calling.flatMap((ordinal) =>
    getToolCalls(session.entryAt(ordinal)).flatMap(({ id, name, input }): FileChange[] => {
      const files = findCallFiles({ name, input });
      const result = id === "" ? undefined : results.get(id);
      const hasFailed = result !== undefined && hasFailedAt(session, result);
      const message = getMessageFields(session.entryAt(result ?? NONE));
      const [read] = files;
      if (read !== undefined && !hasFailed && isWholeRead(name, input))
        texts.addRead(read.path, getTexts(message["content"]).join("\n"));
      const common = { ordinal, result, tool: name, hasFailed };
      const place = (path: string, lines: readonly DiffLine[]) =>
        hasFailed ? lines : texts.makeEdit(path, lines, message["details"]);
      return files
        .filter(({ isChanged }) => isChanged)
        .map(({ path: file }) => {
          const edits = getEdits(input, file).map((lines) => place(file, lines));
          return { ...common, path: file, edits };
        });
    }),
  );
  return Array.from(
    groupBy(changes, (change) => change.path),
    ([name, some]) => ({ path: name, changes: some }),
  );
}

/** Matches tools that return the content of a file unchanged; other tools describe a file in prose. */
const READS_FILE = /(?:^|[^a-z])(?:read|view|cat|open)/i;

/** Returns whether a tool returns a file unchanged, by its name. */
export function isReadingTool(name: string): boolean {
  return READS_FILE.test(name);
}

/** Returns whether a call reads a file from its first line. */
function isWholeRead(name: string, input: unknown): boolean {
  const { offset, view_range } = toRecord(input);
  return isReadingTool(name) && view_range === undefined && toNumber(offset) <= 1;
}

/** Returns the edits to a file that a call specifies. */
function getEdits(input: unknown, path: string): DiffLine[][] {
  const edits = findEdits(input, path);
  const { content, file_text } = toRecord(input);
  const written = toText(content) || toText(file_text);
  return edits.length > 0 || written === "" ? edits : [makeWrittenLines(written)];
}

/** Maximum number of characters in compared strings, because comparing longer strings can take a long time. */
const LONGEST_COMPARED = 200_000;

/** Number of changed lines after which a comparison is abandoned. */
const MAX_CHANGES = 2000;

/**
 * Returns the changes in the arguments of an edit tool.
 *
 * @param input - Arguments of a tool call: an old and a new string, an array `edits` of such pairs, or a patch in an envelope.
 * @param path - Returns only changes to this file if a patch changes several files; default: all files.
 * @returns A comparison for each edit; empty if the call is not an edit.
 */
export function findEdits(input: unknown, path?: string): DiffLine[][] {
  const compared = findCallEdits(input).map(({ before, after }) => compareLines(before, after));
  if (compared.length > 0) return compared;
  const fields = toRecord(input);
  return parsePatch([fields["input"], fields["patch"]].map(toText).join("\n"), path);
}

/** Returns the lines of a file that was written as a whole, as added lines. */
function makeWrittenLines(text: string): DiffLine[] {
  return toLines(text, "+");
}

const SIGNS: readonly DiffLine["sign"][] = ["+", "-", " "];

/** Reads the hunks of a patch in an envelope (`*** Begin Patch`). */
function parsePatch(patch: string, path: string | undefined): DiffLine[][] {
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

function compareLines(before: string, after: string): DiffLine[] {
  const isShort = before.length + after.length <= LONGEST_COMPARED;
  const changes = isShort ? diffLines(before, after, { maxEditLength: MAX_CHANGES }) : undefined;
  if (changes === undefined) return [...toLines(before, "-"), ...toLines(after, "+")];
  return changes.flatMap(({ value, added, removed }) => toLines(value, added ? "+" : removed ? "-" : " "));
}

function toLines(text: string, sign: DiffLine["sign"]): DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, text: line }));
}
