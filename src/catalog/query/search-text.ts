import { getTexts } from "../../core/context/content-text.ts";
import { toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import { getSystemTexts } from "../../core/context/system-message.ts";
import { findCallFiles } from "../../core/facts/touched-files.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { getStem } from "./words.ts";

/** Types of entries with human-readable text. */
export const SEARCHED_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
]);

/** Kind of an entry's text. */
export type TextKind = "said" | "summary" | "thinking" | "call" | "output" | "instructions" | "date";

/** Tool call in an answer. */
export interface SearchedCall {
  readonly id: unknown;
  readonly name: string;
  readonly input: unknown;
}

/** Searched text of an entry. */
export interface SearchedPart {
  readonly kind: TextKind;
  /** Never empty. */
  readonly text: string;
  readonly call?: SearchedCall;
}

/** Searchable strings of an entry. */
export interface SearchedText {
  /** Role of the entry's message, or of the message that the entry is converted to. */
  readonly role: string;
  /** In display order. */
  readonly parts: SearchedPart[];
}

/** Maximum number of values searched in the arguments of one tool call. */
const MAX_VALUES = 10_000;

/**
 * Returns the strings in an entry that a user would search for.
 *
 * For messages: text, thinking, tool calls with the strings in their arguments, and commands with their output. For
 * summaries: the summary. Images, signatures, ids, and `details` are excluded.
 *
 * @returns Undefined for other types of entries.
 */
export function getSearchedText(entry: AnySessionEntry): SearchedText | undefined {
  const fields = toRecord(entry);
  const { summary, content } = fields;
  if (entry.type === "message") return getMessageTexts(toRecord(fields["message"]));
  if (entry.type === "custom_message")
    return { role: "custom", parts: getTexts(content).flatMap((text) => toParts("said", text)) };
  if (entry.type === "compaction") return { role: "compactionSummary", parts: toParts("summary", summary) };
  return entry.type === "branch_summary"
    ? { role: "branchSummary", parts: toParts("summary", summary) }
    : undefined;
}

/** Returns the searchable strings in a call: the tool's name and the strings in the arguments. */
export function getCallParts(call: SearchedCall): SearchedPart[] {
  return [call.name, ...collectTexts(call.input)].flatMap((text) => toParts("call", text, call));
}

/**
 * Returns words for the UTC date of an entry, such as `8 May 2026-05-08`, for questions that mention the date.
 *
 * @param timeMs - Unix milliseconds; undefined if the entry has no time.
 */
export function getDateParts(timeMs: number | undefined): SearchedPart[] {
  if (timeMs === undefined) return [];
  const date = new Date(timeMs);
  const month = MONTHS[date.getUTCMonth()] ?? "";
  return [{ kind: "date", text: `${date.getUTCDate()} ${month} ${date.toISOString().slice(0, 10)}` }];
}

/** Returns whether a word in any form may be part of a date. Such a word need not occur in the entry's line. */
export function isDateWord(word: string): boolean {
  const stem = getStem(word).toLowerCase();
  return /^\d+$/.test(word) || MONTHS.some((month) => getStem(month).toLowerCase() === stem);
}

function getMessageTexts(message: { readonly [key: string]: unknown }): SearchedText {
  const { role, content, command, output, errorMessage } = message;
  if (role === "system") {
    return { role, parts: getSystemTexts(message).flatMap((text) => toParts("instructions", text)) };
  }
  const kind = role === "toolResult" ? "output" : "said";
  return {
    role: toText(role),
    parts: [
      ...toContentBlocks(content).flatMap((block) => getBlockTexts(block, kind)),
      ...toParts("call", command),
      ...toParts("output", output),
      ...toParts("output", errorMessage),
    ],
  };
}

function getBlockTexts(block: unknown, kind: TextKind): SearchedPart[] {
  const { type, id, text, thinking, name, arguments: input } = toRecord(block);
  if (type === "text") return toParts(kind, text);
  if (type === "thinking") return toParts("thinking", thinking);
  return type === "toolCall" ? getCallParts({ id, name: toText(name), input }) : [];
}

function toParts(kind: TextKind, text: unknown, call?: SearchedCall): SearchedPart[] {
  if (typeof text !== "string" || text === "") return [];
  return [call === undefined ? { kind, text } : { kind, text, call }];
}

/** Returns the strings in a JSON value, in order. Not recursive, because values may be deeply nested. */
function collectTexts(value: unknown): string[] {
  const texts: string[] = [];
  const stack = [value];
  for (let count = 0; stack.length > 0 && count < MAX_VALUES; count++) {
    const next = stack.pop();
    if (typeof next === "string") texts.push(next);
    else if (Array.isArray(next)) pushReversed(stack, next);
    else if (isJsonRecord(next)) pushReversed(stack, Object.values(next));
  }
  return texts;
}

function pushReversed(stack: unknown[], values: readonly unknown[]): void {
  for (let i = Math.min(values.length, MAX_VALUES) - 1; i >= 0; i--) stack.push(values[i]);
}

const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** Arguments that contain a command, which may refer to files. */
const COMMAND_KEYS = ["command", "cmd", "script"];

const BETWEEN = /[\s"'`;|&<>()=,]+/;

const DRIVE = /^[a-z]:\//i;

/** Returns whether a path is the requested file or is in the requested folder. */
export type PathTest = (path: string, cwd: string) => boolean;

/**
 * Creates a function that tests absolute or relative paths with either separator. A relative `wanted` may begin anywhere below
 * the working directory.
 */
export function makePathTest(wanted: string): PathTest {
  const whole = tidyPath(wanted);
  if (isAbsolute(whole)) return (path, cwd) => `${toAbsolute(path, cwd)}/`.startsWith(`${whole}/`);
  return (path, cwd) => {
    const full = toAbsolute(path, cwd);
    const root = `${tidyPath(cwd)}/`;
    const below = full.startsWith(root) ? full.slice(root.length) : full;
    return `/${below}/`.includes(`/${whole}/`);
  };
}

/** Returns whether a call refers to a matching file: in an argument, in a patch, or in a command. */
export function isTouching(
  { name, input }: Pick<SearchedCall, "name" | "input">,
  cwd: string,
  test: PathTest,
): boolean {
  if (findCallFiles({ name, input }).some(({ path }) => test(path, cwd))) return true;
  const fields = toRecord(input);
  const commands =
    typeof input === "string" ? [input] : COMMAND_KEYS.flatMap((key) => collectTexts(fields[key]));
  return commands.some((command) => command.split(BETWEEN).some((word) => word !== "" && test(word, cwd)));
}

function toAbsolute(path: string, cwd: string): string {
  const own = path.replaceAll("\\", "/");
  return tidyPath(isAbsolute(own) ? own : `${cwd}/${own}`);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || DRIVE.test(path);
}

/** Normalizes a path: uses slashes as separators, resolves `.` and `..`, and converts to lowercase if the path has a drive. */
function tidyPath(path: string): string {
  const written = path.replaceAll("\\", "/");
  const steps: string[] = [];
  for (const step of written.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  const whole = `${written.startsWith("/") ? "/" : ""}${steps.join("/")}`;
  return DRIVE.test(`${whole}/`) ? whole.toLowerCase() : whole;
}
