import { deleteMarked, markedOriginsInFront, readFrontBytes } from "../../catalog/list/deleted-imports.ts";
import { findByName, getOnlyOne, type NameMatch } from "../../catalog/list/resolve-session.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { ListInStoreOptions, SessionStore } from "../../stores/contract/session-store.ts";
import type { CliIo, CliStores } from "./io.ts";
import type { NamedSession, SessionLocation } from "./named-session.ts";
import { isLikePath, LATEST, resolvePath } from "./session-argument.ts";
import { findSqlitePath, type StoreAddress } from "./store-address.ts";

/** Maximum number of sessions that are read to find one by its first message. */
const MAX_READ = 1000;

/** Ids that are safe in a file name. */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** Row as listed by commands. */
export interface ListedRow extends SessionRow {
  /** Address of the database, as in output. */
  readonly store?: string;
  /** Program that the session was imported from, if requested. */
  readonly source?: string;
  /** Whether the file that the session was imported from no longer exists. */
  readonly sourceGone?: boolean;
}

const postgres = () => import("../../stores/postgres/open-postgres-store.ts");
const sqlite = () => import("../../stores/sqlite/open-sqlite-store.ts");

/** Creates access to databases, whose code is loaded on demand. */
function makeStores(cwd: string): CliStores {
  const findPath = (url: string) => {
    const path = findSqlitePath(url);
    return path === undefined ? undefined : resolvePath(cwd, path);
  };
  return {
    open: async (url) => {
      const path = findPath(url);
      return path === undefined
        ? (await postgres()).openPostgresStore(url)
        : (await sqlite()).openSqliteStore(path, { mustExist: true });
    },
    migrate: async (url, to) => {
      const path = findPath(url);
      if (path !== undefined) return (await sqlite()).migrateSqlite(path, { to });
      return (await postgres()).migratePostgres(url, to === undefined ? {} : { to });
    },
    migrationSql: async (url, to) => {
      const path = findPath(url);
      if (path !== undefined) return (await sqlite()).sqliteMigrationSql(path, { to });
      return (await postgres()).postgresMigrationSql(url, to === undefined ? {} : { to });
    },
  };
}

/** Returns the access to databases. */
export function getStores({ stores, cwd }: CliIo): CliStores {
  return stores ?? makeStores(cwd);
}

/** Sessions in a database during a single run of the command line; nothing is opened until it is needed. */
export class StoredSessions {
  /** Address of the database, as in output. */
  readonly address: string;
  readonly #url: string;
  readonly #io: CliIo;
  #store: Promise<SessionStore> | undefined;

  constructor({ url, shown }: StoreAddress, io: CliIo) {
    this.address = shown;
    this.#url = url;
    this.#io = io;
  }

  store(): Promise<SessionStore> {
    this.#store ??= getStores(this.#io).open(this.#url);
    return this.#store;
  }

  /**
   * Finds the session that a user names: by id or name, the beginning of either, words of its name or, for the latest sessions,
   * of its first message, or `@last`.
   *
   * @returns Undefined if the name refers to a file.
   * @remarks Cost: O(sessions whose name contains the text), plus 1,000 sessions if no name does.
   */
  async find(name: string, match: NameMatch = "words"): Promise<NamedSession | undefined> {
    if (name === LATEST) return this.#named(await this.#latest());
    if (isLikePath(name)) return undefined;
    const found = await this.#candidates(name.trim(), match);
    const isHere = ({ cwd }: SessionRow) => cwd === this.#io.cwd;
    const notFound = `No session ${JSON.stringify(name)} in ${this.address}. "sessiontree list --all" lists all sessions.`;
    return this.#named(getOnlyOne(found, name, { isHere, notFound }));
  }

  getLocation(id: string): SessionLocation {
    const store = this.address;
    return { text: `${id} in ${store}`, json: { id, store } };
  }

  migrate(to: number | undefined): Promise<{ readonly from: number; readonly to: number }> {
    return getStores(this.#io).migrate(this.#url, to);
  }

  migrationSql(to: number | undefined): Promise<string[]> {
    return getStores(this.#io).migrationSql(this.#url, to);
  }

  /** Closes the database if it was opened; if the call has failed, discards unwritten data. Idempotent. */
  async close(hasFailed: boolean): Promise<void> {
    const opened = this.#store;
    this.#store = undefined;
    // If the store could not be opened, the caller that requested it has received the error.
    const [store] = await Promise.allSettled([opened]);
    if (store.status === "fulfilled") await store.value?.close({ discard: hasFailed });
  }

  #named(row: SessionRow): NamedSession {
    const { id } = row;
    const { now } = this.#io;
    const location = this.getLocation(id);
    const store = () => this.store();
    const bytes = async function* () {
      yield* (await store()).exportBytes(id);
    };
    return {
      location,
      path: undefined,
      id,
      read: async () => {
        const { SessionView } = await import("../../session/manager/session-view.ts");
        return SessionView.inMemory(bytes(), location.text, SAFE_NAME.test(id) ? id : "session");
      },
      open: async (mode = undefined) => (await store()).open(id, { ...(mode && { mode }), now }),
      bytes,
      row: async () => row,
      delete: async () => {
        await deleteStored(await store(), id);
        return "permanent";
      },
    };
  }

  async #latest(): Promise<SessionRow> {
    const store = await this.store();
    for await (const session of store.list({ cwd: this.#io.cwd, limit: 1 })) return session;
    const message = `This project has no sessions in ${this.address}. "sessiontree list --all" lists those of other projects.`;
    throw new SessionError("SESSION_NOT_FOUND", message);
  }

  /** Returns the sessions that best match a string. */
  async #candidates(text: string, match: NameMatch): Promise<SessionRow[]> {
    if (text === "") return [];
    const found = new Map<string, SessionRow>();
    const prefixes = [...new Set([text, text.toLowerCase()])];
    const longest = text.split(/\s+/).reduce((one, other) => (other.length > one.length ? other : one));
    const queries: ListInStoreOptions[] = prefixes.map((idPrefix) => ({ idPrefix }));
    queries.push({ name: longest });
    // A database has no index of first messages.
    if (match === "words") queries.push({ limit: MAX_READ });
    for (const query of queries) {
      if (query.limit !== undefined && found.size > 0) break;
      for await (const session of (await this.store()).list(query)) {
        if (session.id === text) return [session];
        if (findByName([session], text, match).length > 0) found.set(session.id, session);
      }
    }
    return findByName([...found.values()], text, match);
  }
}

/** Deletes a session and marks it as deleted, so that imports do not restore it. */
async function deleteStored(store: SessionStore, id: string): Promise<void> {
  const origins = markedOriginsInFront(await readFrontBytes(store.exportBytes(id)));
  await deleteMarked(origins, () => store.delete(id));
}
