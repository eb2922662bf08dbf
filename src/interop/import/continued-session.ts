import { toRecord } from "../../core/context/entry-fields.ts";
import type { JsonRecord } from "../../core/format/json.ts";

/** Type of the record that names the session that a program's file continues, in programs that keep records of unknown types. */
export const CONTINUED_SESSION_TYPE = "sessiontree";

/** The session and the entry at which another program continues. */
export interface ContinuedSession {
  readonly sessionId: string;
  /** Entry that was the leaf when the session was exported. */
  readonly leafId: string;
}

/** Parses the value of a provenance record; undefined if it is not one. */
export function parseContinuedSession(value: unknown): ContinuedSession | undefined {
  const { sessionId, leafId } = toRecord(value);
  return typeof sessionId === "string" && typeof leafId === "string" ? { sessionId, leafId } : undefined;
}

/** Returns the session that a file continues, from a record of the file; undefined if the record does not name one. */
export function findContinuedSession({
  type,
  payload,
  continued,
  $set: patch,
}: JsonRecord): ContinuedSession | undefined {
  if (type === CONTINUED_SESSION_TYPE) return parseContinuedSession(payload ?? continued);
  return parseContinuedSession(toRecord(patch)[CONTINUED_SESSION_TYPE]);
}
