import type { EntryTree } from "../../tree/entry-tree.ts";
import { plainLine } from "../text/plain.ts";
import { truncate } from "../text/width.ts";

/** Characters of an id that are shown at least: the whole id of an entry of ours. */
const SHORTEST = 8;

/** Longer beginnings are not shown, even if they do not tell all entries apart. */
const LONGEST = 18;

/**
 * Gives how many characters of ids tell them apart.
 *
 * @returns 8 for entries of ours, more where other programs use long ids that begin alike, at most 18.
 * @remarks Cost: O(1) for ids of 8 characters, else O(n log n).
 */
export function shortIdLength(ids: Iterable<string>): number {
  const long: string[] = [];
  for (const id of ids) if (id.length > SHORTEST) long.push(id);
  let length = SHORTEST;
  long.sort();
  for (let i = 1; i < long.length && length < LONGEST; i++) {
    length = Math.max(length, commonLength(long[i - 1] ?? "", long[i] ?? "") + 1);
  }
  return Math.min(length, LONGEST);
}

/** Writes the beginning of an id. */
export function shortId(id: string, length: number): string {
  return truncate(plainLine(id.slice(0, length)), length);
}

/** Gives the ids of all entries. */
export function* idsOf(tree: EntryTree): Generator<string, void> {
  for (const ordinal of tree.ordinals()) yield tree.idAt(ordinal);
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < LONGEST && length < a.length && a[length] === b[length]) length++;
  return length;
}
