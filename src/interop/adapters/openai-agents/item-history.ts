import { textsOf } from "../../../core/context/content-text.ts";
import { convertToLlm } from "../../../core/context/convert-to-llm.ts";
import { isContextEdit } from "../../../core/context/project-entry.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import type { ImageContent, TextContent } from "../../../core/format/content.ts";
import type { ContextEditEntry, SessionEntry } from "../../../core/format/entry.ts";
import type { JsonObject } from "../../../core/format/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  Message,
  ToolResultMessage,
} from "../../../core/format/message.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { dataUrlOf } from "../../convert/images.ts";
import { callIdOf } from "../../convert/tool-ids.ts";
import { type AppliedOperation, recordOf } from "./item-record.ts";

/** An entry of the context and its items. */
export interface HistoryPart {
  readonly entry: SessionEntry;
  readonly items: readonly JsonObject[];
}

/**
 * Reads the items of the active branch; makes items from messages that were not stored as items.
 *
 * Omits what a compaction or a context edit removes from the context.
 *
 * @returns Parts in the order of the context, without entries that have no items.
 */
export function readHistory(session: SessionManager): HistoryPart[] {
  const { entries } = session.buildSessionProjection();
  const edits = new Map<string, ContextEditEntry>();
  for (const { sourceEntry } of entries) {
    if (isContextEdit(sourceEntry)) edits.set(sourceEntry.targetId, sourceEntry);
  }
  return entries.flatMap(({ sourceEntry: entry, messages }): HistoryPart[] => {
    // A compaction without messages is not the one that the context begins with.
    if (isContextEdit(entry) || (entry.type === "compaction" && messages.length === 0)) return [];
    // After another writer's edit, the stored items no longer match the message.
    const record = recordOf(edits.get(entry.id) ?? entry);
    const items = record === undefined ? itemsOfMessages(messages) : record.items;
    return items.length === 0 ? [] : [{ entry, items }];
  });
}

/** Reads the operations that were applied on the active branch: the digest of each, by id. */
export function readOperations(session: SessionManager): Map<string, string> {
  return new Map(operationsOf(session.getBranch()).map(({ id, digest }) => [id, digest]));
}

/** Collects the operations that entries record. */
export function operationsOf(entries: readonly SessionEntry[]): AppliedOperation[] {
  return entries.flatMap((entry) => recordOf(entry)?.operations ?? []);
}

/**
 * Makes items from messages that were not stored as items, such as those of another program's session.
 *
 * Omits thinking, since a provider takes back only its own items, and answers that failed or were aborted.
 */
function itemsOfMessages(messages: readonly AgentMessage[]): JsonObject[] {
  return convertToLlm(messages).flatMap(itemsOf);
}

function itemsOf(message: Message): JsonObject[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: textOf(message.content) }];
    case "user":
      return [{ type: "message", role: "user", content: contentOf(message.content) }];
    case "assistant":
      return isUnfinished(message) ? [] : answerItems(message);
    case "toolResult":
      return [resultItem(message)];
  }
}

function answerItems({ content }: AssistantMessage): JsonObject[] {
  return content.flatMap((block): JsonObject[] => {
    if (block.type === "text" && block.text !== "") return [spoken(block.text)];
    if (block.type !== "toolCall") return [];
    const { id, name, arguments: args } = block;
    return [
      {
        type: "function_call",
        callId: callIdOf(id),
        name,
        arguments: JSON.stringify(args),
        status: "completed",
      },
    ];
  });
}

function spoken(text: string): JsonObject {
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

function resultItem({ toolCallId, toolName, content }: ToolResultMessage): JsonObject {
  const hasImage = content.some(({ type }) => type === "image");
  return {
    type: "function_call_result",
    name: toolName,
    callId: callIdOf(toolCallId),
    status: "completed",
    output: hasImage ? content.map(part) : textOf(content),
  };
}

function contentOf(content: string | (TextContent | ImageContent)[]): string | JsonObject[] {
  return typeof content === "string" ? content : content.map(part);
}

function part(block: TextContent | ImageContent): JsonObject {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", image: dataUrlOf(block) };
}

function textOf(content: string | (TextContent | ImageContent)[]): string {
  return textsOf(content).join("\n");
}
