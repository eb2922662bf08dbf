import { searchedText } from "../catalog/search-text.ts";
import { messageText, recordTime } from "../catalog/session-summary.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { isNameType, nameIn } from "../schema/session-name.ts";
import type { EntryFacts } from "./session-backend.ts";

/** The most UTF-16 units of `userText`. */
const MAX_USER_TEXT = 200;

const HALF_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const UNSTORABLE = new RegExp(`\\u0000|${HALF_PAIR.source}`);
const ALL_UNSTORABLE = new RegExp(UNSTORABLE.source, "g");

/**
 * Reads the facts that an entry's line can be queried by.
 *
 * @param withSearchText - Whether to include the searched text.
 * @returns Undefined if the line holds no entry with an id.
 * @remarks Cost: O(text).
 */
export function entryFactsOf(text: string, withSearchText: boolean): EntryFacts | undefined {
  const record = parse(text);
  if (record === undefined) return undefined;
  const { id, type, parentId } = record;
  if (!isStorable(id) || typeof type !== "string" || type === "" || type === "session") return undefined;
  return {
    id,
    parentId: isStorable(parentId) ? parentId : null,
    type: storable(type),
    timestampMs: wholeTime(record),
    ...sessionNameIn(record),
    ...userTextIn(record),
    ...(withSearchText && searchTextIn(record, type)),
  };
}

/** Returns a text without U+0000 and halves of surrogate pairs, which not every database can store. */
export function storable(text: string): string {
  return text.replace(ALL_UNSTORABLE, "\ufffd");
}

function parse(text: string): JsonRecord | undefined {
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

function wholeTime(record: JsonRecord): number | null {
  const ms = recordTime(record);
  return ms === undefined || Number.isNaN(ms) ? null : Math.trunc(ms);
}

function sessionNameIn(record: JsonRecord): Pick<EntryFacts, "sessionName"> {
  return isNameType(record["type"]) ? { sessionName: storable(nameIn(record) ?? "") || null } : {};
}

function userTextIn({ type, message }: JsonRecord): Pick<EntryFacts, "userText"> {
  const fields = fieldsOf(message);
  const text = type === "message" && fields["role"] === "user" ? messageText(fields) : undefined;
  return text === undefined ? {} : { userText: storable(text.slice(0, MAX_USER_TEXT)) };
}

function searchTextIn(record: JsonRecord, type: string): Pick<EntryFacts, "searchText"> {
  const entry: AnySessionEntry = { id: "", parentId: null, timestamp: "", ...record, type };
  const texts = searchedText(entry)?.texts ?? [];
  return texts.length === 0 ? {} : { searchText: storable(texts.join("\n")) };
}
