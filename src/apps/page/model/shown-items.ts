import { NONE } from "../../../core/tree/entry-tree.ts";
import { isHiddenRecord, type SessionModel } from "./session-model.ts";

/** Records of state, usage, and imports to show. */
export interface ShownRecords {
  /** Whether all of them are shown; default: hidden. */
  readonly areRecordsShown?: boolean;
  /** Records that are shown even though records are hidden, because the reader navigated to them. */
  readonly revealed?: ReadonlySet<number>;
}

/**
 * Returns the entries on a path that are shown.
 *
 * @returns The same array if nothing is hidden.
 * @remarks Cost: O(items).
 */
export function listShownItems<T extends { readonly ordinal: number }>(
  session: SessionModel,
  items: readonly T[],
  { areRecordsShown = false, revealed }: ShownRecords,
): readonly T[] {
  if (areRecordsShown) return items;
  const isShown = ({ ordinal }: T) => revealed?.has(ordinal) === true || !isHiddenRecord(session, ordinal);
  return items.every(isShown) ? items : items.filter(isShown);
}

/** Returns the last entry that is shown on the path to an entry; NONE if no entry is shown. */
export function findShownEnd(
  session: SessionModel,
  end: number,
  { areRecordsShown = false }: Pick<ShownRecords, "areRecordsShown">,
): number {
  let at = end;
  while (!areRecordsShown && at !== NONE && isHiddenRecord(session, at)) at = session.tree.parentAt(at);
  return at;
}

/**
 * Counts the records of a session that are hidden by default.
 *
 * @remarks Cost: O(entries).
 */
export function countHiddenRecords(session: SessionModel): number {
  let count = 0;
  for (let ordinal = 0; ordinal < session.size; ordinal++) if (isHiddenRecord(session, ordinal)) count++;
  return count;
}
