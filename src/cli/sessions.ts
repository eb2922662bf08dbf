import type { CliIo } from "./io.ts";
import { fileSession, type NamedSession, onlyReadable, PIPED, pipedSession } from "./named-session.ts";
import { findSession } from "./session-argument.ts";
import { isStoreUrl } from "./store-address.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { UsageError } from "./usage-error.ts";

/** What a call does with sessions, wherever they are. */
export interface SessionAccess {
  /** Sessions of a database, if the call is about such; undefined if it is about files. */
  readonly stored: StoredSessions | undefined;
  /**
   * Finds a session by path, by id or name or the beginning of one, `@last`, or `-` for stdin.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_AMBIGUOUS` or `STORE_UNAVAILABLE`
   */
  findSession(name: string): Promise<NamedSession>;
  /**
   * Finds a session that something is done to, as `findSession`, but none that comes from stdin.
   *
   * @throws {UsageError} If it is `-`.
   */
  findKeptSession(name: string): Promise<NamedSession>;
  /**
   * Finds a session for what only files can do.
   *
   * @returns Its absolute path.
   * @throws {UsageError} If it is no file.
   */
  findFile(name: string): Promise<string>;
}

/** Makes it for files, for a database if the call is about one, and for what comes from stdin. */
export function accessSessions(place: {
  readonly io: CliIo;
  readonly dir: string | undefined;
  readonly stored: StoredSessions | undefined;
}): SessionAccess {
  const { io, stored } = place;
  const piped = pipedSession(io);
  const findKeptSession = async (name: string) => {
    if (name === PIPED) throw onlyReadable();
    if (isStoreUrl(name)) throw new UsageError("Give the address of a database with --store.");
    return (await stored?.find(name)) ?? fileSession(await findSession(name, place), io);
  };
  return {
    stored,
    findSession: async (name) => (name === PIPED ? piped : findKeptSession(name)),
    findKeptSession,
    findFile: async (name) => {
      const { location, path } = await findKeptSession(name);
      if (path !== undefined) return path;
      throw new UsageError(`${location.text} is no file; "sessiontree copy" copies it to a folder.`);
    },
  };
}
