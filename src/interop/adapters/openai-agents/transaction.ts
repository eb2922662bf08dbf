import { digestOf } from "../../../core/format/ids.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import { isPlain, spelled, storeData } from "../stored-data.ts";

/** A transaction as it is applied: the items that the history must end with, and those that replace them. */
export interface ReadTransaction {
  readonly expected: readonly JsonObject[];
  readonly added: readonly JsonObject[];
  /** Equal for equal transactions. */
  readonly digest: string;
}

/** The fields of each type of transaction, apart from `type`. */
const FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["append_items", ["items"]],
  ["replace_suffix", ["expectedSuffix", "replacement"]],
]);

/**
 * Reads a transaction.
 *
 * A retry must be recognised as the same, so that what storing would drop in silence is refused: unknown fields, and
 * properties that do not enumerate or are computed.
 *
 * @throws {TypeError} If it is malformed, or JSON cannot hold one of its items.
 */
export function readTransaction(transaction: unknown): ReadTransaction {
  const fields = isJsonRecord(transaction) ? transaction : {};
  const type = fields["type"];
  const names = FIELDS.get(type);
  if (names === undefined) {
    throw new TypeError(
      "A transaction is of type append_items or replace_suffix; update the adapter for others.",
    );
  }
  assertPlain(fields, "transaction", new Set());
  if (Object.keys(fields).length !== names.length + 1 || names.some((name) => !Array.isArray(fields[name])))
    throw new TypeError(
      `A transaction of type ${type} has the lists ${names.join(" and ")}, and nothing else.`,
    );
  const [added = [], expected = []] = names.map((name) => storedList(fields[name])).reverse();
  return { expected, added, digest: digestOf(spelled({ type, expected, added })) };
}

function storedList(items: unknown): JsonObject[] {
  return Array.isArray(items) ? items.map((item) => storeData(item, "item")) : [];
}

/** Refuses properties that a copy would not have, at any depth. */
function assertPlain(value: unknown, path: string, seen: Set<object>): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || seen.has(value)) return;
  seen.add(value);
  const isList = Array.isArray(value);
  const descriptors = Object.getOwnPropertyDescriptors(value);
  const keys = Reflect.ownKeys(value);
  // A list has its length besides its elements.
  if (isList ? keys.length !== value.length + 1 : !isPlain(value)) throw notPlain(path);
  for (const key of keys) {
    const descriptor = descriptors[String(key)];
    if (isList && key === "length") continue;
    if (typeof key === "symbol" || descriptor?.enumerable !== true || !("value" in descriptor))
      throw notPlain(`${path}.${String(key)}`);
    assertPlain(descriptor.value, isList ? `${path}[${key}]` : `${path}.${key}`, seen);
  }
}

function notPlain(path: string): TypeError {
  return new TypeError(
    `${path} cannot be stored: it is no plain object, does not enumerate, is computed, or has gaps; pass plain data.`,
  );
}
