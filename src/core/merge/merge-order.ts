import { isTime } from "../format/timestamps.ts";
import { NONE } from "../tree/entry-tree.ts";
import { findCycleBreaks } from "../tree/parent-links.ts";
import type { EntryUnion, Member } from "./entry-union.ts";
import type { Matching } from "./match-entries.ts";

/**
 * Finds the parent of each entry of a union.
 *
 * If both copies contain the entry and its parent's id refers to different entries, the entry that keeps the id is the parent.
 * Searches the other copy for a parent that is missing from one copy.
 *
 * @returns By number; NONE for roots, and for unused numbers.
 * @remarks Cost: O(entries).
 */
export function findParents(matching: Matching): Int32Array {
  const { union } = matching;
  const parents = new Int32Array(union.size).fill(NONE);
  for (const entry of union.entries()) {
    parents[entry] = union.isSingle(entry)
      ? getParent(union.memberAt(entry), matching)
      : getFirstParent(union.members(entry), matching);
  }
  for (const member of findCycleBreaks(parents, parents.length))
    parents[findFirstOfCycle(member, parents, union)] = NONE;
  return parents;
}

/** Returns the entry with the lowest id in a cycle, which two copies may form together. */
function findFirstOfCycle(member: number, parents: Int32Array, union: EntryUnion): number {
  let first = member;
  for (let at = parents[member] ?? member; at !== member; at = parents[at] ?? member) {
    if (union.getId(at) < union.getId(first)) first = at;
  }
  return first;
}

/** Returns the parent of one occurrence of an entry. */
export function getParent(member: Member, matching: Matching): number {
  const { side, source, ordinal } = member;
  const { union, lostParents } = matching;
  const lost = lostParents[side].get(ordinal);
  const found = lost === undefined ? NONE : union.find(side === "a" ? "b" : "a", lost);
  return found === NONE ? union.at(side, source.index.tree.parentAt(ordinal)) : found;
}

function getFirstParent(members: readonly Member[], matching: Matching): number {
  const { union, lostParents } = matching;
  const sure = members.filter(({ side, ordinal }) => !lostParents[side].has(ordinal));
  let first: { entry: number; id: string } | undefined;
  for (const member of sure.length > 0 ? sure : members) {
    const entry = getParent(member, matching);
    const id = entry === NONE ? "" : union.getId(entry);
    if (first === undefined || id < first.id) first = { entry, id };
  }
  return first?.entry ?? NONE;
}

/**
 * Orders the entries of a union for the file: by time, but always after their parents.
 *
 * The order depends only on the entries, so that the latest name and label do not depend on the order of merges.
 *
 * @remarks Cost: O(n log n).
 */
export function orderEntries(union: EntryUnion, parents: Int32Array): Int32Array {
  const { times, depths } = measurePlaces(union, parents);
  const order = Int32Array.from(union.entries());
  return order.sort((x, y) => {
    const [timeX = 0, timeY = 0] = [times[x], times[y]];
    if (timeX !== timeY) return timeX < timeY ? -1 : 1;
    const byDepth = (depths[x] ?? 0) - (depths[y] ?? 0);
    if (byDepth !== 0) return byDepth;
    return union.getId(x) < union.getId(y) ? -1 : 1;
  });
}

/**
 * Returns the depth of each entry and the latest time on its path. That time is later than the entry's own time if a clock was
 * wrong.
 */
function measurePlaces(union: EntryUnion, parents: Int32Array): { times: Float64Array; depths: Int32Array } {
  const times = new Float64Array(union.size);
  const depths = new Int32Array(union.size).fill(NONE);
  const above: number[] = [];
  for (const entry of union.entries()) {
    let at = entry;
    for (; at !== NONE && depths[at] === NONE; at = parents[at] ?? NONE) above.push(at);
    for (let one = above.pop(); one !== undefined; one = above.pop()) {
      const parent = parents[one] ?? NONE;
      const timeMs = getWrittenTime(union.getTime(one));
      const before = parent === NONE ? Number.NEGATIVE_INFINITY : (times[parent] ?? 0);
      times[one] = timeMs > before ? timeMs : before;
      depths[one] = parent === NONE ? 0 : (depths[parent] ?? 0) + 1;
    }
  }
  return { times, depths };
}

/** Returns the time in the written line; the epoch for an entry without a time. */
function getWrittenTime(timeMs: number): number {
  return isTime(timeMs) ? timeMs : 0;
}
