import { plainLine } from "../../../core/facts/plain-text.ts";
import type { EntryTree } from "../../../core/tree/entry-tree.ts";
import { truncate } from "../text/width.ts";

/** Returns the length of the longest of some ids: in a pipe they are whole. */
export function longestOf(ids: Iterable<string>): number {
  let length = 0;
  for (const id of ids) length = Math.max(length, id.length);
  return length;
}

/** Writes the beginning of an id. */
export function shortId(id: string, length: number): string {
  return truncate(plainLine(id.slice(0, length)), length);
}

/** Returns the ids of all entries. */
export function* idsOf(tree: EntryTree): Generator<string, void> {
  for (const ordinal of tree.ordinals()) yield tree.idAt(ordinal);
}
