import type { ImportIntoStoreOptions, SessionStore } from "./session-store.ts";

/**
 * Copies a session from one store to another, byte for byte, under its id.
 *
 * Never overwrites. An entry appended meanwhile is in the copy as a whole or not at all.
 *
 * @returns The id.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_EXISTS`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`,
 *   `ABORTED`, and then nothing was added; `WRITE_FAILED`, and then nothing was added unless only the answer was lost.
 * @remarks Cost: O(bytes); memory O(the longest line).
 */
export function copySession(
  from: SessionStore,
  id: string,
  to: SessionStore,
  options: ImportIntoStoreOptions = {},
): Promise<string> {
  return to.importBytes(from.exportBytes(id, options), options);
}
