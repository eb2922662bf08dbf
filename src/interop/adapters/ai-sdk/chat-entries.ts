import { toRecord } from "../../../core/context/entry-fields.ts";
import { readLateDetails, withLateDetails } from "../../../core/context/late-details.ts";
import type { SessionEntry, SessionMessageEntry } from "../../../core/format/entry.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { CHAT_DETAIL } from "../../../core/format/redact-entry.ts";
import { type WrittenMessage, writeUIMessages } from "../../convert/ai-sdk/to-ui-messages.ts";

/** A UI message and its entries. */
export interface ChatMessage extends WrittenMessage {
  /** Entries of the user message or of the answers, excluding results. */
  readonly entries: readonly SessionMessageEntry[];
  /** Entries for the results of the calls in these answers. */
  readonly results: readonly SessionMessageEntry[];
  /** Messages of these entries, including details added later. */
  readonly said: readonly AgentMessage[];
}

const SPOKEN: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/** Returns the UI messages on a path, each with its entries. */
export function readChat(path: readonly SessionEntry[]): ChatMessage[] {
  const late = new Map(
    path.flatMap((entry) => {
      const found = readLateDetails(entry);
      return found === undefined ? [] : [[found.targetId, found.details] as const];
    }),
  );
  const entries = path.filter(isSpoken);
  const messages = entries.map(({ id, message }) => {
    const details = late.get(id);
    return details === undefined ? message : withLateDetails(message, details);
  });
  const isFirst = (index: number) => findSavedId(entries[index]) !== undefined;
  const { written } = writeUIMessages(messages, { id: (index) => findChatId(entries[index]) }, isFirst);
  return written.map((message) => ({
    ...message,
    entries: message.indexes.flatMap((index) => entries[index] ?? []),
    results: message.resultIndexes.flatMap((index) => entries[index] ?? []),
    said: message.indexes.flatMap((index) => messages[index] ?? []),
  }));
}

function isSpoken(entry: SessionEntry): entry is SessionMessageEntry {
  return entry.type === "message" && SPOKEN.has(entry.message?.role);
}

function findChatId(entry: SessionEntry | undefined): string {
  return findSavedId(entry) || (entry?.id ?? "");
}

/**
 * Returns the id of the UI message that begins with this entry. Empty if that message had no id; undefined if no saved UI message
 * begins with this entry.
 */
export function findSavedId(entry: SessionEntry | undefined): string | undefined {
  const { id } = toRecord(toRecord(toRecord(entry)["details"])[CHAT_DETAIL]);
  return typeof id === "string" ? id : undefined;
}
