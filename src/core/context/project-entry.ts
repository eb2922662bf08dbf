import { assertArgument } from "../format/arguments.ts";
import type { AnySessionEntry, ContextEditEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  CompactionSummaryMessage,
  CustomMessage,
  ToolResultMessage,
  UserMessage,
} from "../format/message.ts";
import { OBJECT } from "../format/options.ts";
import { isContent, isStoredMessage, toRecord } from "./entry-fields.ts";
import { toText } from "./message-parts.ts";
import { withContent } from "./well-formed.ts";

/** Messages whose content a context edit can replace. */
type EditableMessage = UserMessage | AssistantMessage | ToolResultMessage | CustomMessage;

/**
 * Returns the messages that one entry contributes to a context.
 *
 * Accepts any entry that a file can contain. Missing content is treated as empty. A stored message with content is returned as the same object, except that an
 * assistant message's string is converted to a block.
 *
 * @param entry - The entry; a compaction is treated as the first entry of the context.
 * @param edit - Context edit to apply, regardless of its target. A malformed edit is ignored.
 * @returns The messages in order; empty if the entry contributes nothing.
 * @throws {TypeError} If the entry is not an object.
 * @remarks Cost: O(1), or O(retained tail) for a compaction with a retained tail. Source: docs/format.md#context
 */
export function projectContextEntry(entry: AnySessionEntry, edit?: ContextEditEntry): AgentMessage[] {
  assertArgument("entry", entry, OBJECT);
  return projectSelectedEntry(entry, edit);
}

/**
 * Returns the messages of an entry that `selectEntries` selected, as `projectContextEntry` does.
 *
 * @param keepsTail - Whether a compaction's `retainedTail` is included. Default: true if the compaction does not identify a kept
 * entry.
 */
export function projectSelectedEntry(
  entry: AnySessionEntry,
  edit: ContextEditEntry | undefined,
  keepsTail?: boolean,
): AgentMessage[] {
  const replacement = edit !== undefined && isContextEdit(edit) ? edit.replacement : undefined;
  if (replacement === null) return [];
  const fields = toRecord(entry);
  switch (entry.type) {
    case "message":
      return toEditedMessages(toStoredMessage(fields["message"]), replacement?.content);
    case "custom_message":
      return toEditedMessages(makeCustomMessage(fields), replacement?.content);
    case "compaction":
      return makeCompactionMessages(fields, keepsTail ?? hasNoKeptEntry(entry));
    case "branch_summary":
      return makeBranchSummaryMessages(fields);
    default:
      return [];
  }
}

/** Returns the messages that one entry contributes to a context without context edits. */
export function sessionEntryToContextMessages(entry: AnySessionEntry): AgentMessage[] {
  return projectContextEntry(entry);
}

/** Returns whether an entry is a well-formed context edit. */
export function isContextEdit(entry: AnySessionEntry): entry is ContextEditEntry {
  const { type, targetId, replacement } = toRecord(entry);
  if (type !== "context_edit" || typeof targetId !== "string") return false;
  return replacement === null || isContent(toRecord(replacement)["content"]);
}

function hasNoKeptEntry(entry: AnySessionEntry): boolean {
  const { firstKeptEntryId } = toRecord(entry);
  return typeof firstKeptEntryId !== "string" || firstKeptEntryId === "" || firstKeptEntryId === entry.id;
}

function toStoredMessage(value: unknown): AgentMessage | undefined {
  return isStoredMessage(value) ? withContent(value) : undefined;
}

function toEditedMessages(message: AgentMessage | undefined, content: unknown): AgentMessage[] {
  if (message === undefined) return [];
  return [content === undefined ? message : withReplacement(message, content)];
}

function withReplacement(message: AgentMessage, content: unknown): AgentMessage {
  switch (message.role) {
    case "user":
    case "custom":
      return replaceContent(message, content);
    case "assistant":
    case "toolResult":
      return replaceContent(
        message,
        typeof content === "string" ? [{ type: "text", text: content }] : content,
      );
    default:
      return message;
  }
}

function replaceContent<M extends EditableMessage>(message: M, content: unknown): M {
  return isValidContent<M>(content) ? { ...message, content } : message;
}

function isValidContent<M extends EditableMessage>(content: unknown): content is M["content"] {
  return isContent(content);
}

/** Creates the message for a `custom_message` entry, with only the fields that the entry has. */
function makeCustomMessage(fields: JsonRecord): AgentMessage | undefined {
  const message: JsonRecord = { role: "custom" };
  for (const name of ["customType", "content", "display", "details"]) {
    if (fields[name] !== undefined) message[name] = fields[name];
  }
  if (!isContent(message["content"])) message["content"] = [];
  message["timestamp"] = toUnixMillis(fields["timestamp"]);
  return isStoredMessage(message) ? message : undefined;
}

function makeCompactionMessages(fields: JsonRecord, keepsTail: boolean): AgentMessage[] {
  const messages: AgentMessage[] = [];
  const system = toStoredMessage(fields["systemMessage"]);
  if (system?.role === "system") messages.push(system);
  messages.push(makeCompactionSummary(fields));
  if (!keepsTail || !Array.isArray(fields["retainedTail"])) return messages;
  for (const value of fields["retainedTail"]) {
    const message = toStoredMessage(value);
    if (message !== undefined) messages.push(message);
  }
  return messages;
}

function makeCompactionSummary(fields: JsonRecord): CompactionSummaryMessage {
  const { summary, tokensBefore } = fields;
  return {
    role: "compactionSummary",
    summary: toText(summary),
    tokensBefore: typeof tokensBefore === "number" ? tokensBefore : 0,
    timestamp: toUnixMillis(fields["timestamp"]),
  };
}

function makeBranchSummaryMessages(fields: JsonRecord): AgentMessage[] {
  const { summary, fromId } = fields;
  if (typeof summary !== "string" || summary === "") return [];
  const from = typeof fromId === "string" ? fromId : null;
  return [{ role: "branchSummary", summary, fromId: from, timestamp: toUnixMillis(fields["timestamp"]) }];
}

/** Returns an entry's time in Unix milliseconds, from a number or ISO 8601; 0 if it is unreadable. */
function toUnixMillis(timestamp: unknown): number {
  const timeMs = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
  return typeof timeMs === "number" && Number.isFinite(timeMs) ? timeMs : 0;
}
