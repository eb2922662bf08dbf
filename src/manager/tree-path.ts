import type { EntryPath } from "../context/entry-path.ts";
import type { OrdinarySession } from "../jsonl/ordinary-session.ts";
import type { EntryCache } from "../log/entry-cache.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";

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

/**
 * Makes the path to the last entry of a session that has no tree yet.
 *
 * @param inTree - Makes the same path in the tree, which takes over at the first body that is damaged or disagrees with its
 *   head.
 */
export function ordinaryPath(
  session: OrdinarySession,
  cache: EntryCache,
  inTree: () => EntryPath,
): EntryPath {
  const ordinals = session.pathToLast();
  let treePath: EntryPath | undefined;
  const entriesAt = (indices: readonly number[]) => {
    const asked = indices.map((index) => ordinals[index] ?? NONE);
    const entries = treePath === undefined ? cache.ordinaryAt(session, asked) : undefined;
    if (entries !== undefined) return entries;
    treePath ??= inTree();
    return treePath.entriesAt(indices);
  };
  return {
    length: ordinals.length,
    mayHold: (type) => session.types.has(type),
    typeAt: (index) => session.typeAt(ordinals[index] ?? NONE),
    entryAt: (index) => entriesAt([index])[0],
    entriesAt,
    indexOf: (id) => ordinals.lastIndexOf(session.find(id)),
  };
}
