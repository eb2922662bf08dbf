import type { NameMatch } from "../../catalog/list/resolve-session.ts";
import type { CliIo } from "./io.ts";
import {
  isPiped,
  makeFileSession,
  makePipedSession,
  makeReadOnlyError,
  type NamedSession,
} from "./named-session.ts";
import { findSession } from "./session-argument.ts";
import { isStoreUrl } from "./store-address.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { UsageError } from "./usage-error.ts";

/** Access to the sessions of a call, in files, a database, or stdin. */
export interface SessionAccess {
  /** Sessions of the call's database; undefined if the call uses files. */
  readonly stored: StoredSessions | undefined;
  /** Finds a session by path, id or name, the beginning of either, words of its title, `@last`, or `-` for stdin. */
  findSession(name: string, match?: NameMatch): Promise<NamedSession>;
  /** Finds a session to change, like `findSession`, but never from stdin. */
  findKeptSession(name: string, match?: NameMatch): Promise<NamedSession>;
  /** Finds a session for operations that only files support, and returns its absolute path. */
  findFile(name: string): Promise<string>;
}

/** Creates access to sessions in files, in the call's database, if any, and from stdin. */
export function accessSessions(place: {
  readonly io: CliIo;
  readonly dir: string | undefined;
  readonly stored: StoredSessions | undefined;
}): SessionAccess {
  const { io, stored } = place;
  const piped = makePipedSession(io);
  const findKeptSession = async (name: string, match?: NameMatch) => {
    if (isPiped(name)) throw makeReadOnlyError();
    if (isStoreUrl(name)) throw new UsageError("Give the address of a database with --store.");
    return (await stored?.find(name, match)) ?? makeFileSession(await findSession(name, place, match), io);
  };
  return {
    stored,
    findSession: async (name, match) => (isPiped(name) ? piped : findKeptSession(name, match)),
    findKeptSession,
    findFile: async (name) => {
      const { location, path } = await findKeptSession(name);
      if (path !== undefined) return path;
      throw new UsageError(`${location.text} is not a file; "sessiontree db copy" copies it to a folder.`);
    },
  };
}
