/**
 * Returns the number of milliseconds since an arbitrary time in the past, from a monotonic clock.
 *
 * `performance.now()` is equivalent, but the first access to `performance` loads a part of Node.js, which takes longer than
 * opening a small session.
 */
export function getMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * Resolves after a turn of the event loop. Equivalent to `setImmediate` from `node:timers/promises`, which takes a millisecond to
 * import.
 */
export function waitForTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Blocks the thread for a number of milliseconds. */
export function sleepFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
