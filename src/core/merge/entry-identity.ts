import { fieldsOf } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { digestOf } from "../format/ids.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { DAMAGED_CUSTOM_TYPE } from "../jsonl/entry-body.ts";
import { mapReferences } from "./references.ts";

/** Separates an id that several entries claim from the rank of one that did not get it. */
const MARK = "~";

/** Hex characters of a rank for the time, and for the content. */
const TIME_LENGTH = 12;
const CONTENT_LENGTH = 24;

const INVENTED = new RegExp(`(?:${MARK}[0-9a-f]{${TIME_LENGTH + CONTENT_LENGTH}})+$`);

/** A time that reads the same on every machine. */
const UTC_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const LAST_TIME = 2 ** (4 * TIME_LENGTH) - 1;

/** Returns the id that an entry had before a merge invented one for it; every other id is itself. */
export function originalId(id: string): string {
  return id.includes(MARK) ? id.replace(INVENTED, "") : id;
}

/** Tells whether a merge invented this id. */
export function isInvented(id: string): boolean {
  return id.includes(MARK) && INVENTED.test(id);
}

/** Makes an id for an entry that cannot keep its own; it sorts behind `id`. */
export function inventedId(id: string, rank: string): string {
  return id + MARK + rank;
}

/**
 * Returns a text that identifies an entry, whatever ids merges have made for it and for those it refers to.
 *
 * @param parentId - Its parent, as its line says.
 * @returns Equal texts for equal entries, even if their lines order the base fields differently.
 */
export function identityOf(entry: AnySessionEntry, parentId: string | null): string {
  const { type, timestamp, id: _id, parentId: _parentId, ...body } = mapReferences(entry, originalId);
  const parent = parentId === null ? null : originalId(parentId);
  return encodeRecord([originalId(entry.id), parent, type, timestamp, body]);
}

/**
 * Returns the rank of an entry among those that claim one id: the entry whose rank sorts first, which was written first,
 * keeps the id. Remains of damaged entries come last.
 *
 * @param identity - As `identityOf` returns it.
 */
export function rankOf(entry: AnySessionEntry, identity: string): string {
  const time = timeOf(entry).toString(16).padStart(TIME_LENGTH, "0");
  return time + digestOf(identity).slice(0, CONTENT_LENGTH);
}

function timeOf(entry: AnySessionEntry): number {
  const { timestamp, customType } = fieldsOf(entry);
  if (customType === DAMAGED_CUSTOM_TYPE) return LAST_TIME;
  const isKnown = typeof timestamp === "string" && UTC_TIME.test(timestamp);
  const timeMs = isKnown ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(timeMs) ? LAST_TIME - 1 : Math.min(Math.max(0, timeMs), LAST_TIME - 1);
}
