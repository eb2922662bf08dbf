import { toRecord } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { hashText } from "../format/ids.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";
import { encodeRecord } from "../jsonl/encode.ts";
import { DAMAGED_CUSTOM_TYPE } from "../jsonl/entry-body.ts";

/** Separates an id that several entries claim from the rank of an entry that was not given it. */
const MARK = "~";

/** Number of hex characters in a rank for the time and for the content. */
const TIME_LENGTH = 12;
const CONTENT_LENGTH = 24;

const INVENTED = new RegExp(`(?:${MARK}[0-9a-f]{${TIME_LENGTH + CONTENT_LENGTH}})+$`);

/** Matches times that every system parses the same way. */
const UTC_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const LAST_TIME = 2 ** (4 * TIME_LENGTH) - 1;

/** Returns the id that an entry had before a merge invented a new id for it. Returns other ids unchanged. */
export function getOriginalId(id: string): string {
  return id.includes(MARK) ? id.replace(INVENTED, "") : id;
}

/** Returns whether a merge invented an id. */
export function isInvented(id: string): boolean {
  return id.includes(MARK) && INVENTED.test(id);
}

/** Creates an id for an entry that cannot keep its own. The new id sorts after `id`. */
export function makeInventedId(id: string, rank: string): string {
  return id + MARK + rank;
}

/**
 * Returns a string that identifies an entry, regardless of ids that merges invented for it and for the entries that it
 * references.
 *
 * @param parentId - Parent id stated in the entry's line.
 * @returns Equal strings for equal entries, even if their lines order the base fields differently.
 */
export function makeIdentity(entry: AnySessionEntry, parentId: string | null): string {
  const { type, timestamp, id: _id, parentId: _parentId, ...body } = mapReferences(entry, getOriginalId);
  const parent = parentId === null ? null : getOriginalId(parentId);
  return encodeRecord([getOriginalId(entry.id), parent, type, timestamp, body]);
}

/**
 * Returns the rank of an entry among those that claim the same id. The entry with the lowest rank, which was written first, keeps
 * the id. Remains of damaged entries sort last.
 *
 * @param identity - As returned by `makeIdentity`.
 */
export function makeRank(entry: AnySessionEntry, identity: string): string {
  const time = getEntryTime(entry).toString(16).padStart(TIME_LENGTH, "0");
  return time + hashText(identity).slice(0, CONTENT_LENGTH);
}

function getEntryTime(entry: AnySessionEntry): number {
  const { timestamp, customType } = toRecord(entry);
  if (customType === DAMAGED_CUSTOM_TYPE) return LAST_TIME;
  const isKnown = typeof timestamp === "string" && UTC_TIME.test(timestamp);
  const timeMs = isKnown ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(timeMs) ? LAST_TIME - 1 : Math.min(Math.max(0, timeMs), LAST_TIME - 1);
}

/** Fields of entries that contain the id of another entry, or an array of ids. */
const REFERENCES = ["targetId", "targetIds", "firstKeptEntryId", "fromId"];

/** Prefix of this library's custom types; data of other programs is not changed. */
const OWN_PREFIX = "sessiontree.";

/**
 * Maps the ids that an entry uses to reference other entries, except the id of its parent.
 *
 * @param map - Called for each such id.
 * @returns The same object if nothing changes.
 */
export function mapReferences(entry: AnySessionEntry, map: (id: string) => string): AnySessionEntry {
  const { type, customType, data } = toRecord(entry);
  if (type === "custom_message" || type === "message") return entry;
  if (type !== "custom") {
    const changes = mapReferenceFields(entry, map);
    return changes === undefined ? entry : Object.assign({ ...entry }, changes);
  }
  if (typeof customType !== "string" || !customType.startsWith(OWN_PREFIX) || !isJsonRecord(data))
    return entry;
  const changes = mapReferenceFields(data, map);
  return changes === undefined ? entry : Object.assign({ ...entry }, { data: { ...data, ...changes } });
}

function mapReferenceFields(record: object, map: (id: string) => string): JsonRecord | undefined {
  const fields = toRecord(record);
  let changes: JsonRecord | undefined;
  for (const field of REFERENCES) {
    const value = fields[field];
    const mapped = mapIds(value, map);
    if (mapped !== value) changes = { ...changes, [field]: mapped };
  }
  return changes;
}

/** Maps an id, or an array of ids; returns the same value if nothing changes. */
function mapIds(value: unknown, map: (id: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (!Array.isArray(value)) return value;
  const mapped = value.map((one: unknown) => (typeof one === "string" ? map(one) : one));
  return mapped.every((one, at) => one === value[at]) ? value : mapped;
}
