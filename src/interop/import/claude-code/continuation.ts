import { type ContinuedSession, findContinuedSession } from "../continued-session.ts";
import { type SourceRecord, toNonemptyText } from "../source-text.ts";

/** Position of the first record of a file that was not copied from a session of ours. */
export interface Continuation {
  readonly session: ContinuedSession;
  /** Index of the first record after the copies. */
  readonly position: number;
}

/**
 * Finds the position where a transcript continues a session of ours.
 *
 * A fork copies messages under their ids, but not the record that names the continued session; that record is in the transcript
 * that was forked.
 *
 * @param original - Records of the forked transcript; empty if there is none.
 * @returns Undefined if it does not continue a session of ours.
 */
export function findContinuation(
  records: readonly SourceRecord[],
  original: readonly SourceRecord[] = [],
): Continuation | undefined {
  const own = findLastRecord(records);
  if (own !== undefined) return own;
  const copied = findLastRecord(original);
  if (copied === undefined) return undefined;
  const uuids = new Set(original.slice(0, copied.position).map(getUuid));
  const last = records.findLastIndex((record) => getUuid(record) !== undefined && uuids.has(getUuid(record)));
  return last === -1 ? undefined : { session: copied.session, position: last + 1 };
}

function findLastRecord(records: readonly SourceRecord[]): Continuation | undefined {
  for (let position = records.length - 1; position >= 0; position--) {
    const session = findContinuedSession(records[position]?.value ?? {});
    if (session !== undefined) return { session, position };
  }
  return undefined;
}

function getUuid({ value }: SourceRecord): string | undefined {
  return toNonemptyText(value["uuid"]);
}
