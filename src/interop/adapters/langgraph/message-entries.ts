import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { hashText } from "../../../core/format/ids.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { Message } from "../../../core/format/message.ts";
import { LANGGRAPH_DETAIL } from "../../../core/format/redact-entry.ts";
import type { EntryDraft } from "../../../session/manager/entry-draft.ts";
import { toUsage } from "../../convert/answer.ts";
import { fromLangChain } from "../../convert/langchain/from-langchain.ts";
import {
  normalizeMessage,
  toStoredRecord,
  writeAnswer,
  writeResult,
  writeUser,
} from "../../convert/langchain/langchain-content.ts";
import { isSameJson } from "../../convert/raw-form.ts";
import { spellCanonically } from "../stored-data.ts";

/** Pattern for the message classes that a session can store. */
const CLASSES = /^(?:Human|AI|System|Tool|Chat)Message(?:Chunk)?$/;

/** Message class for each role, unless the entry specifies a different class. */
const CLASS_OF_ROLE: ReadonlyMap<unknown, string> = new Map([
  ["user", "HumanMessage"],
  ["assistant", "AIMessage"],
  ["toolResult", "ToolMessage"],
  ["system", "SystemMessage"],
]);

/** Roles of messages whose content a context edit can change. */
const EDITABLE: ReadonlySet<string> = new Set(["user", "assistant", "toolResult"]);

/** A message in a list, as produced by LangGraph's serializer. */
export interface ListedMessage {
  /** Id assigned by LangGraph. */
  readonly id: string | undefined;
  /** Digest that is identical for equal messages. */
  readonly digest: string;
  readonly record: JsonRecord;
}

/** Data that a session stores for a LangChain message. */
export interface HeldMessage {
  readonly message: Message;
  /** Data stored in the entry in addition to the message. */
  readonly kept: JsonRecord;
}

/** Reads a message from the output of LangGraph's serializer; undefined if a session cannot store it. */
export function readMessage(json: unknown): ListedMessage | undefined {
  if (!isMessageRecord(json)) return undefined;
  const { id } = toRecord(json["kwargs"]);
  return { id: typeof id === "string" ? id : undefined, digest: hashRecord(json), record: json };
}

/** Reads a message list from the output of LangGraph's serializer; undefined if a session cannot store all of it. */
export function readMessageList(json: unknown): ListedMessage[] | undefined {
  if (!Array.isArray(json) || !json.every(isMessageRecord)) return undefined;
  return json.flatMap((record) => readMessage(record) ?? []);
}

function isMessageRecord(json: unknown): json is JsonRecord {
  const name = getClass(json);
  const { tool_call_id, content } = toRecord(toRecord(json)["kwargs"]);
  const isSaid = toArray(content).every((part) => typeof part === "string" || isJsonRecord(part));
  return isSaid && CLASSES.test(name) && (!name.startsWith("Tool") || typeof tool_call_id === "string");
}

function getClass(json: unknown): string {
  const { lc, id, kwargs } = toRecord(json);
  return lc === 1 && isJsonRecord(kwargs) ? toSafeString(toArray(id).at(-1)) : "";
}

/** Converts a message to the form stored in a session. */
export function holdMessage({ id, record }: ListedMessage, timestamp: number): HeldMessage {
  const { id: _, ...said } = normalizeMessage(toStoredRecord(record) ?? {}).data;
  const name = getClass(record);
  const [read] = fromLangChain([{ type: "constructor", ...record }], { timestamp }).messages;
  const { details: __, ...message } = read ?? { role: "user", content: "", timestamp };
  const written = writeData(message);
  const rest = Object.entries(said).filter(([key, value]) => !isSameJson(written[key], value));
  const isWhole = Object.keys(written).some((key) => !(key in said));
  const data: JsonRecord = isWhole ? said : Object.fromEntries(rest);
  const kept = {
    ...(id !== undefined && { id }),
    ...(name !== CLASS_OF_ROLE.get(message.role) && { class: name }),
    ...(Object.keys(data).length > 0 && { data }),
    ...(isWhole && { isWhole }),
  };
  return { message, kept };
}

function writeData(message: Message): JsonRecord {
  switch (message.role) {
    case "system":
      return { content: message.content };
    case "user":
      return writeUser(message.content).data;
    case "assistant":
      return writeAnswer(message.content, (id) => id).data;
    case "toolResult":
      return writeResult(message, message.toolCallId, message.toolName).data;
  }
}

/** Creates a draft entry for a message. The tokens of a copy are omitted, because they are counted on another branch. */
export function makeMessageDraft({ message, kept }: HeldMessage, isCopy: boolean): EntryDraft {
  const counted = isCopy && message.role === "assistant" ? { ...message, usage: toUsage() } : message;
  return { type: "message", message: counted, details: { [LANGGRAPH_DETAIL]: kept } };
}

/** Creates a draft entry that changes a message on the branch. Null removes the message. */
export function editDraft(targetId: string, changed: HeldMessage | null): EntryDraft {
  if (changed === null) return { type: "context_edit", targetId, replacement: null };
  const { message, kept } = changed;
  const { content, role } = message;
  const written = kept["isWhole"] === true ? {} : writeData(message);
  const data = { ...written, ...toRecord(kept["data"]) };
  const details = { [LANGGRAPH_DETAIL]: { ...kept, role, isWhole: true, data } };
  return { type: "context_edit", targetId, replacement: { content }, details };
}

/** Returns the message entry that a list entry represents, if a context edit can change it; undefined otherwise. */
export function findEditableTarget(
  entry: AnySessionEntry | undefined,
): { id: string; role: string } | undefined {
  const { message, targetId } = toRecord(entry);
  const { role: editedRole } = getKept(entry);
  const role = toRecord(message)["role"] ?? editedRole;
  const id = entry?.type === "context_edit" ? targetId : entry?.id;
  return typeof role === "string" && typeof id === "string" && EDITABLE.has(role) ? { id, role } : undefined;
}

/** Returns the id that LangGraph assigned to an entry's message. */
export function findMessageId(entry: AnySessionEntry | undefined): string | undefined {
  const { id } = getKept(entry);
  return typeof id === "string" ? id : undefined;
}

/** Restores an entry's message or, after a redaction, what remains of it. Returns undefined if the entry has no message. */
export function restoreMessage(entry: AnySessionEntry | undefined): ListedMessage | undefined {
  const record = restoreRecord(entry);
  return record && { id: findMessageId(entry), digest: hashRecord(record), record };
}

function restoreRecord(entry: AnySessionEntry | undefined): JsonRecord | undefined {
  const { message } = toRecord(entry);
  const { id, class: name, data, isWhole, role: editedRole } = getKept(entry);
  const role = toRecord(message)["role"] ?? editedRole;
  const className = typeof name === "string" ? name : CLASS_OF_ROLE.get(role);
  if (className === undefined) return undefined;
  const written = isWhole === true || !isOurs(message) ? {} : writeData(message);
  const kwargs = { ...written, ...toRecord(data), ...(typeof id === "string" && { id }) };
  return { lc: 1, type: "constructor", id: ["langchain_core", "messages", className], kwargs };
}

function hashRecord(record: JsonRecord): string {
  return hashText(spellCanonically([getClass(record), normalizeMessage(toStoredRecord(record) ?? {}).data]));
}

function getKept(entry: AnySessionEntry | undefined): JsonRecord {
  return toRecord(toRecord(toRecord(entry)["details"])[LANGGRAPH_DETAIL]);
}

function isOurs(message: unknown): message is Message {
  return CLASS_OF_ROLE.has(toRecord(message)["role"]);
}
