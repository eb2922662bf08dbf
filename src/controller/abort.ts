import { onAbort } from "../log/on-abort.ts";
import { isSessionError, SessionError } from "../schema/errors.ts";

/** Makes the error of something that nobody wants any longer. */
export function aborted(message: string, cause?: unknown): SessionError {
  return new SessionError("ABORTED", message, cause === undefined ? {} : { cause });
}

/** Joins the signal that a caller may have given with our own. */
export function joinSignals(own: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}

/** Tells whether this is the error of something that nobody wants any longer. */
export function isAborted(error: unknown): boolean {
  return isSessionError(error, "ABORTED");
}

/**
 * Refuses to go on once nobody wants the result.
 *
 * @throws {SessionError} `ABORTED` with the message, if the signal was aborted.
 */
export function refuseAborted(signal: AbortSignal | undefined, message: string): void {
  if (signal?.aborted) throw aborted(message, signal.reason);
}

/**
 * Waits for work, and no longer than until the signal aborts: what ignores the signal holds nobody up.
 *
 * @throws {SessionError} `ABORTED` with the message; whatever the work comes to then is dropped.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  message: string,
): Promise<T> {
  if (signal === undefined) return work;
  const { promise: end, stop } = abortOf(signal, message);
  try {
    return await Promise.race([work, end]);
  } finally {
    stop();
  }
}

/** A promise that rejects when the signal aborts, until it is stopped. */
function abortOf(signal: AbortSignal, message: string): { promise: Promise<never>; stop: () => void } {
  let stop: () => void = () => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => reject(aborted(message, signal.reason)));
  });
  return { promise, stop };
}
