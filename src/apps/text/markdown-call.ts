import { toArray } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";
import { type LineBounds, shortenLines } from "../../core/facts/shorten-lines.ts";
import { joinCommand } from "../../core/facts/tool-calls.ts";
import { findCallEdits, findCallFiles } from "../../core/facts/touched-files.ts";
import { isJsonRecord, toSafeString } from "../../core/format/json.ts";
import { fenceText, formatCode } from "./markdown-text.ts";
import { formatJson } from "./stored-values.ts";

/** Tool call as displayed in a transcript. */
export interface ShownCall {
  readonly name: string;
  readonly input: unknown;
}

/** Arguments that contain a shell command. */
const COMMANDS = ["command", "cmd", "script"];

/** Arguments that contain the text that a tool writes to a file. */
const CONTENTS = ["content", "contents", "file_text", "new_source"];

const PATCH = /^\*\*\* Begin Patch/m;

/** Maximum length of a value on the line of the call. */
const LONGEST_VALUE = 120;

/**
 * Formats a tool call: a line with the tool and its short arguments, followed by blocks of code. Commands, edits, and text
 * written to files are formatted in their own language, and other long arguments as JSON.
 *
 * @param bounds - Maximum size of the code; undefined for no limit.
 */
export function layOutCall({ name, input }: ShownCall, bounds?: LineBounds): string[] {
  const fence = (text: string, language: string) =>
    fenceText(bounds === undefined ? text : shortenLines(text, bounds), language);
  if (!isJsonRecord(input)) {
    if (input === undefined || input === null) return [makeCallTitle(name, {})];
    const text = typeof input === "string" ? input : formatJson(input);
    return [
      makeCallTitle(name, {}),
      fence(text, PATCH.test(text) ? "diff" : typeof input === "string" ? "" : "json"),
    ];
  }
  const rest: Record<string, unknown> = { ...input };
  const blocks: string[] = [];
  const take = (names: readonly string[]) => {
    const found = names.find((one) => toText(rest[one]) !== "");
    const text = found === undefined ? "" : toText(rest[found]);
    if (found !== undefined) delete rest[found];
    return text;
  };
  const edits = findCallEdits(input);
  if (edits.length > 0) {
    for (const edit of edits)
      blocks.push(
        fence(
          formatEdit(edit.before, edit.after, bounds === undefined ? Number.POSITIVE_INFINITY : CONTEXT),
          "diff",
        ),
      );
    for (const key of Object.keys(rest)) if (key === "edits" || isEdited(rest[key], edits)) delete rest[key];
  }
  const patch = Object.keys(rest).find((key) => PATCH.test(toText(rest[key])) && !COMMANDS.includes(key));
  if (patch !== undefined) blocks.push(fence(take([patch]), "diff"));
  const command = takeCommand(rest) || take(COMMANDS);
  if (command !== "") blocks.push(fence(command, "bash"));
  const content = take(CONTENTS);
  if (content !== "") blocks.push(fence(content, findLanguage({ name, input })));
  const long = Object.entries(rest).filter(([, value]) => !isShort(value));
  for (const [key] of long) delete rest[key];
  if (long.length > 0) blocks.push(fence(formatJson(Object.fromEntries(long)), "json"));
  return [makeCallTitle(name, rest), ...blocks];
}

/** Returns the language of the first file that a call names, as used by highlighters; empty if it is unknown. */
export function findLanguage(call: ShownCall): string {
  const [file] = findCallFiles(call);
  const name = file?.path.split(/[/\\]/).at(-1)?.toLowerCase() ?? "";
  if (name === "dockerfile" || name === "makefile") return name;
  return /\.([a-z][a-z0-9]{0,9})$/.exec(name)?.[1] ?? "";
}

/** Removes and returns a command given as an array. */
function takeCommand(rest: Record<string, unknown>): string {
  const name = COMMANDS.find((one) => Array.isArray(rest[one]));
  if (name === undefined) return "";
  const command = joinCommand(toArray(rest[name]));
  delete rest[name];
  return command;
}

function isEdited(value: unknown, edits: ReturnType<typeof findCallEdits>): boolean {
  return edits.some(({ before, after }) => value === before || value === after);
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_VALUE && !value.includes("\n");
  return value === null || typeof value !== "object";
}

/** Formats the line with the tool and its short arguments, such as a file or a query. */
function makeCallTitle(name: string, fields: Readonly<Record<string, unknown>>): string {
  const [first, ...others] = Object.entries(fields).map(([key, value]) => {
    const text = formatCode(toSafeString(value));
    return TELLING.has(key) ? text : `${formatCode(key)} ${text}`;
  });
  const values = [first, ...others].filter((one) => one !== undefined && one !== "");
  return [`**Call of** ${formatCode(name)}`, values.join(", ")].filter(Boolean).join(": ");
}

/** Arguments whose values are displayed without their names. */
const TELLING: ReadonlySet<string> = new Set([
  ...["path", "file_path", "filePath", "absolute_path", "notebook_path", "target_file"],
  ...["description", "pattern", "query", "url"],
]);

/** Number of unchanged lines before and after a change, unless all are requested. */
const CONTEXT = 1;

/** Formats a change as lines of a diff, with a limited number of common lines at the beginning and end. */
function formatEdit(before: string, after: string, context: number): string {
  const [old, now] = [splitLines(before), splitLines(after)];
  const shortest = Math.min(old.length, now.length);
  let start = 0;
  while (start < shortest && old[start] === now[start]) start++;
  let end = 0;
  while (end < shortest - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
  return [
    ...mark(" ", old.slice(Math.max(0, start - context), start)),
    ...mark("-", old.slice(start, old.length - end)),
    ...mark("+", now.slice(start, now.length - end)),
    ...mark(" ", old.slice(old.length - end, Math.min(old.length, old.length - end + context))),
  ].join("\n");
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
