import { blocksOf, fieldsOf } from "../../core/context/entry-fields.ts";
import { systemText } from "../../core/context/system-message.ts";
import { isUnfinished } from "../../core/context/unfinished-answer.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import type { AgentMessage, Message } from "../../core/format/message.ts";
import { isSameJson } from "./raw-form.ts";
import { callIdOf } from "./tool-ids.ts";
import { wellFormedMessage } from "./well-formed-message.ts";

/**
 * Tells whether a stored message and one of an array have the same content, as far as an array can tell.
 *
 * Ignores times, usage, signatures, blank texts and thinking, `isError`, and calls of an answer that failed or was aborted, which arrays
 * omit. Compares thinking and images of failed results if the array has any, and kept originals if both have them.
 */
export function isSameMessage(storedMessage: Message, inputMessage: Message): boolean {
  // Requests hold no halves of characters, so that arrays made of them do not, either.
  const stored = wellFormedMessage(storedMessage);
  const input = wellFormedMessage(inputMessage);
  if (stored.role === "system" && input.role === "system")
    return systemText([stored]) === systemText([input]);
  if (stored.role !== input.role) return false;
  if (stored.role === "toolResult" && input.role === "toolResult") {
    if (!isSameCallId(stored.toolCallId, input.toolCallId)) return false;
  }
  const types = new Set(fieldsOfBlocks(input).map(({ type }) => type));
  const ignored = new Set<unknown>();
  if (!types.has("thinking")) ignored.add("thinking");
  if (input.role === "toolResult" && input.isError && !types.has("image")) ignored.add("image");
  const lacking = new Set(isUnfinished(stored) ? [...ignored, "toolCall"] : ignored);
  return (
    isSameSaid(saidBy(stored, lacking), saidBy(input, ignored)) &&
    isSameJson(keptOf(stored, input), keptOf(input, stored))
  );
}

/**
 * Tells whether an array may name a stored call like this: unchanged, without OpenAI's item, or with a number behind it,
 * as requests rename a call that reuses an id.
 */
export function isSameCallId(stored: string, input: string): boolean {
  if (input === stored || input === callIdOf(stored)) return true;
  return input.startsWith(`${stored}_`) && /^\d+$/.test(input.slice(stored.length + 1));
}

/** Lists the content of a message, with consecutive texts joined, and without blank ones. */
function saidBy(message: Message, ignored: ReadonlySet<unknown>): unknown[] {
  // Forms of one text per result join the lines of several.
  const separator = message.role === "toolResult" ? "\n" : "";
  const said: unknown[] = [];
  for (const { type, text, thinking, data, id, name, arguments: args } of fieldsOfBlocks(message)) {
    const last = said.at(-1);
    const isBlank =
      (type === "text" && String(text).trim() === "") || (type === "thinking" && thinking === "");
    if (isBlank || ignored.has(type)) continue;
    if (type === "text" && typeof last === "string") said.splice(-1, 1, last + separator + String(text));
    else if (type === "text") said.push(String(text));
    else said.push({ type, thinking, data, id, name, args });
  }
  return said;
}

function isSameSaid(stored: readonly unknown[], input: readonly unknown[]): boolean {
  return stored.length === input.length && stored.every((one, at) => isSameBlock(one, input[at]));
}

function isSameBlock(stored: unknown, input: unknown): boolean {
  const { id: storedId } = fieldsOf(stored);
  const { id: inputId } = fieldsOf(input);
  if (typeof storedId !== "string" || typeof inputId !== "string") return isSameJson(stored, input);
  if (!isSameCallId(storedId, inputId)) return false;
  return isSameJson({ ...fieldsOf(stored), id: "" }, { ...fieldsOf(input), id: "" });
}

function fieldsOfBlocks(message: AgentMessage): JsonRecord[] {
  return blocksOf(fieldsOf(message)["content"]).map(fieldsOf);
}

/** Returns the kept originals of a message, in the forms that another message has as well. */
function keptOf(message: object, other: object): unknown[] {
  const { details } = fieldsOf(message);
  const others = fieldsOf(fieldsOf(other)["details"]);
  return Object.entries(fieldsOf(details))
    .filter(([form]) => others[form] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
