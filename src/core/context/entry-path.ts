import type { AnySessionEntry } from "../format/entry.ts";

/**
 * Path root → leaf with known heads. Bodies are parsed on demand.
 *
 * Contexts are built from this interface, so that the same code works for entries in memory and in a file.
 */
export interface EntryPath {
  /** Number of entries. */
  readonly length: number;
  /** Returns whether the path may contain entries of a type. If false, callers can skip a search. */
  mayHold(type: string): boolean;
  /** Returns the type of the entry at `index`, without reading its body. */
  typeAt(index: number): string;
  /** Returns the entry at `index`; undefined if its body is damaged. */
  entryAt(index: number): AnySessionEntry | undefined;
  /**
   * Returns the entries at the given indices (default: all); undefined for damaged bodies. Cheaper than reading them one by one.
   */
  entriesAt(indices?: readonly number[]): (AnySessionEntry | undefined)[];
  /** Returns the index of the entry with this id, or -1. */
  indexOf(id: string): number;
}

/**
 * Creates a path from entries in memory, root first.
 *
 * If several entries have the same id, the first one is found, as in a session file.
 */
export function makeEntryPath(entries: readonly AnySessionEntry[]): EntryPath {
  return {
    length: entries.length,
    mayHold: () => true,
    typeAt: (index) => entries[index]?.type ?? "",
    entryAt: (index) => entries[index],
    entriesAt: (indices) => indices?.map((index) => entries[index]) ?? entries.slice(),
    indexOf: (id) => entries.findIndex((entry) => entry.id === id),
  };
}
