import { ARRAY, assertArgument, assertMethod } from "../format/arguments.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { SessionHeader } from "../format/header.ts";
import { toRecord } from "./entry-fields.ts";

/**
 * Finds the entries root → leaf among entries in memory.
 *
 * A parent is the nearest earlier entry with the parent's id or, failing that, the first later entry. An entry whose parent is
 * missing becomes the root. A cycle is broken at its first entry.
 *
 * @param records - Entries in file order; headers are skipped.
 * @param leafId - End of the path. If undefined or unknown, the last entry is used; null means the position before the first
 * entry.
 * @param byId - Map of entries by id, if available; avoids indexing `records`.
 * @returns A new array; empty if `records` has no entries or `leafId` is null.
 * @remarks Cost: O(records), or O(path) with `byId`.
 */
export function findLeafPath(
  records: readonly (AnySessionEntry | SessionHeader)[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, AnySessionEntry>,
): AnySessionEntry[] {
  assertArgument("entries", records, ARRAY);
  // As in pi, a program in JavaScript may pass null instead of a map.
  if (byId != null) assertMethod("byId", byId, "a Map of entries by id", "get");
  if (leafId === null) return [];
  if (byId == null) return climbByPlace(records.filter(isNotHeader), leafId);
  const named = leafId === undefined ? undefined : byId.get(leafId);
  const leaf = named ?? records.findLast(isNotHeader);
  const { climbed } = climbPath(leaf, (entry) =>
    entry.parentId === null ? undefined : byId.get(entry.parentId),
  );
  return climbed.reverse();
}

function isNotHeader(record: AnySessionEntry | SessionHeader): record is AnySessionEntry {
  const { type } = toRecord(record);
  return typeof type === "string" && type !== "session";
}

function climbByPlace(entries: readonly AnySessionEntry[], leafId: string | undefined): AnySessionEntry[] {
  const { parents, places } = linkEntries(entries);
  const last = entries.length === 0 ? undefined : entries.length - 1;
  const leaf = leafId === undefined ? last : (places.get(leafId) ?? last);
  const { climbed, reentered } = climbPath(leaf, (place) => parents[place]);
  if (reentered !== undefined) cutCycle(climbed, reentered);
  return climbed.reverse().flatMap((place) => entries[place] ?? []);
}

/** Trims a path that ends in a cycle, so that the cycle's first entry in the file becomes the root. */
function cutCycle(climbed: number[], reentered: number): void {
  const start = climbed.indexOf(reentered);
  let root = start;
  for (let i = start; i < climbed.length; i++) if ((climbed[i] ?? 0) < (climbed[root] ?? 0)) root = i;
  climbed.length = root + 1;
}

/** Returns the index of each entry's parent and of the first entry with each id. */
function linkEntries(entries: readonly AnySessionEntry[]) {
  const parents: (number | undefined)[] = [];
  const places = new Map<string, number>();
  const latest = new Map<string, number>();
  entries.forEach(({ id, parentId }, place) => {
    parents.push(typeof parentId === "string" ? latest.get(parentId) : undefined);
    latest.set(id, place);
    if (!places.has(id)) places.set(id, place);
  });
  entries.forEach(({ parentId }, place) => {
    if (typeof parentId === "string") parents[place] ??= places.get(parentId);
  });
  return { parents, places };
}

/** Follows parents upward from a leaf. Stops at a root or at an entry that was already visited. */
function climbPath<T>(
  leaf: T | undefined,
  getParent: (at: T) => T | undefined,
): { climbed: T[]; reentered: T | undefined } {
  const climbed = new Set<T>();
  let at = leaf;
  while (at !== undefined && !climbed.has(at)) {
    climbed.add(at);
    at = getParent(at);
  }
  return { climbed: [...climbed], reentered: at };
}
