import { encodeUsage } from "../../catalog/list/session-calls.ts";
import { getSearchedText } from "../../catalog/query/search-text.ts";
import { getMessageFields } from "../../core/context/entry-fields.ts";
import {
  type EntryFacts,
  MAX_FIRST_MESSAGE,
  makeHeaderFacts,
  readAddedFacts,
  type SessionFacts,
} from "../../core/facts/session-facts.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { getRecordTime } from "../../core/format/timestamps.ts";

const HALF_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const UNSTORABLE = new RegExp(`\\u0000|${HALF_PAIR.source}`);
const ALL_UNSTORABLE = new RegExp(UNSTORABLE.source, "g");

/** Parses the facts that an entry's line can be queried by; undefined if the line does not contain an entry with an id. */
export function parseEntryFacts(text: string, withSearchText: boolean): EntryFacts | undefined {
  const record = parseRecord(text);
  if (record === undefined) return undefined;
  const { id, type, parentId } = record;
  if (!isStorable(id) || typeof type !== "string" || type === "" || type === "session") return undefined;
  const timestampMs = getRecordTime(record);
  const { sessionName, messageMs, userText } = readAddedFacts(type, record, timestampMs);
  const usage = encodeUsage(record, id, timestampMs ?? null);
  return {
    id,
    parentId: isStorable(parentId) ? parentId : null,
    type: toStorable(type),
    timestampMs: timestampMs ?? null,
    ...(sessionName !== undefined && { sessionName: toStorableName(sessionName) }),
    ...(messageMs !== undefined && { messageMs }),
    ...(userText !== undefined && { userText: shortenMessage(userText) }),
    ...(usage !== undefined && { usage }),
    ...(withSearchText && buildSearchText(record, type)),
  };
}

/** Returns the facts of a session that has only a header, in the form passed to backends. */
export function makeStorableFacts(header: SessionHeader): SessionFacts {
  const { cwd, name, parentSession, createdMs, ...facts } = makeHeaderFacts(header);
  return {
    ...facts,
    cwd: toStorable(cwd),
    name: toStorableName(name),
    parentSession: parentSession === null ? null : toStorable(parentSession),
    createdMs: createdMs ?? 0,
  };
}

/** Returns the beginning of a first message, as shown in a store's list. */
export function shortenMessage(text: string): string {
  return toStorable(text.slice(0, MAX_FIRST_MESSAGE));
}

/** Replaces U+0000 and unpaired surrogates in a string, because some databases cannot store them. */
export function toStorable(text: string): string {
  return text.replace(ALL_UNSTORABLE, "\ufffd");
}

function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isStorable(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !UNSTORABLE.test(value);
}

function toStorableName(name: string | null): string | null {
  return toStorable(name ?? "") || null;
}

function buildSearchText(record: JsonRecord, type: string): Pick<EntryFacts, "searchText"> {
  const entry: AnySessionEntry = { id: "", parentId: null, timestamp: "", ...record, type };
  const texts = getSearchedText(entry)?.parts.map(({ text }) => text) ?? [];
  // A search for failures also matches the tool's name, and the call itself may be in another session.
  const { toolName } = getMessageFields(entry);
  if (typeof toolName === "string" && toolName !== "") texts.push(toolName);
  return texts.length === 0 ? {} : { searchText: toStorable(texts.join("\n")) };
}
