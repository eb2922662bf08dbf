import type { SessionManager } from "../manager/session-manager.ts";
import type { CliIo } from "./io.ts";

/**
 * Opens a session that is there, has something done to it, and makes sure that it is on disk.
 *
 * @param path - Of a file that exists: a missing one would be begun.
 * @returns What `change` gives.
 * @throws {SessionError} What `change` throws, or `WRITE_FAILED`.
 */
export async function changeSession<T>(
  path: string,
  io: CliIo,
  change: (session: SessionManager) => T | Promise<T>,
): Promise<T> {
  // Loaded only now: most commands look at sessions and change none.
  const manager = await import("../manager/session-manager.ts");
  const session = manager.SessionManager.open(path, io.now === undefined ? {} : { now: io.now });
  try {
    return await change(session);
  } finally {
    await session.close();
  }
}
