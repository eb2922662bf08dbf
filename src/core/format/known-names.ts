import { describeShortValue } from "./describe-value.ts";

/** Maximum number of changed characters in a misspelled name. */
const MAX_CHANGES = 2;

/** Minimum number of characters per changed character in a misspelled name. */
const MIN_PER_CHANGE = 3;

/** Maximum length of a name that is compared with others. */
const MAX_LENGTH = 100;

/**
 * Creates the error for a name that is not one of the known names, with the name that was probably meant.
 *
 * @param noun - Kind of name, such as "option".
 */
export function makeUnknownNameError(noun: string, name: unknown, known: readonly string[]): TypeError {
  const similar = typeof name === "string" ? findMisspelledName(name, known) : undefined;
  const advice = similar === undefined ? "" : `; did you mean ${JSON.stringify(similar)}?`;
  const names = known.map((one) => JSON.stringify(one)).join(", ");
  return new TypeError(
    `Unknown ${noun} ${describeShortValue(name)}${advice || "."} The ${noun}s are ${names}.`,
  );
}

/**
 * Throws if a name is not one of the known names.
 *
 * @param noun - Kind of name, such as "event".
 * @throws {TypeError} With the name that was probably meant.
 */
export function assertKnownName(noun: string, name: unknown, known: readonly string[]): void {
  if (typeof name !== "string" || !known.includes(name)) throw makeUnknownNameError(noun, name, known);
}

/**
 * Returns the known name of which a name is a misspelling; undefined if there is none.
 *
 * @param minPerChange - Minimum number of characters per changed character.
 */
export function findMisspelledName(
  name: string,
  known: readonly string[],
  minPerChange = MIN_PER_CHANGE,
): string | undefined {
  const plain = toPlain(name);
  if (plain.length > MAX_LENGTH) return undefined;
  const distances = known.map((one) => ({ one, changes: countChanges(plain, toPlain(one)) }));
  const nearest = distances.reduce((a, b) => (b.changes < a.changes ? b : a), { one: "", changes: Infinity });
  return nearest.changes <= Math.min(MAX_CHANGES, Math.floor(plain.length / minPerChange))
    ? nearest.one
    : undefined;
}

/** Removes the differences between conventions: `sessionDir`, `session_dir`, and `session-dir` are the same. */
function toPlain(name: string): string {
  return name.toLowerCase().replace(/\W|_/g, "");
}

/** Returns the number of characters to insert, delete, or replace in a string to get another. */
function countChanges(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, char] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (char === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
