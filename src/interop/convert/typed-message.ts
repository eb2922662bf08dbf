import { isStoredMessage, toRecord } from "../../core/context/entry-fields.ts";
import { type AgentMessage, type AssistantMessage, UNKNOWN_NAME } from "../../core/format/message.ts";

/** Names that every answer has. */
const NAMES = ["api", "provider", "model"] as const;

/**
 * Replaces names in a stored answer that are not strings with `unknown`, and removes the responding model and the signatures of
 * thinking that are not strings.
 *
 * @returns The same message if no changes were necessary.
 * @remarks Cost: O(blocks).
 */
export function withTypedFields(message: AgentMessage): AgentMessage {
  if (!isStoredMessage(message) || message.role !== "assistant") return message;
  const wrong = NAMES.filter((name) => !isTextOrMissing(message[name]));
  const { content, responseModel, ...rest } = message;
  const isSigned = Array.isArray(content) && content.some(isWronglySigned);
  if (wrong.length === 0 && !isSigned && isTextOrMissing(responseModel)) return message;
  return {
    ...rest,
    content,
    ...(typeof responseModel === "string" && { responseModel }),
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
