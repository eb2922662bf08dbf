import type { UnknownEntry } from "../../../core/format/entry.ts";
import { readMessageDocument } from "../../../core/format/foreign-form.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type Draft, entryIdOf, SessionBuilder } from "../session-builder.ts";
import { issueAt } from "../source-text.ts";
import { isoTimeOf, member, textOf } from "../source-values.ts";
import { convertItems } from "./convert-items.ts";

/** Stored messages of an SDK. */
export interface MessagesInput {
  /** An array of messages or items, a request with its instructions, or a stored chat; parsed from JSON. */
  readonly document: unknown;
  /** Id of the conversation. */
  readonly sourceId: string;
  /** Path of the file. */
  readonly path?: string;
  readonly cwd?: string;
  /** Time of messages without one, ISO 8601; after a message with a time, they get that time. */
  readonly startedAt: string;
  /** ISO 8601. */
  readonly importedAt: string;
}

/**
 * Converts an array of messages to a session, with the converters of `sessiontree/convert`.
 *
 * Ids are derived from a message's content and everything before it: a longer array appends, and one that was changed in
 * the middle makes a branch.
 *
 * @returns Undefined if the value is not such an array, or is empty.
 * @throws {TypeError} If a message is not one of its SDK's.
 * @remarks Cost: O(messages). Source: docs/import-records.md#arrays-of-messages
 */
export function importMessages(input: MessagesInput): ImportedSession | undefined {
  const document = readMessageDocument(input.document);
  if (document === undefined) return undefined;
  const { items, form } = document;
  const times = timesOf(items, input.startedAt);
  const { messages, issues } = convertItems(document, {
    timestamp: (index) => Date.parse(times[index] ?? times[0] ?? input.startedAt),
  });
  const builder = new SessionBuilder(input, {
    source: "messages",
    sourceId: input.sourceId,
    sourceVersion: form,
    startedAt: times[0] ?? input.startedAt,
  });
  builder.counts.records = items.length;
  let last: Draft | undefined;
  for (const message of messages) {
    const key = keyOf((last ?? builder.tip).id, message);
    last = builder.addMessage(key, last, message.timestamp, message);
  }
  const left = issues.filter(({ code }) => code.endsWith("_DROPPED"));
  builder.issues.push(...left.map(issueOf));
  builder.drop("message", left.filter(({ code }) => code === "MESSAGE_DROPPED").length);
  return builder.finish();
}

/** Returns the key for a message entry's id, which depends on all messages up to there. */
function keyOf(parentId: string, message: object): string {
  const { timestamp: _, ...said } = { timestamp: undefined, ...message };
  return `message ${parentId} ${encodeParsed(said)}`;
}

/** Tells whether an entry was made from a message in an array, this one or an older one. */
export function isOfMessageArray({ id, parentId, message }: UnknownEntry): boolean {
  return parentId !== null && isJsonRecord(message) && id === entryIdOf(keyOf(parentId, message));
}

/** Finds the time of each message: its own, else that of the previous one. */
function timesOf(items: readonly JsonRecord[], startedAt: string): string[] {
  let time = startedAt;
  return items.map((item) => {
    const told = item["createdAt"] ?? item["timestamp"] ?? member(item, "metadata")["createdAt"];
    time = isoTimeOf(told) ?? time;
    return time;
  });
}

function issueOf({ index, message }: ConversionIssue): SessionIssue {
  return issueAt("MESSAGE_FOREIGN", `Message ${index}: ${message}`);
}

/** Returns the id that a document gives its conversation; undefined if it gives none. */
export function conversationIdOf(document: unknown): string | undefined {
  return textOf(readMessageDocument(document)?.id);
}
