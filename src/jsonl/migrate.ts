import { inventEntryId } from "../ids.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { type LinearPlace, upgradeV1Record } from "./migrations/v1-to-v2.ts";
import { upgradeV2Record } from "./migrations/v2-to-v3.ts";

/**
 * Upgrades one record, step by step, to the current version.
 *
 * @param place - Where the record stands; only version 1 asks for it.
 */
export function upgradeRecord(record: JsonRecord, version: number, place: LinearPlace): JsonRecord {
  const upgraded = version < 2 ? upgradeV1Record(record, place) : record;
  return version < 3 ? upgradeV2Record(upgraded) : upgraded;
}

/** What a header's `version` says. */
export interface StatedVersion {
  /** The number that counts; undefined if it must be told from the entries. */
  readonly version: number | undefined;
  /** Whether it was written as the format wants it. */
  readonly isClear: boolean;
}

/**
 * Reads a header's `version`: absent is 1, a string with an integer is that integer, anything else is unclear.
 *
 * @remarks Source: docs/format.md#versions
 */
export function statedVersion(header: JsonRecord): StatedVersion {
  const stated = header["version"];
  if (stated === undefined) return { version: 1, isClear: true };
  const number = typeof stated === "string" && /^\d{1,9}$/.test(stated) ? Number(stated) : stated;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 1) {
    return { version: number, isClear: true };
  }
  return { version: undefined, isClear: false };
}

/**
 * Upgrades the parsed records of one file to the current version, in place.
 *
 * @param records - Header and entries in file order. Entries without an id get one of eight characters.
 * @returns Whether anything was changed.
 * @remarks Cost: O(records).
 */
export function migrateSessionEntries(records: object[]): boolean {
  const header = records.find(
    (record): record is JsonRecord => isJsonRecord(record) && record["type"] === "session",
  );
  const hasIds = records.some(
    (record) => isJsonRecord(record) && record !== header && typeof record["id"] === "string",
  );
  const version = header === undefined ? 1 : (statedVersion(header).version ?? (hasIds ? 3 : 1));
  if (version >= CURRENT_SESSION_VERSION) return false;
  const ids = version < 2 ? linearIds(records, header) : [];
  let parentId: string | null = null;
  for (const [i, record] of records.entries()) {
    if (!isJsonRecord(record) || record === header) continue;
    const id = ids[i] ?? "";
    const entryIdFrom = (from: number) => ids.slice(Math.max(0, from)).find((id) => id !== undefined);
    replaceFields(record, upgradeRecord(record, version, { id, parentId, entryIdFrom }));
    parentId = id;
  }
  if (header !== undefined) header["version"] = CURRENT_SESSION_VERSION;
  return true;
}

/** The id of each record by its number: its own if it is unique, else an invented one; none for the header. */
function linearIds(records: readonly object[], header: JsonRecord | undefined): (string | undefined)[] {
  const sessionId = typeof header?.["id"] === "string" ? header["id"] : "";
  const taken = new Set<string>();
  return records.map((record, place) => {
    if (!isJsonRecord(record) || record === header) return undefined;
    let id = typeof record["id"] === "string" ? record["id"] : "";
    for (let attempt = 0; id === "" || taken.has(id); attempt++)
      id = inventEntryId(sessionId, place, attempt);
    taken.add(id);
    return id;
  });
}

function replaceFields(target: JsonRecord, source: JsonRecord): void {
  if (target === source) return;
  for (const key of Object.keys(target)) delete target[key];
  for (const [key, value] of Object.entries(source)) {
    // Defined rather than assigned, so that a field named __proto__ stays a field.
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  }
}
