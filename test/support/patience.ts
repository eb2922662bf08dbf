/** Milliseconds for which a test waits for what must come; much longer than any of it takes, also beside a busy neighbor. */
export const PATIENCE_MS = 90_000;
