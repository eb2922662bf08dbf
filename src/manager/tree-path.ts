import type { EntryPath } from "../context/entry-path.ts";
import type { EntryCache } from "../log/entry-cache.ts";
import type { EntryTree } from "../tree/entry-tree.ts";

/** A path of the tree whose bodies come from the log when they are asked for. */
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
