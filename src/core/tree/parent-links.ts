/**
 * Finds the first entry of each cycle in the parent links, where the cycle must be broken.
 *
 * @param parents - Ordinal of each entry's parent, or -1.
 * @param size - Number of entries to check.
 * @remarks Cost: O(size). Each entry is visited once, because a walk stops at an entry that an earlier walk visited.
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
    // If the walk returns to its own track, it has closed a cycle; tracks of other walks were already checked.
    if (at >= 0 && walks[at] === walk) breaks.push(findCycleStart(parents, at));
  }
  return breaks;
}

function findCycleStart(parents: Int32Array, member: number): number {
  let first = member;
  for (let at = parents[member] ?? -1; at !== member; at = parents[at] ?? -1) first = Math.min(first, at);
  return first;
}
