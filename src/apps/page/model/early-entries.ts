import type { EntryTree } from "../../../core/tree/entry-tree.ts";

/** Number of entries at each position that may be in view when the page is first drawn. */
const SEEN_AT_FIRST = 150;

/** Tree and leaf of a session that has just been read. */
interface ReadSession {
  readonly tree: EntryTree;
  readonly storedLeaf: number;
}

/**
 * Chooses the entries that may be in view when a large session's page is first drawn: at both ends of the path, and around the
 * entry in the address.
 *
 * @param leafId - Id of the last entry on the path; undefined for the session's leaf.
 * @param hash - Part of the address starting with `#`.
 * @returns Ordinals in file order.
 */
export function chooseEarlyEntries(
  { tree, storedLeaf }: ReadSession,
  leafId: string | undefined,
  hash: string,
): number[] {
  const named = new URLSearchParams(hash.replace(/^#/, ""));
  const find = (name: string) => tree.find(named.get(name) ?? "");
  const leaf = leafId === undefined ? storedLeaf : tree.find(leafId);
  const chosen = new Set<number>();
  for (const end of [leaf, find("end"), find("beside")]) {
    const path = tree.path(end);
    for (const ordinal of [...path.slice(0, SEEN_AT_FIRST), ...path.slice(-SEEN_AT_FIRST)])
      chosen.add(ordinal);
  }
  const [focus, half] = [find("entry"), SEEN_AT_FIRST / 2];
  // Consecutive entries of the file are usually on one path.
  for (let at = Math.max(0, focus - half); focus >= 0 && at < Math.min(tree.size, focus + half); at++)
    chosen.add(at);
  return [...chosen].sort((a, b) => a - b);
}
