import type { EntryPath } from "../context/entry-path.ts";
import type { EntryCache } from "../log/entry-cache.ts";
import type { EntryTree } from "../tree/entry-tree.ts";

/** Makes a path of the tree that reads bodies from the log on demand. */
export function treePath(tree: EntryTree, cache: EntryCache, ordinals: Int32Array): EntryPath {
  return {
    length: ordinals.length,
    mayHold: (type) => tree.hasType(type),
    typeAt: (index) => tree.typeAt(ordinals[index] ?? 0),
    entryAt: (index) => cache.bodyAt(ordinals[index] ?? 0),
    entriesAt: (indices) => cache.bodiesAt(indices.map((index) => ordinals[index] ?? 0)),
    indexOf: (id) => ordinals.lastIndexOf(tree.find(id)),
  };
}
