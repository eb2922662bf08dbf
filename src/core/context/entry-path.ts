import type { AnySessionEntry } from "../format/entry.ts";

/**
 * A path root → leaf with known heads. Bodies are parsed on demand.
 *
 * Contexts are built from this, so that the same code serves entries in memory and in a file.
 */
export interface EntryPath {
  /** Number of entries. */
  readonly length: number;
  /** Whether the path may hold entries of a type; false saves a search. */
  mayHold(type: string): boolean;
  /** Type of the entry at `index`, without its body. */
  typeAt(index: number): string;
  /** The entry at `index`; undefined if its body is damaged. */
  entryAt(index: number): AnySessionEntry | undefined;
  /** The entries at these indices, which is cheaper than one by one; undefined for damaged bodies. */
  entriesAt(indices: readonly number[]): (AnySessionEntry | undefined)[];
  /** Index of the entry with this id, or -1. */
  indexOf(id: string): number;
}

/**
 * Makes a path of entries in memory, root first.
 *
 * If two entries have the same id, the first one has it, as in a session file.
 */
export function makeEntryPath(entries: readonly AnySessionEntry[]): EntryPath {
  return {
    length: entries.length,
    mayHold: () => true,
    typeAt: (index) => entries[index]?.type ?? "",
    entryAt: (index) => entries[index],
    entriesAt: (indices) => indices.map((index) => entries[index]),
    indexOf: (id) => entries.findIndex((entry) => entry.id === id),
  };
}
