import { isStoredMessage, toRecord } from "../../core/context/entry-fields.ts";
import { type AgentMessage, type AssistantMessage, UNKNOWN_NAME } from "../../core/format/message.ts";

/** Names in an answer that dialects compare. */
const NAMES = ["api", "provider", "model", "responseModel"] as const;

/**
 * Replaces the names and signatures in a stored answer that are not strings, as its type promises: names with `unknown`, and the
 * signatures of thinking, which no provider accepts, with nothing.
 *
 * @returns The same message if no changes were necessary.
 * @remarks Cost: O(blocks).
 */
export function withTypedFields(message: AgentMessage): AgentMessage {
  if (!isStoredMessage(message) || message.role !== "assistant") return message;
  const wrong = NAMES.filter((name) => !isTextOrMissing(message[name]));
  const { content } = message;
  const isSigned = Array.isArray(content) && content.some(isWronglySigned);
  if (wrong.length === 0 && !isSigned) return message;
  return {
    ...message,
    ...Object.fromEntries(wrong.map((name) => [name, UNKNOWN_NAME])),
    ...(isSigned && { content: content.map(withoutWrongSignature) }),
  };
}

function isTextOrMissing(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isWronglySigned(block: unknown): boolean {
  const { type, thinkingSignature } = toRecord(block);
  return type === "thinking" && !isTextOrMissing(thinkingSignature);
}

function withoutWrongSignature(block: AssistantMessage["content"][number]) {
  if (!isWronglySigned(block) || block.type !== "thinking") return block;
  const { thinkingSignature: _, ...unsigned } = block;
  return unsigned;
}
