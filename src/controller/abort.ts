import { isSessionError } from "../schema/errors.ts";

/** Joins the caller's signal, if there is one, with our own. */
export function joinSignals(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}

/** Tells whether an error says that work was cancelled. */
export function isAborted(error: unknown): boolean {
  return isSessionError(error, "ABORTED");
}
