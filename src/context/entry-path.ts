import type { AnySessionEntry } from "../schema/entry.ts";

/**
 * A path root → leaf of which heads are known and bodies are parsed when asked for.
 *
 * Context is built over this, so that the same code serves entries in memory and a file whose bodies stay on
 * disk.
 */
export interface EntryPath {
  /** Number of entries. */
  readonly length: number;
  /** Whether entries of a type can be among these; false saves a search. */
  mayHold(type: string): boolean;
  /** Type of the entry at `index`, without its body. */
  typeAt(index: number): string;
  /** The entry at `index`; undefined if its body is damaged. */
  entryAt(index: number): AnySessionEntry | undefined;
  /** The entries at these places together, which costs less than one by one; undefined for damaged bodies. */
  entriesAt(indices: readonly number[]): (AnySessionEntry | undefined)[];
  /** Where the entry with this id stands on the path, or -1. */
  indexOf(id: string): number;
}

/**
 * Makes a path of entries that are in memory, root first.
 *
 * Where two entries have the same id, the first one has it, as in a session file.
 */
export function entryPathOf(entries: readonly AnySessionEntry[]): EntryPath {
  return {
    length: entries.length,
    mayHold: () => true,
    typeAt: (index) => entries[index]?.type ?? "",
    entryAt: (index) => entries[index],
    entriesAt: (indices) => indices.map((index) => entries[index]),
    indexOf: (id) => entries.findIndex((entry) => entry.id === id),
  };
}
