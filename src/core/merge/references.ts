import { fieldsOf } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import { isJsonRecord, type JsonRecord } from "../format/json.ts";

/** Fields of entries that hold the id of another entry, or a list of ids. */
const REFERENCES = ["targetId", "targetIds", "firstKeptEntryId", "fromId"];

/** Prefix of our own custom types; other programs' data is not changed. */
const OWN_PREFIX = "sessiontree.";

/**
 * Maps the ids with which an entry refers to others, except its parent.
 *
 * @param map - Called for each such id.
 * @returns The same object if nothing changes.
 */
export function mapReferences(entry: AnySessionEntry, map: (id: string) => string): AnySessionEntry {
  const { type, customType, data } = fieldsOf(entry);
  if (type === "custom_message" || type === "message") return entry;
  if (type !== "custom") {
    const changes = changedIn(entry, map);
    return changes === undefined ? entry : Object.assign({ ...entry }, changes);
  }
  if (typeof customType !== "string" || !customType.startsWith(OWN_PREFIX) || !isJsonRecord(data))
    return entry;
  const changes = changedIn(data, map);
  return changes === undefined ? entry : Object.assign({ ...entry }, { data: { ...data, ...changes } });
}

function changedIn(record: object, map: (id: string) => string): JsonRecord | undefined {
  const fields = fieldsOf(record);
  let changes: JsonRecord | undefined;
  for (const field of REFERENCES) {
    const value = fields[field];
    const mapped = mappedIn(value, map);
    if (mapped !== value) changes = { ...changes, [field]: mapped };
  }
  return changes;
}

/** Maps an id, or a list of ids; returns the same value if nothing changes. */
function mappedIn(value: unknown, map: (id: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (!Array.isArray(value)) return value;
  const mapped = value.map((one: unknown) => (typeof one === "string" ? map(one) : one));
  return mapped.every((one, at) => one === value[at]) ? value : mapped;
}
