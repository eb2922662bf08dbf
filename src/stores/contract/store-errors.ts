import { SessionError } from "../../core/format/errors.ts";
import { toSafeString } from "../../core/format/json.ts";

/** Creates the error for a session that does not exist in a store or backend. */
export function sessionNotFound(id: string): SessionError {
  const message = `There is no session ${toSafeString(id)}. List the sessions to see which exist.`;
  return new SessionError("SESSION_NOT_FOUND", message, { details: { id } });
}

/** Creates the error for a session that already exists in a store or backend. */
export function sessionExists(id: string): SessionError {
  return new SessionError(
    "SESSION_EXISTS",
    `Session ${toSafeString(id)} already exists. Open it, or choose another id.`,
    {
      details: { id },
    },
  );
}

/** Creates the error for a session that is missing a line that the caller previously wrote or read. Nothing was added or read. */
export function writesLost(id: string): SessionError {
  const message = `Lines of session ${toSafeString(id)} that were stored have been lost, for example because of a failover. Append them again, or open the session again.`;
  return new SessionError("WRITES_LOST", message, { details: { id } });
}

/** Creates the error for calls to a closed store. */
export function storeClosed(): SessionError {
  return new SessionError("SESSION_CLOSED", "The store was closed; create a new one.");
}
