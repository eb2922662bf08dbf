import { isSessionError } from "../schema/errors.ts";

/** Joins the signal that a caller may have given with our own. */
export function joinSignals(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}

/** Tells whether this is the error of something that nobody wants any longer. */
export function isAborted(error: unknown): boolean {
  return isSessionError(error, "ABORTED");
}
