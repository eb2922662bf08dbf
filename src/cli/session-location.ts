import type { SessionManager } from "../manager/session-manager.ts";

/** What is done to a session that is open. */
export type SessionChange<T> = (session: SessionManager) => T | Promise<T>;

/** Where a session is. */
export interface SessionLocation {
  /** For people: its path, or its id and the database. */
  readonly text: string;
  /** For programs: `path`, or `id` and `store`. */
  readonly json: { readonly path: string } | { readonly id: string; readonly store: string };
}
