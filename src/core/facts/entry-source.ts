import type { AnySessionEntry } from "../format/entry.ts";
import type { EntryTree } from "../tree/entry-tree.ts";

/** A session as this room reads it: a tree of heads, and bodies where they are wanted. */
export interface ViewSource {
  readonly tree: EntryTree;
  /** Returns one entry, or undefined if its body is damaged. */
  entryAt(ordinal: number): AnySessionEntry | undefined;
  /** Calls `take` for each of some entries, in their order; undefined stands for a damaged body. */
  readEntries(
    ordinals: Iterable<number>,
    take: (ordinal: number, entry: AnySessionEntry | undefined) => void,
  ): void;
}
