import type { JsonRecord } from "../../schema/json.ts";

/** The position of a version-1 record in its file. */
export interface LinearPlace {
  readonly id: string;
  readonly parentId: string | null;
  /** Returns the id of the first entry at or after this record number (the header is 0), or undefined. */
  readonly entryIdFrom: (recordNumber: number) => string | undefined;
}

/**
 * Gives a record of a list its id and parent, and converts a compaction's index to an id.
 *
 * @remarks Source: docs/format.md#versions
 */
export function upgradeV1Record(record: JsonRecord, place: LinearPlace): JsonRecord {
  const { type, id: _id, parentId: _parentId, ...rest } = record;
  const upgraded: JsonRecord = { type, id: place.id, parentId: place.parentId, ...rest };
  const { firstKeptEntryIndex, firstKeptEntryId } = rest;
  if (type !== "compaction" || typeof firstKeptEntryIndex !== "number") return upgraded;
  delete upgraded["firstKeptEntryIndex"];
  // An index behind all entries keeps nothing, which the compaction's own id expresses.
  if (firstKeptEntryId === undefined) {
    upgraded["firstKeptEntryId"] = place.entryIdFrom(firstKeptEntryIndex) ?? place.id;
  }
  return upgraded;
}
