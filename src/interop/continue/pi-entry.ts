import { getMessageFields, toContentBlocks, toRecord } from "../../core/context/entry-fields.ts";
import type { SessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { toUsage } from "../convert/answer.ts";

/**
 * Returns an entry as pi can continue after it: other writers leave out the usage of an answer, or the id of a call, and store a
 * text instead of blocks; pi ends at any of these.
 *
 * @returns The entry itself if nothing is missing; undefined for a result that names no call.
 */
export function toPiEntry(entry: SessionEntry): object | undefined {
  const message = getMessageFields(entry);
  const { role, content, toolCallId, usage } = message;
  if (role !== "assistant" && role !== "toolResult") return entry;
  if (role === "toolResult" && typeof toolCallId !== "string") return undefined;
  const blocks = toContentBlocks(content).filter(isReadable);
  const isWhole = Array.isArray(content) && blocks.length === content.length;
  const hasUsage = role === "toolResult" || isJsonRecord(usage);
  if (isWhole && hasUsage) return entry;
  const completed: JsonRecord = { ...message, content: blocks, ...(!hasUsage && { usage: toUsage() }) };
  return { ...entry, message: completed };
}

function isReadable(block: unknown): boolean {
  const { type, id } = toRecord(block);
  return isJsonRecord(block) && (type !== "toolCall" || typeof id === "string");
}
