import { SessionError } from "./errors.ts";

/** Makes the error of work that nobody wants any longer. */
export function makeAbortedError(message: string, cause?: unknown): SessionError {
  return new SessionError("ABORTED", message, cause === undefined ? {} : { cause });
}

const CANCELLED = "The caller canceled the work. Start it again if it is still needed.";

/**
 * Ends work that nobody wants any longer.
 *
 * @throws {SessionError} `ABORTED` with the message and the signal's reason, if the signal was aborted.
 */
export function refuseAborted(signal: AbortSignal | undefined, message = CANCELLED): void {
  if (signal?.aborted) throw makeAbortedError(message, signal.reason);
}

/** What waits for a signal, and the one listener that calls it. */
interface Waiting {
  readonly calls: Set<() => void>;
  readonly callAll: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back once when a signal aborts; at once if it has.
 *
 * However many wait for one signal, it has one listener for all of them, since Node warns of a leak if there are more
 * than ten; and none once nobody waits.
 *
 * @returns A function that takes the call back.
 */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    call();
    return () => undefined;
  }
  const { calls, callAll } = waitingFor.get(signal) ?? listenTo(signal);
  // An object of its own for each call of this function, since the same function may be given twice.
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
 * Waits for work, and no longer than until the signal aborts: what ignores the signal holds nobody up.
 *
 * @throws {SessionError} `ABORTED` with the message; whatever the work comes to then is dropped.
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
