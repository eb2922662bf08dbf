import { SessionError } from "./errors.ts";

/** Creates the error for aborted work. */
export function makeAbortedError(message: string, cause?: unknown): SessionError {
  return new SessionError("ABORTED", message, cause === undefined ? {} : { cause });
}

const CANCELLED = "The caller canceled the work. Start it again if it is still needed.";

/**
 * Throws an error if the signal is aborted.
 *
 * @throws {SessionError} `ABORTED` with the message and the signal's reason.
 */
export function refuseAborted(signal: AbortSignal | undefined, message = CANCELLED): void {
  if (signal?.aborted) throw makeAbortedError(message, signal.reason);
}

/** Callbacks for a signal, and the single listener that calls them. */
interface Waiting {
  readonly calls: Set<() => void>;
  readonly callAll: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls a function once when a signal is aborted, or immediately if it has already been aborted.
 *
 * All callbacks of a signal share one listener, because Node.js warns about a possible leak if there are more than ten. The
 * listener is removed with the last callback.
 *
 * @returns A function that removes the callback.
 */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    call();
    return () => undefined;
  }
  const { calls, callAll } = waitingFor.get(signal) ?? listenTo(signal);
  // Wraps the callback in a new function, because the same callback may be registered twice.
  const own = () => call();
  calls.add(own);
  return () => {
    if (!calls.delete(own) || calls.size > 0) return;
    signal.removeEventListener("abort", callAll);
    waitingFor.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const calls = new Set<() => void>();
  const callAll = () => {
    for (const call of calls) call();
    calls.clear();
  };
  const waiting = { calls, callAll };
  waitingFor.set(signal, waiting);
  signal.addEventListener("abort", callAll, { once: true });
  return waiting;
}

/**
 * Waits for work, but only until the signal is aborted, even if the work ignores the signal.
 *
 * @throws {SessionError} `ABORTED` with the message. The result of the work, if any, is discarded.
 */
export async function waitUnlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  message = CANCELLED,
): Promise<T> {
  if (signal === undefined) return work;
  let stop: () => void = () => undefined;
  const end = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => reject(makeAbortedError(message, signal.reason)));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    stop();
  }
}
