import { ARRAY, assertArgument } from "../format/arguments.ts";
import { inventEntryId } from "../format/ids.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";

/** Upgrades one record to the current version, step by step. Its position is required only for version 1. */
export function upgradeRecord(record: JsonRecord, version: number, place: LinearPlace): JsonRecord {
  const upgraded = version < 2 ? upgradeV1Record(record, place) : record;
  return version < 3 ? upgradeV2Record(upgraded) : upgraded;
}

/** Version in a header. */
export interface StatedVersion {
  /** Effective version; undefined if it must be derived from the entries. */
  readonly version: number | undefined;
  /** Whether the header states the version as the format requires. */
  readonly isClear: boolean;
}

/**
 * Reads a header's `version`. An absent version means 1, and a string containing an integer means that number. Any other value is
 * unclear.
 *
 * A version higher than the current version is kept even if it is not an integer, because such a file must not be written to.
 *
 * @remarks Source: docs/format.md#versions
 */
export function readStatedVersion(header: JsonRecord): StatedVersion {
  const stated = header["version"];
  if (stated === undefined) return { version: 1, isClear: true };
  const number = typeof stated === "string" && /^\d+$/.test(stated) ? Number(stated) : stated;
  const isVersion = typeof number === "number" && number >= 1;
  if (isVersion && (Number.isInteger(number) || number > CURRENT_SESSION_VERSION)) {
    return { version: Math.min(number, Number.MAX_SAFE_INTEGER), isClear: true };
  }
  return { version: undefined, isClear: false };
}

/**
 * Upgrades the parsed records of one file to the current version, in place.
 *
 * @param records - Header and entries in file order. Changed in place. Entries without an id are given an eight-character id.
 * @returns Whether any record was changed.
 * @remarks Cost: O(records).
 */
export function migrateSessionEntries(records: object[]): boolean {
  assertArgument("records", records, ARRAY);
  const header = records.find((record) => isHeader(record));
  const version = (header && readStatedVersion(header).version) ?? deriveVersion(records);
  if (version > CURRENT_SESSION_VERSION) return false;
  const isRestated = header !== undefined && header["version"] !== CURRENT_SESSION_VERSION;
  if (version < 2) upgradeLinear(records, header);
  else if (version < CURRENT_SESSION_VERSION) {
    const nowhere = { id: "", parentId: null, entryIdFrom: () => undefined };
    for (const record of records.filter(isEntry)) {
      replaceFields(record, upgradeRecord(record, version, nowhere));
    }
  }
  if (header !== undefined) header["version"] = CURRENT_SESSION_VERSION;
  return isRestated || version < CURRENT_SESSION_VERSION;
}

/** Derives the version from the entries. Ids were introduced in version 2. */
function deriveVersion(records: readonly object[]): number {
  return records.some((record) => isEntry(record) && isId(record["id"])) ? CURRENT_SESSION_VERSION : 1;
}

/** Adds ids and parents to the entries of a version 1 list. */
function upgradeLinear(records: readonly object[], header: JsonRecord | undefined): void {
  // The header is number 0 regardless of its position, because its writer wrote no record before it.
  const numbered = header === undefined ? [undefined, ...records] : records.slice(records.indexOf(header));
  const ids = makeLinearIds(numbered, header);
  const idFrom: (string | undefined)[] = [...ids];
  for (let i = ids.length - 2; i >= 0; i--) idFrom[i] ??= idFrom[i + 1];
  const entryIdFrom = (number: number) => idFrom[Math.max(0, Math.ceil(number))];
  let parentId: string | null = null;
  for (const [number, record] of numbered.entries()) {
    const id = ids[number];
    if (id === undefined || !isEntry(record)) continue;
    replaceFields(record, upgradeRecord(record, 1, { id, parentId, entryIdFrom }));
    parentId = id;
  }
}

/**
 * Returns the id of each record by number: its own id if that is unique, otherwise a derived id; undefined if the record is not
 * an entry.
 */
function makeLinearIds(
  numbered: readonly (object | undefined)[],
  header: JsonRecord | undefined,
): (string | undefined)[] {
  const sessionId = typeof header?.["id"] === "string" ? header["id"] : "";
  const taken = new Set<string>();
  return numbered.map((record, number) => {
    if (!isEntry(record)) return undefined;
    let id = isId(record["id"]) ? record["id"] : "";
    for (let attempt = 0; id === "" || taken.has(id); attempt++)
      id = inventEntryId(sessionId, number, attempt);
    taken.add(id);
    return id;
  });
}

function isHeader(record: unknown): record is JsonRecord {
  return isJsonRecord(record) && record["type"] === "session";
}

function isEntry(record: unknown): record is JsonRecord {
  return isJsonRecord(record) && typeof record["type"] === "string" && record["type"] !== "session";
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id !== "";
}

function replaceFields(target: JsonRecord, source: JsonRecord): void {
  if (target === source) return;
  for (const key of Object.keys(target)) delete target[key];
  for (const [key, value] of Object.entries(source)) {
    // The property is defined instead of assigned, so that a field named __proto__ remains a field.
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  }
}

/** Position of a version 1 record in its file. */
interface LinearPlace {
  readonly id: string;
  readonly parentId: string | null;
  /** Returns the id of the first entry at or after this record number (the header is 0), or undefined. */
  readonly entryIdFrom: (recordNumber: number) => string | undefined;
}

/**
 * Adds the id and parent to a version 1 record, and converts the index in a compaction to an id.
 *
 * @remarks Source: docs/format.md#versions
 */
export function upgradeV1Record(record: JsonRecord, place: LinearPlace): JsonRecord {
  const { type, id: _id, parentId: _parentId, ...rest } = record;
  const upgraded: JsonRecord = { type, id: place.id, parentId: place.parentId, ...rest };
  const { firstKeptEntryIndex, firstKeptEntryId } = rest;
  if (type !== "compaction" || typeof firstKeptEntryIndex !== "number") return upgraded;
  delete upgraded["firstKeptEntryIndex"];
  // An index after the last entry means that no entries are kept, which the compaction's own id expresses.
  if (firstKeptEntryId === undefined) {
    upgraded["firstKeptEntryId"] = place.entryIdFrom(firstKeptEntryIndex) ?? place.id;
  }
  return upgraded;
}

/**
 * Renames the message role `hookMessage` to `custom`; returns other records unchanged.
 *
 * @remarks Source: docs/format.md#versions
 */
export function upgradeV2Record(record: JsonRecord): JsonRecord {
  const message = record["message"];
  if (record["type"] !== "message" || !isJsonRecord(message) || message["role"] !== "hookMessage")
    return record;
  return { ...record, message: { ...message, role: "custom" } };
}
