import { textsOf } from "../context/content-text.ts";
import { blocksOf, fieldsOf } from "../context/entry-fields.ts";
import { partsOf } from "../context/message-parts.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isJsonRecord } from "../schema/json.ts";

/** The types of entries that hold text for people. */
export const SEARCHED_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "compaction",
  "branch_summary",
]);

/** The searched texts of an entry. */
export interface SearchedText {
  /** Role of the message that the entry is or becomes. */
  readonly role: string;
  /** Never empty, in the order in which they are shown. */
  readonly texts: string[];
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
  if (entry.type === "custom_message") return found("custom", textsOf(content));
  if (entry.type === "compaction") return found("compactionSummary", [summary]);
  return entry.type === "branch_summary" ? found("branchSummary", [summary]) : undefined;
}

/** Returns the tool calls of an answer; empty for any other entry. */
export function callsOf(entry: AnySessionEntry) {
  const message = fieldsOf(fieldsOf(entry)["message"]);
  if (entry.type !== "message" || message["role"] !== "assistant") return [];
  return partsOf(message).flatMap((part) => (part.kind === "toolCall" ? part : []));
}

/** Returns the texts of a failure: those of its entry, the tool's name, and the texts in the arguments of its call. */
export function failureTexts(entry: AnySessionEntry, given: unknown, own: readonly string[]): string[] {
  const { toolName } = fieldsOf(fieldsOf(entry)["message"]);
  return [...own, ...(typeof toolName === "string" ? [toolName] : []), ...textsInside(given)];
}

function messageTexts(message: { readonly [key: string]: unknown }): SearchedText {
  const { role, content, command, output, errorMessage } = message;
  const texts = blocksOf(content).flatMap(blockTexts);
  return found(typeof role === "string" ? role : "", [...texts, command, output, errorMessage]);
}

function blockTexts(block: unknown): unknown[] {
  const { type, text, thinking, name, arguments: given } = fieldsOf(block);
  if (type === "text") return [text];
  if (type === "thinking") return [thinking];
  return type === "toolCall" ? [name, ...textsInside(given)] : [];
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

function found(role: string, texts: readonly unknown[]): SearchedText {
  return { role, texts: texts.filter((text): text is string => typeof text === "string" && text !== "") };
}
