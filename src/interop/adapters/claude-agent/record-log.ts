import { toRecord } from "../../../core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import type { EntryTaker, OpenSession } from "../session-pool.ts";
import { loadData } from "../stored-data.ts";

/** A line of a transcript. Opaque except for its `uuid`. */
export interface ClaudeRecord {
  type: string;
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}

const RECORD_CUSTOM_TYPE = "claude-code.record";

/** The `uuid`s of a transcript's records. */
export class RecordUuids implements EntryTaker {
  readonly #uuids = new Set<string>();

  take(entry: AnySessionEntry): void {
    const uuid = findUuid(findStoredRecord(entry));
    if (uuid !== undefined) this.#uuids.add(uuid);
  }

  has(uuid: string): boolean {
    return this.#uuids.has(uuid);
  }
}

/** Appends the records that are not stored yet, in a single write. */
export function appendRecords(
  { session, state }: OpenSession<RecordUuids>,
  records: readonly JsonObject[],
): void {
  const isNew = makeRepeatTest((uuid) => state.has(uuid));
  const drafts = records
    .filter(isNew)
    .map((data) => ({ type: "custom" as const, customType: RECORD_CUSTOM_TYPE, data }));
  session.appendAll(drafts);
}

/** Returns copies of all records, in order. */
export function readRecords({ session }: OpenSession<RecordUuids>): ClaudeRecord[] {
  return session
    .getEntries()
    .map(findStoredRecord)
    .filter((record) => record !== undefined)
    .filter(makeRepeatTest(() => false))
    .map(loadData)
    .filter(isRecord);
}

/**
 * Returns a predicate that accepts only records that are neither known nor previously seen. Records without a `uuid` are always
 * new.
 */
function makeRepeatTest(isKnown: (uuid: string) => boolean): (record: JsonObject) => boolean {
  const seen = new Set<string>();
  return (record) => {
    const uuid = findUuid(record);
    if (uuid === undefined) return true;
    const isNew = !isKnown(uuid) && !seen.has(uuid);
    seen.add(uuid);
    return isNew;
  };
}

function findStoredRecord(entry: AnySessionEntry): JsonObject | undefined {
  const { customType, data } = toRecord(entry);
  return entry.type === "custom" && customType === RECORD_CUSTOM_TYPE && isStored(data) ? data : undefined;
}

function isStored(value: unknown): value is JsonObject {
  return isJsonRecord(value);
}

/** Returns whether a stored value is an SDK record. All stored values are SDK records. */
function isRecord(value: unknown): value is ClaudeRecord {
  return isJsonRecord(value);
}

function findUuid(record: JsonObject | undefined): string | undefined {
  const uuid = record?.["uuid"];
  return typeof uuid === "string" ? uuid : undefined;
}
