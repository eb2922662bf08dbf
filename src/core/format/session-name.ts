import type { JsonRecord } from "./json.ts";

/** Types of entries that name a session, and the field that contains the name, in sessiontree and oh-my-pi. */
const NAME_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ["session_info", "name"],
  ["title_change", "title"],
]);

/** Returns whether entries of a type name their session. */
export function isNameType(type: unknown): boolean {
  return NAME_FIELDS.has(type);
}

/** Returns the name set by an entry that names its session; undefined if the entry removes the name. */
export function findSessionName(record: JsonRecord): string | undefined {
  return toSessionName(record[NAME_FIELDS.get(record["type"]) ?? ""]);
}

/** Converts a stored value to a display name; undefined if it is empty or not a string. */
export function toSessionName(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}
