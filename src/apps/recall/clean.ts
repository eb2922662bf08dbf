import { withoutHarmful } from "../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isJsonRecord } from "../../core/format/json.ts";

/** Returns a text without what is secret in it. */
export type HideSecrets = (text: string) => string;

/** Fields that say what a record is; what is hidden in them could not be read any more. */
const STRUCTURE = new Set(["type", "role", "id", "parentId", "toolCallId", "timestamp"]);

/** Fields in which programs keep what they like, under any name. */
const FREE = new Set(["arguments", "data", "details"]);

/** Levels of nested values that are looked at; what lies deeper is left out. */
const DEEPEST = 100;

/** Returns a text without control and direction characters, and without secrets. */
export function cleanText(text: string, hide: HideSecrets): string {
  const visible = withoutHarmful(text);
  return visible === "" ? "" : hide(visible);
}

/**
 * Returns a copy of an entry in which each text is clean, names of fields included: whatever is made of it, such as an excerpt,
 * cuts no secret in two.
 */
export function cleanEntry(entry: AnySessionEntry, hide: HideSecrets): AnySessionEntry {
  const cleaned = cleanFields(entry, hide, false, 0);
  return { ...cleaned, id: entry.id, type: entry.type, parentId: entry.parentId, timestamp: entry.timestamp };
}

function cleanFields(
  record: object,
  hide: HideSecrets,
  isFree: boolean,
  depth: number,
): { [name: string]: unknown } {
  const isImage = Object.entries(record).some(([name, value]) => name === "type" && value === "image");
  return Object.fromEntries(
    Object.entries(record).map(([name, value]): [string, unknown] => {
      // An image is told by its size alone.
      if (!isFree && (STRUCTURE.has(name) || (isImage && name === "data"))) return [name, value];
      return [
        isFree ? cleanText(name, hide) : name,
        cleanValue(value, hide, isFree || FREE.has(name), depth + 1),
      ];
    }),
  );
}

function cleanValue(value: unknown, hide: HideSecrets, isFree: boolean, depth: number): unknown {
  if (typeof value === "string") return cleanText(value, hide);
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return value.map((one: unknown) => cleanValue(one, hide, isFree, depth + 1));
  return isJsonRecord(value) ? cleanFields(value, hide, isFree, depth) : value;
}
