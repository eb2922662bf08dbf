/** Resolves after a turn of the event loop. As `node:timers/promises`, which costs a millisecond to import. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
