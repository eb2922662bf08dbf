import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";

/** Line of a comparison. */
export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
  /** Line number in the file, from 1: before the edit for removed lines, after it for others; undefined if unknown. */
  readonly number?: number;
}

/** Contents of files, to the extent that the calls on a path reveal them; used to find the line numbers of edits. */
export class FileTexts {
  readonly #texts = new Map<string, string>();

  /** Records the text that a tool read from a file, without the line numbers that the tool added. */
  addRead(path: string, output: string): void {
    const lines = output.split("\n").map((line) => NUMBERED.exec(line)?.[1]);
    const isNumbered = lines.slice(0, -1).every((line) => line !== undefined) && lines[0] !== undefined;
    this.#texts.set(path, isNumbered ? lines.map((line) => line ?? "").join("\n") : output);
  }

  /**
   * Numbers the lines of an edit, and applies it to the known text.
   *
   * @param details - Details that the tool stored with its result: a diff with line numbers.
   * @returns Lines without numbers if the position is unknown.
   */
  makeEdit(path: string, lines: readonly DiffLine[], details: unknown): DiffLine[] {
    const [before, after] = [joinLines(lines, "+"), joinLines(lines, "-")];
    const known = this.#texts.get(path);
    const at = before === "" ? 0 : (known?.indexOf(before) ?? -1);
    if (before === "") this.#texts.set(path, after);
    else if (known !== undefined && at !== -1)
      this.#texts.set(path, known.slice(0, at) + after + known.slice(at + before.length));
    const start = at === -1 ? findStart(lines, details) : countLines((known ?? "").slice(0, at));
    return start === undefined ? [...lines] : numberLines(lines, start);
  }
}

/** Line in the format of `cat -n` and of tools that read files. */
const NUMBERED = /^\s*\d+(?:\t|→)(.*)$/;

/** Joins the lines of a comparison, except lines with the sign `without`. */
function joinLines(lines: readonly DiffLine[], without: DiffLine["sign"]): string {
  return lines
    .filter(({ sign }) => sign !== without)
    .map(({ text }) => text)
    .join("\n");
}

/** Returns the number of lines in a string, at least 1. */
function countLines(text: string): number {
  return text.split("\n").length;
}

/** Numbers lines: removed lines by their position before the edit, others by their position after it. */
function numberLines(lines: readonly DiffLine[], start: number): DiffLine[] {
  let [before, after] = [start, start];
  return lines.map((line) => {
    const number = line.sign === "-" ? before : after;
    if (line.sign !== "+") before++;
    if (line.sign !== "-") after++;
    return { ...line, number };
  });
}

/** Finds the first line of an edit, by its first changed line in a diff with line numbers. */
function findStart(lines: readonly DiffLine[], details: unknown): number | undefined {
  const at = lines.findIndex(({ sign }) => sign !== " ");
  const changed = lines[at];
  if (changed === undefined) return undefined;
  const { diff, structuredPatch } = toRecord(details);
  const numbered = [...readNumberedDiff(toText(diff)), ...toArray(structuredPatch).flatMap(readHunk)];
  const found = numbered.find(({ sign, text }) => sign === changed.sign && text === changed.text);
  return found?.number === undefined ? undefined : found.number - at;
}

const DIFF_LINE = /^([-+ ])\s*(\d+) (.*)$/gm;

/** Reads a diff where each line has its number after the sign. */
function readNumberedDiff(diff: string): DiffLine[] {
  return Array.from(diff.matchAll(DIFF_LINE), ([, sign, number, text = ""]) => ({
    sign: toSign(sign),
    text,
    number: Number(number),
  }));
}

/** Reads a hunk of a unified diff, given as an object. */
function readHunk(hunk: unknown): DiffLine[] {
  const { newStart, lines } = toRecord(hunk);
  const read = toArray(lines)
    .map(toText)
    .map((line): DiffLine => ({ sign: toSign(line[0]), text: line.slice(1) }));
  const start = toNumber(newStart);
  return start > 0 ? numberLines(read, start) : [];
}

function toSign(character: string | undefined): DiffLine["sign"] {
  return character === "+" || character === "-" ? character : " ";
}
