/**
 * Milliseconds since some moment in the past, by a clock that is never set.
 *
 * `performance.now()` tells the same, but the first look at `performance` loads a part of Node that takes longer than
 * to open a small session.
 */
export function getMonotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** Resolves after a turn of the event loop. As `node:timers/promises`, which costs a millisecond to import. */
export function waitForTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Blocks the thread for some milliseconds. */
export function sleepFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
