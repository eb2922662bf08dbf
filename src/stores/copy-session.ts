import type { ImportOptions, SessionStore } from "./session-store.ts";

/**
 * Copies a session from one store to another, byte for byte, under its id.
 *
 * Never overwrites. What is appended meanwhile may be in the copy or not, but never a part of it.
 *
 * @returns The id.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_EXISTS`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`,
 *   `ABORTED`, and then nothing was added; `WRITE_FAILED`, and then nothing was added unless the answer alone was lost.
 * @remarks Cost: O(bytes); memory O(the longest line).
 */
export function copySession(
  from: SessionStore,
  id: string,
  to: SessionStore,
  options: ImportOptions = {},
): Promise<string> {
  return to.importBytes(from.exportBytes(id, options), options);
}
