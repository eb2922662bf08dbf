import { fieldsOf } from "../context/entry-fields.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import { isJsonRecord } from "../schema/json.ts";

/** Fields of entries that hold the id of another entry. */
const REFERENCES = ["targetId", "firstKeptEntryId", "fromId"];

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

function changedIn(record: object, map: (id: string) => string): { [field: string]: string } | undefined {
  const fields = fieldsOf(record);
  let changes: { [field: string]: string } | undefined;
  for (const field of REFERENCES) {
    const id = fields[field];
    if (typeof id !== "string") continue;
    const mapped = map(id);
    if (mapped !== id) changes = { ...changes, [field]: mapped };
  }
  return changes;
}
