import type { EntryPath } from "../context/entry-path.ts";
import type { SessionHeads } from "../jsonl/session-heads.ts";
import type { EntryCache } from "../log/entry-cache.ts";

/** Makes a path of heads that reads bodies from the log on demand. */
export function pathIn(heads: SessionHeads, cache: EntryCache, ordinals: Int32Array): EntryPath {
  return {
    length: ordinals.length,
    mayHold: (type) => heads.hasType(type),
    typeAt: (index) => heads.typeAt(ordinals[index] ?? 0),
    entryAt: (index) => cache.bodyAt(ordinals[index] ?? 0),
    entriesAt: (indices) => cache.bodiesAt(indices.map((index) => ordinals[index] ?? 0)),
    indexOf: (id) => ordinals.lastIndexOf(heads.find(id)),
  };
}
