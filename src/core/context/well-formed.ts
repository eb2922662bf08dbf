import type { TextContent } from "../format/content.ts";
import type { AgentMessage, Message, SystemMessage } from "../format/message.ts";
import { withBlobImages } from "./blob-images.ts";
import { isContent, toRecord } from "./entry-fields.ts";

/**
 * Adds missing content to a stored message, and turns an assistant's text into a block.
 *
 * @returns The same object if nothing had to change.
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
 * Brings a stored message into the form that its role has in a request, whatever was stored.
 *
 * Where the role needs blocks, a text becomes one. A bare name in `toolsRemoved` becomes a reference, and an image
 * that is not in the message a note.
 *
 * @returns The same object if nothing had to change.
 */
export function toWellFormed(stored: Message): Message {
  const message = withBlobImages(withContent(stored));
  if (message.role === "system") return withToolReferences(message);
  if (message.role !== "toolResult" || Array.isArray(message.content)) return message;
  return { ...message, content: toTextBlocks(message.content) };
}

/** Returns a text as a block; nothing for anything else. */
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
