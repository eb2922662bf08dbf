import { toRecord } from "../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../core/format/json.ts";

/** Type of the record that identifies the continued session, in programs that preserve records of unknown types. */
export const CONTINUED_SESSION_TYPE = "sessiontree";

/** The session that another program continues, and the entry at which it continues. */
export interface ContinuedSession {
  readonly sessionId: string;
  /** Id of the entry that was the leaf when the session was exported. */
  readonly leafId: string;
}

/** Parses the value of a continuation record; undefined if it is invalid. */
export function parseContinuedSession(value: unknown): ContinuedSession | undefined {
  const { sessionId, leafId } = toRecord(value);
  return typeof sessionId === "string" && typeof leafId === "string" ? { sessionId, leafId } : undefined;
}

/** Returns the session that a file continues, from one of its records; undefined if the record does not identify a session. */
export function findContinuedSession({
  type,
  payload,
  continued,
  $set: patch,
}: JsonRecord): ContinuedSession | undefined {
  if (type === CONTINUED_SESSION_TYPE) return parseContinuedSession(payload ?? continued);
  return parseContinuedSession(toRecord(patch)[CONTINUED_SESSION_TYPE]);
}
