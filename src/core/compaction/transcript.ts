import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts, takeStart, toJson } from "../context/message-parts.ts";
import { ARRAY, assertArgument } from "../format/arguments.ts";
import { isJsonRecord } from "../format/json.ts";
import type { Message } from "../format/message.ts";
import { estimateTextTokens, type TokenCounter } from "./tokens.ts";

const TRANSCRIPT_TOOL_RESULT_LENGTH = 2000;

/**
 * Formats a conversation as text that a model can summarize instead of continuing the conversation.
 *
 * Omits thinking, images, and system messages. Truncates tool results to 2,000 UTF-16 code units.
 *
 * @param messages - As returned by `convertToLlm`.
 * @returns The parts, joined by blank lines; `""` if no message has text or calls.
 * @remarks Cost: O(size of the messages). Source: docs/compaction.md#summary-text
 */
export function serializeConversation(messages: readonly Message[]): string {
  assertArgument("messages", messages, ARRAY);
  return messages.flatMap(formatTranscriptParts).join("\n\n");
}

function formatTranscriptParts(message: Message): string[] {
  const { role, content } = toRecord(message);
  switch (role) {
    case "user":
      return formatLabeled("User", getTexts(content).join(""));
    case "assistant":
      return [
        ...formatLabeled("Assistant", getTexts(content).join("\n")),
        ...formatLabeled("Assistant tool calls", formatCalls(message).join("; ")),
      ];
    case "toolResult":
      return formatLabeled(
        "Tool result",
        shortenText(getTexts(content).join(""), TRANSCRIPT_TOOL_RESULT_LENGTH),
      );
    default:
      return [];
  }
}

function formatLabeled(label: string, text: string): string[] {
  return text === "" ? [] : [`[${label}]: ${text}`];
}

function formatCalls(message: Message): string[] {
  return getMessageParts(message).flatMap((part) => (part.kind === "toolCall" ? describeCall(part) : []));
}

/**
 * Formats a call as `name(key=json, …)`. Omits keys without a JSON value. Arguments that are not an object are formatted as JSON.
 */
export function describeCall(call: { readonly name: string; readonly arguments: unknown }): string {
  if (!isJsonRecord(call.arguments)) return `${call.name}(${toJson(call.arguments ?? undefined)})`;
  const described = Object.entries(call.arguments).flatMap(([key, value]) => {
    const json = toJson(value);
    return json === "" ? [] : `${key}=${json}`;
  });
  return `${call.name}(${described.join(", ")})`;
}

/**
 * Truncates a string to a number of UTF-16 code units without splitting a surrogate pair, and appends the number of removed
 * units: `[... N more characters truncated]`.
 */
export function shortenText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = takeStart(text, limit);
  return `${head}\n\n[... ${text.length - head.length} more characters truncated]`;
}

/** Shortens a string to a number of tokens by omitting its middle. A marker in the middle states the omitted length. */
export function fitTokens(text: string, maxTokens: number, counter?: TokenCounter): string {
  if (maxTokens === Number.POSITIVE_INFINITY) return text;
  let limit = text.length;
  let fitting = text;
  // Repeats the estimate, because the ends may contain more tokens than the middle.
  for (let used = estimateTextTokens(text, counter); used > maxTokens && limit > 0; ) {
    limit = Math.floor((limit * maxTokens) / used);
    fitting = withoutMiddle(text, limit);
    used = estimateTextTokens(fitting, counter);
  }
  return fitting;
}

/** Omits the middle of a string without splitting a surrogate pair, and states the omitted length. */
function withoutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.max(0, Math.floor(limit / 2));
  const head = takeStart(text, half);
  const tail = text.slice(takeStart(text, text.length - half).length);
  const left = text.length - head.length - tail.length;
  return `${head}\n\n[... ${left} characters left out]\n\n${tail}`;
}
