import { getTexts } from "../../../core/context/content-text.ts";
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
import { toDataUrl } from "../../convert/images.ts";
import { getCallId } from "../../convert/tool-ids.ts";
import { type AppliedOperation, readItemRecord } from "./item-record.ts";

/** An entry in the context and its items. */
export interface HistoryPart {
  readonly entry: SessionEntry;
  readonly items: readonly JsonObject[];
}

/**
 * Reads the items on the active branch. Creates items for messages that were not stored as items.
 *
 * Omits items that a compaction or a context edit removes from the context.
 *
 * @returns Parts in context order. Entries without items are omitted.
 */
export function readHistory(session: SessionManager): HistoryPart[] {
  const { entries } = session.buildSessionProjection();
  const edits = new Map<string, ContextEditEntry>();
  for (const { sourceEntry } of entries) {
    if (isContextEdit(sourceEntry)) edits.set(sourceEntry.targetId, sourceEntry);
  }
  return entries.flatMap(({ sourceEntry: entry, messages }): HistoryPart[] => {
    // A compaction that has no messages is not the one at the start of the context.
    if (isContextEdit(entry) || (entry.type === "compaction" && messages.length === 0)) return [];
    // After another writer's edit, the stored items no longer match the message.
    const record = readItemRecord(edits.get(entry.id) ?? entry);
    const items = record === undefined ? makeItems(messages) : record.items;
    return items.length === 0 ? [] : [{ entry, items }];
  });
}

/** Reads the operations applied on the active branch. Returns the digest of each by id. */
export function readOperations(session: SessionManager): Map<string, string> {
  return new Map(collectOperations(session.getBranch()).map(({ id, digest }) => [id, digest]));
}

/** Collects the operations recorded in entries. */
export function collectOperations(entries: readonly SessionEntry[]): AppliedOperation[] {
  return entries.flatMap((entry) => readItemRecord(entry)?.operations ?? []);
}

/**
 * Creates items for messages that were not stored as items, such as messages from another program's session.
 *
 * Omits answers that failed or were aborted, and omits thinking, because a provider accepts only its own thinking items.
 */
function makeItems(messages: readonly AgentMessage[]): JsonObject[] {
  return convertToLlm(messages).flatMap(toItems);
}

function toItems(message: Message): JsonObject[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: joinPartTexts(message.content) }];
    case "user":
      return [{ type: "message", role: "user", content: toContent(message.content) }];
    case "assistant":
      return isUnfinished(message) ? [] : makeAnswerItems(message);
    case "toolResult":
      return [makeResultItem(message)];
  }
}

function makeAnswerItems({ content }: AssistantMessage): JsonObject[] {
  return content.flatMap((block): JsonObject[] => {
    if (block.type === "text" && block.text !== "") return [makeSpokenItem(block.text)];
    if (block.type !== "toolCall") return [];
    const { id, name, arguments: args } = block;
    return [
      {
        type: "function_call",
        callId: getCallId(id),
        name,
        arguments: JSON.stringify(args),
        status: "completed",
      },
    ];
  });
}

function makeSpokenItem(text: string): JsonObject {
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

function makeResultItem({ toolCallId, toolName, content }: ToolResultMessage): JsonObject {
  const hasImage = content.some(({ type }) => type === "image");
  return {
    type: "function_call_result",
    name: toolName,
    callId: getCallId(toolCallId),
    status: "completed",
    output: hasImage ? content.map(toItemPart) : joinPartTexts(content),
  };
}

function toContent(content: string | (TextContent | ImageContent)[]): string | JsonObject[] {
  return typeof content === "string" ? content : content.map(toItemPart);
}

function toItemPart(block: TextContent | ImageContent): JsonObject {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", image: toDataUrl(block) };
}

function joinPartTexts(content: string | (TextContent | ImageContent)[]): string {
  return getTexts(content).join("\n");
}
