import { blocksOf, fieldsOf } from "../context/entry-fields.ts";
import { isUnfinished } from "../context/unfinished.ts";
import type { JsonRecord } from "../schema/json.ts";
import type { AgentMessage, Message } from "../schema/message.ts";
import { isSameJson } from "./raw-form.ts";
import { systemText } from "./system-text.ts";

/**
 * Tells whether a stored message and one of an array have the same content, as far as an array can tell.
 *
 * Ignores times, usage, signatures, `isError`, and calls of an answer that failed or was aborted, which arrays omit.
 * Compares thinking if the array has any, and kept originals if both have them.
 */
export function isSameMessage(stored: Message, given: Message): boolean {
  if (stored.role === "system" && given.role === "system")
    return systemText([stored]) === systemText([given]);
  if (stored.role !== given.role) return false;
  if (stored.role === "toolResult" && given.role === "toolResult" && stored.toolCallId !== given.toolCallId)
    return false;
  const hasThinking = fieldsOfBlocks(given).some(({ type }) => type === "thinking");
  return (
    isSameJson(saidBy(stored, hasThinking, isUnfinished(stored)), saidBy(given, hasThinking, false)) &&
    isSameJson(keptOf(stored, given), keptOf(given, stored))
  );
}

/** Lists the content of a message, with consecutive texts joined. */
function saidBy(message: Message, hasThinking: boolean, hasLostCalls: boolean): unknown[] {
  const said: unknown[] = [];
  for (const { type, text, thinking, data, id, name, arguments: given } of fieldsOfBlocks(message)) {
    const last = said.at(-1);
    if ((type === "thinking" && !hasThinking) || (type === "toolCall" && hasLostCalls)) continue;
    if (type === "text" && typeof last === "string") said.splice(-1, 1, last + String(text));
    else if (type === "text") said.push(String(text));
    else said.push({ type, thinking, data, id, name, given });
  }
  return said.filter((one) => one !== "");
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
