import type { AnySessionEntry } from "../../../core.ts";
import type { SessionModel } from "./session-model.ts";

/** Maximum number of bodies to parse in a session whose entries lack the value. */
const MAX_BODIES = 500;

/** Value of an entry, and the index of the entry in the searched array. */
interface IndexedValue<T> {
  readonly index: number;
  readonly value: T;
}

/**
 * Finds the last entry that has a value.
 *
 * @param mayHave - Returns whether an entry may have a value, without reading its body.
 * @param read - Returns the value of an entry; undefined if it has no value.
 * @returns Undefined if no entry has a value, or if none of the last 500 candidates has one.
 * @remarks Cost: O(entries), plus at most 500 bodies.
 */
export function findLastValue<T>(
  { entryAt }: Pick<SessionModel, "entryAt">,
  ordinals: readonly number[],
  mayHave: (ordinal: number) => boolean,
  read: (entry: AnySessionEntry) => T | undefined,
): IndexedValue<T> | undefined {
  let bodies = 0;
  for (let index = ordinals.length - 1; index >= 0 && bodies < MAX_BODIES; index--) {
    const ordinal = ordinals[index];
    if (ordinal === undefined || !mayHave(ordinal)) continue;
    bodies++;
    const entry = entryAt(ordinal);
    const value = entry && read(entry);
    if (value !== undefined) return { index, value };
  }
  return undefined;
}
