import { SessionError } from "../../core/format/errors.ts";

/** Makes the error for an id that a store or backend does not have. */
export function sessionNotFound(id: string): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    `There is no session ${id}. List the sessions to see which there are.`,
    { details: { id } },
  );
}

/** Makes the error for an id that a store or backend already has. */
export function sessionExists(id: string): SessionError {
  return new SessionError(
    "SESSION_EXISTS",
    `There is a session ${id} already. Open it, or choose another id.`,
    { details: { id } },
  );
}

/** Makes the error for a session without the line that the caller wrote or read before: nothing was added or read. */
export function writesLost(id: string): SessionError {
  return new SessionError(
    "WRITES_LOST",
    `Lines of session ${id} that were stored are lost, as after a failover. Append them again, or open the session again.`,
    { details: { id } },
  );
}

/** Makes the error for calls to a closed store. */
export function storeClosed(): SessionError {
  return new SessionError("SESSION_CLOSED", "The store was closed; create a new one.");
}
