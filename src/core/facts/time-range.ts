import type { EntryTree } from "../tree/entry-tree.ts";

/** Returns the earliest and the latest time of a session's entries, in Unix milliseconds; NaN if none has one. */
export function timeRange(tree: EntryTree): [number, number] {
  let [first, last] = [Number.NaN, Number.NaN];
  for (const ordinal of tree.ordinals()) {
    const time = tree.timeAt(ordinal);
    if (Number.isNaN(time)) continue;
    if (!(first <= time)) first = time;
    if (!(last >= time)) last = time;
  }
  return [first, last];
}
