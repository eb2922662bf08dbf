import { textsOf } from "../../core/context/content-text.ts";
import { blocksOf, fieldsOf } from "../../core/context/entry-fields.ts";
import { textOf } from "../../core/context/message-parts.ts";
import { textsOfSystemMessage } from "../../core/context/system-message.ts";
import { filesOfCall } from "../../core/facts/touched-files.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord } from "../../core/format/json.ts";

/** The types of entries that hold text for people. */
export const SEARCHED_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
]);

/** What a text of an entry is. */
export type TextKind = "said" | "summary" | "thinking" | "call" | "output" | "instructions";

/** A call of a tool, as an answer holds it. */
export interface SearchedCall {
  readonly id: unknown;
  readonly name: string;
  readonly input: unknown;
}

/** A searched text of an entry. */
export interface SearchedPart {
  readonly kind: TextKind;
  /** Never empty. */
  readonly text: string;
  readonly call?: SearchedCall;
}

/** The searched texts of an entry. */
export interface SearchedText {
  /** Role of the message that the entry is or becomes. */
  readonly role: string;
  /** In the order in which they are shown. */
  readonly parts: SearchedPart[];
}

/** The most values that are searched in the arguments of one tool call. */
const MAX_VALUES = 10_000;

/**
 * Returns the texts of an entry that a person would look for.
 *
 * Of messages: text, thinking, tool calls with the texts in their arguments, and commands with their output. Of
 * summaries: the summary. Images, signatures, ids and `details` are left out.
 *
 * @returns Undefined if the entry is of another type.
 */
export function searchedText(entry: AnySessionEntry): SearchedText | undefined {
  const fields = fieldsOf(entry);
  const { summary, content } = fields;
  if (entry.type === "message") return messageTexts(fieldsOf(fields["message"]));
  if (entry.type === "custom_message")
    return { role: "custom", parts: textsOf(content).flatMap((text) => partOf("said", text)) };
  if (entry.type === "compaction") return { role: "compactionSummary", parts: partOf("summary", summary) };
  return entry.type === "branch_summary"
    ? { role: "branchSummary", parts: partOf("summary", summary) }
    : undefined;
}

/** Returns the texts of a call: the tool's name, and the texts in its arguments. */
export function callParts(call: SearchedCall): SearchedPart[] {
  return [call.name, ...textsInside(call.input)].flatMap((text) => partOf("call", text, call));
}

function messageTexts(message: { readonly [key: string]: unknown }): SearchedText {
  const { role, content, command, output, errorMessage } = message;
  if (role === "system") {
    return { role, parts: textsOfSystemMessage(message).flatMap((text) => partOf("instructions", text)) };
  }
  const kind = role === "toolResult" ? "output" : "said";
  return {
    role: textOf(role),
    parts: [
      ...blocksOf(content).flatMap((block) => blockTexts(block, kind)),
      ...partOf("call", command),
      ...partOf("output", output),
      ...partOf("output", errorMessage),
    ],
  };
}

function blockTexts(block: unknown, kind: TextKind): SearchedPart[] {
  const { type, id, text, thinking, name, arguments: input } = fieldsOf(block);
  if (type === "text") return partOf(kind, text);
  if (type === "thinking") return partOf("thinking", thinking);
  return type === "toolCall" ? callParts({ id, name: textOf(name), input }) : [];
}

function partOf(kind: TextKind, text: unknown, call?: SearchedCall): SearchedPart[] {
  if (typeof text !== "string" || text === "") return [];
  return [call === undefined ? { kind, text } : { kind, text, call }];
}

/** Returns the texts in a JSON value, in order. Without recursion, since a file can nest values deeply. */
function textsInside(value: unknown): string[] {
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

/** Arguments of calls that are commands, which name files among other things. */
const COMMAND_KEYS = ["command", "cmd", "script"];

const BETWEEN = /[\s"'`;|&<>()=,]+/;

const DRIVE = /^[a-z]:\//i;

/** Tells whether a path is the wanted file, or below the wanted folder. */
export type PathTest = (path: string, cwd: string) => boolean;

/** Makes a test for paths, with either separator, absolute or not; a relative one may begin anywhere below the working directory. */
export function pathTest(wanted: string): PathTest {
  const whole = tidy(wanted);
  if (isAbsolute(whole)) return (path, cwd) => `${absolute(path, cwd)}/`.startsWith(`${whole}/`);
  return (path, cwd) => {
    const full = absolute(path, cwd);
    const root = `${tidy(cwd)}/`;
    const below = full.startsWith(root) ? full.slice(root.length) : full;
    return `/${below}/`.includes(`/${whole}/`);
  };
}

/** Tells whether a call names a file that fits: as an argument, in a patch, or as a word of a command. */
export function touches(
  { name, input }: Pick<SearchedCall, "name" | "input">,
  cwd: string,
  test: PathTest,
): boolean {
  if (filesOfCall({ name, input }).some(({ path }) => test(path, cwd))) return true;
  const fields = fieldsOf(input);
  const commands =
    typeof input === "string" ? [input] : COMMAND_KEYS.flatMap((key) => textsInside(fields[key]));
  return commands.some((command) => command.split(BETWEEN).some((word) => word !== "" && test(word, cwd)));
}

function absolute(path: string, cwd: string): string {
  const own = path.replaceAll("\\", "/");
  return tidy(isAbsolute(own) ? own : `${cwd}/${own}`);
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || DRIVE.test(path);
}

/** Writes a path with slashes, without steps that lead nowhere; in small letters if it has a drive. */
function tidy(path: string): string {
  const written = path.replaceAll("\\", "/");
  const steps: string[] = [];
  for (const step of written.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  const whole = `${written.startsWith("/") ? "/" : ""}${steps.join("/")}`;
  return DRIVE.test(`${whole}/`) ? whole.toLowerCase() : whole;
}
