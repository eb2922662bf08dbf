import { toArray, toContentBlocks } from "../../../core/context/entry-fields.ts";
import type { UnknownEntry } from "../../../core/format/entry.ts";
import {
  isSystemMessage,
  type MessageDocument,
  readMessageDocument,
} from "../../../core/format/foreign-form.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { fromModelMessages } from "../../convert/ai-sdk/from-model-messages.ts";
import { fromUIMessages } from "../../convert/ai-sdk/from-ui-messages.ts";
import { fromAnthropic } from "../../convert/anthropic/from-anthropic.ts";
import { fromBedrock } from "../../convert/bedrock/from-bedrock.ts";
import type { ConversionIssue } from "../../convert/conversion-issue.ts";
import type { MessageImportOptions } from "../../convert/conversion-options.ts";
import { fromGemini } from "../../convert/gemini/from-gemini.ts";
import { fromLangChain } from "../../convert/langchain/from-langchain.ts";
import type { ConvertedMessages } from "../../convert/message-history.ts";
import { fromOpenAIChat } from "../../convert/openai-chat/from-openai-chat.ts";
import { fromOpenAIResponses } from "../../convert/openai-responses/from-openai-responses.ts";
import type { ImportedSession } from "../imported-session.ts";
import { type BuilderInput, type Draft, makeEntryId, SessionBuilder } from "../session-builder.ts";
import { getMember, makeIssue, toIsoTime, toNonemptyText } from "../source-text.ts";

/** Messages stored by an SDK. */
export interface MessagesInput extends BuilderInput {
  /** Parsed JSON: an array of messages or items, a request with its instructions, or a stored chat. */
  readonly document: unknown;
  /** Id of the conversation. */
  readonly sourceId: string;
  /** Default time for messages without a time, ISO 8601. After a message with a time, that message's time is used instead. */
  readonly startedAt: string;
}

/**
 * Converts an array of messages to a session, using the converters of `sessiontree/convert`.
 *
 * An id is derived from a message's content and everything before it. A longer array therefore appends entries, and an array
 * that was changed in the middle creates a branch.
 *
 * @returns Undefined if the value does not contain an array of messages, or if the array is empty.
 * @throws {TypeError} If a message does not have its SDK's format.
 * @remarks Cost: O(messages). Source: docs/import-records.md#arrays-of-messages
 */
export function importMessages(input: MessagesInput): ImportedSession | undefined {
  const document = readMessageDocument(input.document);
  if (document === undefined) return undefined;
  const { items, form } = document;
  const times = findTimes(items, input.startedAt);
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
    const key = makeMessageKey((last ?? builder.tip).id, message);
    last = builder.addMessage(key, last, message.timestamp, message);
  }
  const left = issues.filter(({ code }) => code.endsWith("_DROPPED"));
  builder.issues.push(...left.map(toIssue));
  builder.drop("message", left.filter(({ code }) => code === "MESSAGE_DROPPED").length);
  return builder.finish();
}

/** Returns the key for a message entry's id. It depends on all messages up to and including this message. */
function makeMessageKey(parentId: string, message: object): string {
  const { timestamp: _, ...said } = { timestamp: undefined, ...message };
  return `message ${parentId} ${encodeParsed(said)}`;
}

/** Returns whether an entry was created from a message in an array, by this import or an earlier import. */
export function isOfMessageArray({ id, parentId, message }: UnknownEntry): boolean {
  return parentId !== null && isJsonRecord(message) && id === makeEntryId(makeMessageKey(parentId, message));
}

/** Returns the time of each message: its own time, or the previous message's time. */
function findTimes(items: readonly JsonRecord[], startedAt: string): string[] {
  let time = startedAt;
  return items.map((item) => {
    const told = item["createdAt"] ?? item["timestamp"] ?? getMember(item, "metadata")["createdAt"];
    time = toIsoTime(told) ?? time;
    return time;
  });
}

function toIssue({ index, message }: ConversionIssue): SessionIssue {
  // The instructions of a request have no index.
  return makeIssue("MESSAGE_FOREIGN", index === -1 ? message : `Message ${index}: ${message}`);
}

/** Returns the conversation id that a document specifies; undefined if it does not specify an id. */
export function findConversationId(document: unknown): string | undefined {
  return toNonemptyText(readMessageDocument(document)?.id);
}

type Content = string | readonly { readonly type: string }[];

/** Converts the messages in a document using their SDK's converter. */
function convertItems(document: MessageDocument, options: MessageImportOptions): ConvertedMessages {
  const { form, items } = document;
  const instructions = toNonemptyText(document.instructions);
  switch (form) {
    case "anthropic": {
      const system = instructions ?? toTextBlocks(document.instructions);
      const messages = items.map((item, i) =>
        toMessage(withoutTime(item), i, ["user", "assistant", "system"]),
      );
      return fromAnthropic({ messages, ...(system !== undefined && { system }) }, options);
    }
    case "bedrock": {
      const messages = items.map((item) => ({
        ...withoutTime(item),
        role: toNonemptyText(item["role"]),
        content: toContentBlocks(item["content"]).filter(isJsonRecord),
      }));
      const system = toContentBlocks(document.instructions).filter(isJsonRecord);
      return fromBedrock({ messages, system }, options);
    }
    case "openai-chat":
      return fromOpenAIChat(
        items.map((item, i) => ({ ...item, ...normalizeChatFields(item, i) })),
        options,
      );
    case "openai-responses":
      return fromOpenAIResponses(
        { input: items.map(normalizeResponsesItem), instructions: instructions ?? null },
        options,
      );
    case "gemini": {
      const contents = items.map((item) => ({
        ...withoutTime(item),
        role: toNonemptyText(item["role"]),
        parts: toArray(item["parts"]).filter(isJsonRecord),
      }));
      const systemInstruction = instructions ?? toGeminiText(document.instructions);
      return fromGemini({ contents, ...(systemInstruction !== undefined && { systemInstruction }) }, options);
    }
    case "langchain":
      return fromLangChain(items.map(normalizeLangChainMessage), options);
    case "model-messages": {
      const messages = items.map((item, i) => toMessage(item, i, ["system", "user", "assistant", "tool"]));
      const system = instructions ?? [document.instructions].flat().filter(isSystemMessage);
      return fromModelMessages({ messages, instructions: system }, options);
    }
    case "ui-messages":
      return fromUIMessages(
        items.map((item, i) => ({
          ...item,
          id: toNonemptyText(item["id"]) ?? String(i),
          role: getRole(item, i, ["system", "user", "assistant"]),
          parts: toArray(item["parts"]).flatMap(toTypedBlocks),
        })),
        options,
      );
    default:
      return form satisfies never;
  }
}

/** Normalizes a message. Messages serialized by a checkpointer have their own type. */
function normalizeLangChainMessage(item: JsonRecord) {
  return { ...item, type: toSafeString(item["type"]) };
}

/** Normalizes an item. Items that are messages may have no type. */
function normalizeResponsesItem(item: JsonRecord, index: number) {
  const type = toNonemptyText(item["type"]);
  return type === undefined
    ? { ...item, role: toSafeString(item["role"]), content: toContent(item, index) }
    : { ...item, type };
}

function getRole<Role extends string>({ role }: JsonRecord, index: number, roles: readonly Role[]): Role {
  const found = roles.find((one) => one === role);
  if (found === undefined) throw new TypeError(`Message ${index} has the role ${JSON.stringify(role)}.`);
  return found;
}

function toMessage<Role extends string>(item: JsonRecord, index: number, roles: readonly Role[]) {
  return { ...item, role: getRole(item, index, roles), content: toContent(item, index) };
}

/** Removes the fields that were converted to the message's time. */
function withoutTime({ createdAt: _, timestamp: __, ...item }: JsonRecord): JsonRecord {
  return item;
}

const CHAT_ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

function normalizeChatFields(item: JsonRecord, index: number) {
  const { content } = item;
  const isNone = content === null || content === undefined;
  return { role: getRole(item, index, CHAT_ROLES), content: isNone ? null : toContent(item, index) };
}

function toContent({ content }: JsonRecord, index: number): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new TypeError(`Message ${index} has no content.`);
  return content.flatMap(toTypedBlocks);
}

/** Returns a block if it has a type. Drops other values, because their meaning is unknown. */
function toTypedBlocks(block: unknown): { readonly type: string; readonly [field: string]: unknown }[] {
  const type = isJsonRecord(block) ? toNonemptyText(block["type"]) : undefined;
  return isJsonRecord(block) && type !== undefined ? [{ ...block, type }] : [];
}

function toTextBlocks(value: unknown): { type: "text"; text: string }[] | undefined {
  const blocks = toArray(value).flatMap((block) => {
    const text = isJsonRecord(block) ? toNonemptyText(block["text"]) : undefined;
    return text === undefined ? [] : [{ type: "text" as const, text }];
  });
  return blocks.length === 0 ? undefined : blocks;
}

function toGeminiText(value: unknown): { parts: JsonRecord[] } | undefined {
  const parts = toArray(isJsonRecord(value) ? value["parts"] : undefined).filter(isJsonRecord);
  return parts.length === 0 ? undefined : { parts };
}
