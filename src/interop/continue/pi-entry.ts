import {
  getMessageFields,
  isStoredMessage,
  toArray,
  toContentBlocks,
  toRecord,
} from "../../core/context/entry-fields.ts";
import type { CompactionEntry, SessionEntry } from "../../core/format/entry.ts";
import { inventEntryId } from "../../core/format/ids.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { toUsage } from "../convert/answer.ts";
import type { Open } from "../convert/conversion-options.ts";

/** An entry whose position in the file is not yet determined. */
export type PiEntry = Open<{ readonly id: string }>;

/**
 * Converts an entry to entries after which pi can continue.
 *
 * Other writers omit an answer's usage or a call's id, or store a string instead of blocks. pi crashes on each of these. pi also
 * ignores messages that are stored in a compaction, so they become entries before it, starting with its first kept entry.
 *
 * @param taken - Ids of the preceding entries.
 * @returns Only the entry itself if nothing is missing; empty for a damaged entry and for an entry type that pi does not support.
 */
export function toPiEntries(entry: SessionEntry, taken: ReadonlySet<string>): PiEntry[] {
  const { type }: { readonly type: string } = entry;
  if (type === "damaged" || type === "leaf") return [];
  if (entry.type === "compaction") return unrollTail(entry, taken);
  const message = getMessageFields(entry);
  const { role, content, toolCallId, usage } = message;
  if (role !== "assistant" && role !== "toolResult") return [entry];
  if (role === "toolResult" && typeof toolCallId !== "string") return [];
  const blocks = toContentBlocks(content).filter(isPiBlock);
  const isWhole = Array.isArray(content) && blocks.length === content.length;
  const hasUsage = role === "toolResult" || isJsonRecord(usage);
  if (isWhole && hasUsage) return [entry];
  const completed: JsonRecord = { ...message, content: blocks, ...(!hasUsage && { usage: toUsage() }) };
  return [{ ...entry, message: completed }];
}

function isPiBlock(block: unknown): boolean {
  const { type, id } = toRecord(block);
  return isJsonRecord(block) && (type !== "toolCall" || typeof id === "string");
}

function unrollTail(entry: CompactionEntry, taken: ReadonlySet<string>): PiEntry[] {
  const { retainedTail, ...compaction } = entry;
  const tail = toArray(retainedTail).filter(isStoredMessage);
  if (tail.length === 0 || taken.has(entry.firstKeptEntryId)) return [entry];
  const ids = new Set(taken);
  const { timestamp } = entry;
  const kept = tail.flatMap((message, place) => {
    const id = makeTailId(entry.id, place, ids);
    ids.add(id);
    return toPiEntries({ type: "message", id, parentId: null, timestamp, message }, ids);
  });
  return [...kept, { ...compaction, firstKeptEntryId: kept[0]?.id ?? entry.id }];
}

/** Derives a kept message's id, which is the same in every export. */
function makeTailId(compactionId: string, place: number, taken: ReadonlySet<string>): string {
  let attempt = 0;
  while (taken.has(inventEntryId(compactionId, place, attempt))) attempt++;
  return inventEntryId(compactionId, place, attempt);
}
