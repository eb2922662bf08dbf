import { changeSession } from "./change-session.ts";
import type { CliIo } from "./io.ts";
import { PIPED, type PipedSession } from "./piped-session.ts";
import { findSession } from "./session-argument.ts";
import type { SessionChange, SessionLocation } from "./session-location.ts";
import { isStoreUrl } from "./store/address.ts";
import type { StoredSessions } from "./store/stored-sessions.ts";
import { UsageError } from "./usage-error.ts";

/** What a call does with sessions, wherever they are. */
export interface SessionAccess {
  /** Sessions of a database, if the call is about such; undefined if it is about files. */
  readonly stored: StoredSessions | undefined;
  /**
   * Gives the absolute path of a session that was named by path, by id or name or the beginning of one, `@last` or `-`.
   *
   * Of a session in a database or from stdin it is that of a copy, which is only read and is gone when the call ends.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND` or `SESSION_AMBIGUOUS`, or `STORE_UNAVAILABLE`
   */
  findSession(name: string): Promise<string>;
  /**
   * Gives the absolute path of a session that something is done to: as `findSession`, but none that comes from stdin.
   *
   * @throws {UsageError} If it is `-`.
   */
  findKeptSession(name: string): Promise<string>;
  /**
   * Opens a session, has something done to it, and makes sure that it is written.
   *
   * @param path - What `findSession` gave.
   * @returns What `change` gives.
   * @throws {SessionError} What `change` throws, `WRITE_FAILED`, or `STORE_UNAVAILABLE`.
   */
  changeSession<T>(path: string, change: SessionChange<T>): Promise<T>;
  /**
   * Says where a session is that is read from a path: there, or in a database.
   *
   * @param path - What `findSession` gave.
   */
  locationOf(path: string): SessionLocation;
}

/** Makes it for files, for a database if the call is about one, and for what comes from stdin. */
export function accessSessions(place: {
  readonly io: CliIo;
  readonly dir: string | undefined;
  readonly stored: StoredSessions | undefined;
  readonly piped: PipedSession;
}): SessionAccess {
  const { io, stored, piped } = place;
  const find = async (name: string) => {
    if (isStoreUrl(name)) throw new UsageError("Give the address of a database with --store.");
    if (name === PIPED) return piped.path();
    return (await stored?.copyOf(name)) ?? findSession(name, place);
  };
  return {
    stored,
    findSession: find,
    findKeptSession: async (name) => {
      if (name === PIPED) throw onlyReadable();
      return find(name);
    },
    changeSession: async (path, change) => {
      if (piped.isAt(path)) throw onlyReadable();
      const id = stored?.idOf(path);
      return stored === undefined || id === undefined
        ? changeSession(path, io, change)
        : stored.change(id, change);
    },
    locationOf: (path) => {
      if (piped.isAt(path)) return { text: "stdin", json: { path: PIPED } };
      const id = stored?.idOf(path);
      return stored === undefined || id === undefined
        ? { text: path, json: { path } }
        : stored.locationOf(id);
    },
  };
}

function onlyReadable(): UsageError {
  return new UsageError("A session from stdin can only be read; save it to a file, and name that.");
}
