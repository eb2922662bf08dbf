/** Timeout of a wait in tests, in milliseconds; much longer than any wait takes, even next to a busy process. */
export const PATIENCE_MS = 90_000;
