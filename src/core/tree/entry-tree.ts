import type { EntryHead } from "../format/head.ts";
import type { IdKey } from "../format/id-key.ts";

/** Ordinal that means "no entry": the parent of a root, an unknown id, or the position before the first entry. */
export const NONE = -1;

/**
 * Tree of a session's entries. Contains only heads (type, id, parent, and time), not bodies.
 *
 * An ordinal identifies an entry. It is the entry's number in order of arrival, starting at 0. The tree never contains a cycle,
 * so every walk ends.
 */
export interface EntryTree {
  /** Number of entries. */
  readonly size: number;
  /** Changes whenever an existing entry is given a different parent. */
  readonly revision: number;
  /** Returns the ordinal of an id, or NONE. */
  find(id: string): number;
  /** Returns the ordinal of an id key, or NONE. */
  findKey(key: IdKey): number;
  keyAt(ordinal: number): IdKey;
  idAt(ordinal: number): string;
  /** Returns the type of an entry. All entries of a type share the same string object. */
  typeAt(ordinal: number): string;
  /** Returns whether any entry has a type. */
  hasType(type: string): boolean;
  /** Returns the ordinal of an entry's parent, or NONE for a root. */
  parentAt(ordinal: number): number;
  timeAt(ordinal: number): number;
  /** Returns an entry's head as an object. */
  headAt(ordinal: number): EntryHead;
  /** Returns whether an entry's head has these values, without creating an object. */
  isHeadAt(ordinal: number, type: unknown, id: unknown, parentId: unknown): boolean;
  /**
   * Yields the children of an entry, or the roots for NONE, in file order.
   *
   * @remarks Cost: O(answer).
   */
  children(ordinal: number): Iterable<number>;
  /** Yields the ordinals of all entries, in order. */
  ordinals(): Iterable<number>;
  /** Returns whether an entry has no children. */
  isLeaf(ordinal: number): boolean;
  /** Yields the entries without children, in file order. */
  leaves(): Iterable<number>;
  /**
   * Returns the path root → entry; empty for NONE.
   *
   * @remarks Cost: O(depth), 4 bytes per entry.
   */
  path(ordinal: number): Int32Array;
  /** Returns the deepest common ancestor of two entries, or NONE. */
  commonAncestor(a: number, b: number): number;
}

/** Returns the deepest common ancestor of two entries of a tree, or NONE. */
export function findCommonAncestor(tree: Pick<EntryTree, "parentAt">, a: number, b: number): number {
  let [x, y] = [a, b];
  let [depthX, depthY] = [getDepth(tree, a), getDepth(tree, b)];
  for (; depthX > depthY; depthX--) x = tree.parentAt(x);
  for (; depthY > depthX; depthY--) y = tree.parentAt(y);
  while (x !== y) {
    x = tree.parentAt(x);
    y = tree.parentAt(y);
  }
  return x;
}

/** Returns the number of entries on the path root → entry. */
export function getDepth(tree: Pick<EntryTree, "parentAt">, ordinal: number): number {
  let depth = 0;
  for (let at = ordinal; at !== NONE; at = tree.parentAt(at)) depth++;
  return depth;
}
