import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import type { AgentMessage } from "../format/message.ts";

const NO_FIELDS: JsonRecord = Object.freeze({});

/**
 * Returns the fields of a stored value, with type `unknown`.
 *
 * A session file can contain any value in any field, regardless of the declared types.
 *
 * @returns The value itself; an empty record if it is not an object.
 */
export function toRecord(value: unknown): JsonRecord {
  return isJsonRecord(value) ? value : NO_FIELDS;
}

/** Returns the fields of an entry's message, or an empty record if the entry is not a message. */
export function getMessageFields(entry: unknown): JsonRecord {
  const { type, message } = toRecord(entry);
  return toRecord(type === "message" ? message : undefined);
}

/** Returns a stored value if it is an array; otherwise, an empty array. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Returns a stored value if it is a number whose absolute value is less than 2^53; otherwise, 0. Sums of larger numbers may be
 * infinite, which JSON cannot represent.
 */
export function toNumber(value: unknown): number {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : 0;
}

/** Returns a stored value if it is a positive number less than 2^53; otherwise, 0. */
export function toCount(value: unknown): number {
  return Math.max(0, toNumber(value));
}

/**
 * Returns the blocks of stored content. A string is converted to one block. Empty for a value that is neither a string nor an
 * array.
 */
export function toContentBlocks(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : toArray(content);
}

/** Returns whether a stored value is a message: an object with a role. Its other fields may have any value. */
export function isStoredMessage(value: unknown): value is AgentMessage {
  return typeof toRecord(value)["role"] === "string";
}

/** Returns whether a stored value can be a message's content: a string, or an array of blocks. */
export function isContent(value: unknown): value is string | unknown[] {
  return typeof value === "string" || Array.isArray(value);
}
