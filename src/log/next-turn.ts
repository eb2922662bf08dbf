/** Resolves when the event loop has given others their turn. As `node:timers/promises`, which costs a millisecond to import. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
