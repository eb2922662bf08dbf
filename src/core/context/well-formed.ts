import type { TextContent } from "../format/content.ts";
import type { AgentMessage, Message, SystemMessage } from "../format/message.ts";
import { withBlobImages } from "./blob-images.ts";
import { isContent, toRecord } from "./entry-fields.ts";

/**
 * Adds missing content to a stored message, and converts the string of an assistant message to a block.
 *
 * @returns The same object if no changes were necessary.
 */
export function withContent(message: Message): Message;
export function withContent(message: AgentMessage): AgentMessage;
export function withContent(message: AgentMessage): AgentMessage {
  switch (message.role) {
    case "user":
    case "toolResult":
      return isContent(message.content) ? message : { ...message, content: [] };
    case "assistant":
      return Array.isArray(message.content)
        ? message
        : { ...message, content: toTextBlocks(message.content) };
    case "system":
      return isContent(message.content) ? message : { ...message, content: "" };
    default:
      return message;
  }
}

/**
 * Converts a stored message to the form that requests require for its role, regardless of its stored form.
 *
 * If the role requires blocks, a string is converted to a block. A bare name in `toolsRemoved` is converted to a reference, and
 * an image that is not stored in the message is replaced with a note.
 *
 * @returns The same object if no changes were necessary.
 */
export function toWellFormed(stored: Message): Message {
  const message = withBlobImages(withContent(stored));
  if (message.role === "system") return withToolReferences(message);
  if (message.role !== "toolResult" || Array.isArray(message.content)) return message;
  return { ...message, content: toTextBlocks(message.content) };
}

/** Returns a string as a text block, or an empty array for any other value. */
function toTextBlocks(content: unknown): TextContent[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

function withToolReferences(message: SystemMessage): SystemMessage {
  const { toolsRemoved: removed } = toRecord(message);
  if (!Array.isArray(removed) || !removed.some((tool) => typeof tool === "string")) return message;
  return {
    ...message,
    toolsRemoved: removed.map((tool) => (typeof tool === "string" ? { name: tool } : tool)),
  };
}
