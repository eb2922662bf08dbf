import { type ContinuedSession, findContinuedSession } from "../continued-session.ts";
import { type SourceRecord, toNonemptyText } from "../source-text.ts";

/** Position of the first record in a file that was not copied from a sessiontree session. */
export interface Continuation {
  readonly session: ContinuedSession;
  /** Index of the first record after the copies. */
  readonly position: number;
}

/**
 * Finds the position at which a transcript continues a sessiontree session.
 *
 * A fork copies messages with their ids, but not the record that identifies the continued session. That record is in the
 * original transcript.
 *
 * @param original - Records of the session that was forked; empty if the transcript is not a fork.
 * @returns Undefined if the transcript does not continue a sessiontree session.
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
