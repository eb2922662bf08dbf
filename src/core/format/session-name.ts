import type { JsonRecord } from "./json.ts";

/** The types of entries that name a session, and the field of the name: ours, and oh-my-pi's. */
const NAME_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ["session_info", "name"],
  ["title_change", "title"],
]);

/** Tells whether entries of a type name their session. */
export function isNameType(type: unknown): boolean {
  return NAME_FIELDS.has(type);
}

/** Returns the name that an entry of such a type gives its session; undefined if it takes the name away. */
export function findSessionName(record: JsonRecord): string | undefined {
  return toSessionName(record[NAME_FIELDS.get(record["type"]) ?? ""]);
}

/** Makes a display name of a stored value; undefined if there is nothing in it. */
export function toSessionName(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}
