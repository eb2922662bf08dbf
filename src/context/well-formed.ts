import type { TextContent } from "../schema/content.ts";
import type { AgentMessage, Message, SystemMessage } from "../schema/message.ts";
import { withBlobImages } from "./blob-images.ts";
import { fieldsOf, isContent } from "./entry-fields.ts";

/**
 * Gives a stored message content where it has none, and an assistant's text as the one block that it is.
 *
 * @returns The very object if nothing is to be done.
 */
export function withContent(message: Message): Message;
export function withContent(message: AgentMessage): AgentMessage;
export function withContent(message: AgentMessage): AgentMessage {
  switch (message.role) {
    case "user":
    case "toolResult":
      return isContent(message.content) ? message : { ...message, content: [] };
    case "assistant":
      return Array.isArray(message.content) ? message : { ...message, content: blocksOf(message.content) };
    case "system":
      return isContent(message.content) ? message : { ...message, content: "" };
    default:
      return message;
  }
}

/**
 * Gives a message the form that its role has in a request, so that no client stumbles over what somebody stored.
 *
 * A text where the role holds blocks becomes one text block, a bare name among `toolsRemoved` a reference, and an image
 * that is not in the message a note.
 *
 * @returns The very object if nothing is to be done.
 */
export function wellFormed(stored: Message): Message {
  const message = withBlobImages(withContent(stored));
  if (message.role === "system") return withToolReferences(message);
  if (message.role !== "toolResult" || Array.isArray(message.content)) return message;
  return { ...message, content: blocksOf(message.content) };
}

/** Returns the blocks of what stands in the place of a list of blocks. */
function blocksOf(content: unknown): TextContent[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

function withToolReferences(message: SystemMessage): SystemMessage {
  const { toolsRemoved: removed } = fieldsOf(message);
  if (!Array.isArray(removed) || !removed.some((tool) => typeof tool === "string")) return message;
  return {
    ...message,
    toolsRemoved: removed.map((tool) => (typeof tool === "string" ? { name: tool } : tool)),
  };
}
