import { onAbort, refuseAborted, waitUnlessAborted } from "../../core/format/abort.ts";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { makeNumberRule, type OptionRules } from "../../core/format/options.ts";

/** Options for retrying calls to a backend. */
export interface RetryOptions {
  /** Milliseconds before the second attempt. Doubled before each subsequent attempt. Default 50. */
  readonly minRetryMs?: number;
  /** Maximum number of milliseconds between attempts. Default 5,000. */
  readonly maxRetryMs?: number;
  /** Milliseconds without a response after which a waiting call fails. Default 15,000. */
  readonly giveUpAfterMs?: number;
}

/** `RetryOptions` with defaults applied. */
export type RetryPace = Required<RetryOptions>;

/** Returns retry options with defaults applied. */
export function retryPace(options: RetryOptions): RetryPace {
  const { minRetryMs = 50, maxRetryMs = 5_000, giveUpAfterMs = 15_000 } = options;
  return { minRetryMs, maxRetryMs, giveUpAfterMs };
}

/** Returns the number of milliseconds to wait after failed attempts. Increases with each attempt and includes random jitter. */
export function retryDelay({ minRetryMs, maxRetryMs }: RetryPace, attempts: number): number {
  const longest = Math.min(maxRetryMs, minRetryMs * 2 ** Math.min(attempts - 1, 30));
  return longest * (0.5 + Math.random() / 2);
}

/**
 * Repeats a call until it succeeds or is refused.
 *
 * @param call - Call to make, which must be safe to repeat. Its signal aborts when the result is no longer needed.
 * @throws {SessionError} A `SessionError` thrown by the call itself, `STORE_UNAVAILABLE` after `giveUpAfterMs`, or
 *   `ABORTED`.
 */
export async function repeatUntilAnswered<T>(
  call: (end: AbortSignal) => Promise<T>,
  pace: RetryPace,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + pace.giveUpAfterMs;
  for (let attempts = 1; ; attempts++) {
    refuseAborted(signal);
    const end = new AbortController();
    try {
      return await waitWithin(call(end.signal), deadline - performance.now(), signal);
    } catch (error) {
      end.abort();
      if (isSessionError(error)) throw error;
      const delay = retryDelay(pace, attempts);
      if (performance.now() + delay >= deadline) throw makeUnavailableError(error);
      await pauseUnless(signal, delay);
    }
  }
}

/** Validation rules for `RetryOptions`. */
export const RETRY_RULES: OptionRules<RetryOptions> = {
  minRetryMs: makeNumberRule(0, "milliseconds"),
  maxRetryMs: makeNumberRule(0, "milliseconds"),
  giveUpAfterMs: makeNumberRule(0, "milliseconds"),
};

/** Waits for a number of milliseconds, or until the signal aborts. */
export async function pauseUnless(signal: AbortSignal | undefined, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Creates the error for a backend that does not respond. */
function makeUnavailableError(cause: unknown): SessionError {
  const message = `The store does not respond: ${formatReason(cause)}. Check the connection, and try again.`;
  return new SessionError("STORE_UNAVAILABLE", message, { cause });
}

/** Returns an error message without its final period, for use within a sentence. */
export function formatReason(cause: unknown): string {
  return getErrorMessage(cause).replace(/\.$/, "");
}

/** Waits for a promise. Resolves to undefined as soon as the signal aborts. */
export async function waitOrAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  if (signal === undefined) return promise;
  let forget: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => {
    forget = onAbort(signal, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}

/** Waits for a promise. Throws if time runs out or the signal aborts first. */
async function waitWithin<T>(promise: Promise<T>, ms: number, signal: AbortSignal | undefined): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(makeUnavailableError("no response in time")), Math.max(1, ms));
  });
  try {
    return await waitUnlessAborted(Promise.race([promise, timeout]), signal);
  } finally {
    clearTimeout(timer);
  }
}
