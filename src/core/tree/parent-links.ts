/**
 * Finds, for each cycle of a forest of parent links, its first entry: the one at which it must be broken.
 *
 * @param parents - Ordinal of each entry's parent, or -1.
 * @param size - How many of them count.
 * @remarks Cost: O(size). Each entry is entered once: a walk stops where an earlier walk has been.
 */
export function findCycleBreaks(parents: Int32Array, size: number): number[] {
  const walks = new Int32Array(size);
  const breaks: number[] = [];
  for (let start = 0; start < size; start++) {
    const walk = start + 1;
    let at = start;
    while (at >= 0 && walks[at] === 0) {
      walks[at] = walk;
      at = parents[at] ?? -1;
    }
    // Back on its own track, the walk has closed a cycle; another walk's track was checked before.
    if (at >= 0 && walks[at] === walk) breaks.push(findCycleStart(parents, at));
  }
  return breaks;
}

function findCycleStart(parents: Int32Array, member: number): number {
  let first = member;
  for (let at = parents[member] ?? -1; at !== member; at = parents[at] ?? -1) first = Math.min(first, at);
  return first;
}
