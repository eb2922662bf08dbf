import { isSessionError } from "../../src/core/format/errors.ts";
import { isSampled, SEED } from "./share.ts";

/**
 * Values that any field of a file may have, because others wrote it: objects that cannot be converted to a string or a number,
 * numbers whose sums are infinite, and empty values.
 */
const HOSTILE_VALUES: readonly unknown[] = [
  '{"toString":0,"valueOf":0}',
  "[[]]",
  '[{"toString":0}]',
  "null",
  "0",
  "-1",
  "1e308",
  '""',
  '"other"',
  "true",
  '{"__proto__":{"a":1}}',
  '{"length":3}',
].map((text): unknown => JSON.parse(text));

/** Values of these that break what expects a string: two that have no string, and nothing. */
export const UNPRINTABLE_VALUES: readonly unknown[] = [
  '{"toString":0,"valueOf":0}',
  '[{"toString":0}]',
  "null",
].map((text): unknown => JSON.parse(text));

/** A document in which one value was replaced. */
export interface HostileDocument {
  /** Keys of the replaced value, and the value that replaced it. */
  readonly place: string;
  /** The changed document. It is valid until the next one is requested. */
  readonly document: unknown;
}

/**
 * Yields a JSON document with each of its values replaced by each hostile value in turn. The document itself is changed and
 * restored.
 *
 * @param values - Values to put in each place.
 */
export function* replaceEachValue(
  document: object,
  values: readonly unknown[] = HOSTILE_VALUES,
): Generator<HostileDocument, void> {
  for (const { holder, path } of findPlaces(document)) {
    const key = path.at(-1) ?? "";
    const healthy: unknown = Reflect.get(holder, key);
    for (const value of values) {
      Reflect.set(holder, key, value);
      yield { place: `${path.join(".")} is ${JSON.stringify(value)}`, document };
    }
    Reflect.set(holder, key, healthy);
  }
}

interface Place {
  readonly holder: object;
  readonly path: readonly string[];
}

/** Returns the places of all values in a document, outer ones first. */
function findPlaces(holder: object, above: readonly string[] = []): Place[] {
  return Object.entries(holder).flatMap(([key, value]): Place[] => {
    const path = [...above, key];
    const inner = typeof value === "object" && value !== null ? findPlaces(value, path) : [];
    return [{ holder, path }, ...inner];
  });
}

/** Messages of the project, which are sentences. Those of the engine do not end with a period, except about destructuring. */
const OWN_MESSAGE = /^(?!Cannot destructure ).*\.$/s;

/** Returns whether an error was thrown for a value by the project, and not by the engine. */
export function isTypedError(error: unknown): boolean {
  return (isSessionError(error) || error instanceof TypeError) && OWN_MESSAGE.test(error.message);
}

/**
 * Yields the cases that this run tries: a full run tries one of every `count`, because trying all would take a minute; a short run
 * tries fewer. The others are requested as well, so that changes to a document are undone.
 *
 * @param count - Prime number that differs from the number of hostile values, so that each value is tried in some places.
 */
export function* takeTried<T>(cases: Iterable<T>, count: number): Generator<T, void> {
  let number = 0;
  for (const one of cases) {
    const isTried = number % count === SEED % count && isSampled(Math.floor(number / count));
    number++;
    if (isTried) yield one;
  }
}
