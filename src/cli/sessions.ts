import type { SessionManager } from "../manager/session-manager.ts";
import { changeSession } from "./change-session.ts";
import type { CommandCall } from "./command.ts";
import { findSession } from "./session-argument.ts";
import { isStoreUrl } from "./store/address.ts";
import { UsageError } from "./usage-error.ts";

/** What is done to a session that is open. */
export type SessionChange<T> = (session: SessionManager) => T | Promise<T>;

/** Where a session is. */
export interface SessionLocation {
  /** For people: its path, or its id and the database. */
  readonly text: string;
  /** For programs: `path`, or `id` and `store`. */
  readonly json: { readonly path: string } | { readonly id: string; readonly store: string };
}

/** What a call does with sessions, wherever they are. */
type SessionAccess = Pick<CommandCall, "findSession" | "changeSession" | "locationOf">;

/** Makes it for files, and for a database if the call is about one. */
export function accessSessions(place: Pick<CommandCall, "io" | "dir" | "stored">): SessionAccess {
  const { io, stored } = place;
  return {
    findSession: async (name) => {
      if (isStoreUrl(name)) throw new UsageError("The address of a database stands behind --store.");
      return (await stored?.copyOf(name)) ?? findSession(name, place);
    },
    changeSession: (path, change) => {
      const id = stored?.idOf(path);
      return stored === undefined || id === undefined
        ? changeSession(path, io, change)
        : stored.change(id, change);
    },
    locationOf: (path) => {
      const id = stored?.idOf(path);
      return stored === undefined || id === undefined
        ? { text: path, json: { path } }
        : stored.locationOf(id);
    },
  };
}
