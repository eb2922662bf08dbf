import type { AnySessionEntry } from "../../../core.ts";
import type { SessionModel } from "./session-model.ts";

/** Bodies that are parsed at most, in a session whose entries do not say what is looked for. */
const MAX_BODIES = 500;

/** A value that an entry has, and the index of the entry in the list that was searched. */
interface IndexedValue<T> {
  readonly index: number;
  readonly value: T;
}

/**
 * Finds the last of some entries that has a value.
 *
 * @param mayHave - Returns whether an entry may have it, by what is known without the body.
 * @param read - Returns the value that an entry has; undefined for none.
 * @returns Undefined if none has it, or the last 500 that might have it do not.
 * @remarks Cost: O(entries), and at most 500 bodies.
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
