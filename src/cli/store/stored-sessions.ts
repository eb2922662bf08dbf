import { createReadStream } from "node:fs";
import { fittingName } from "../../catalog/resolve-session.ts";
import type { SessionRow } from "../../catalog/session-row.ts";
import { SessionManager } from "../../manager/session-manager.ts";
import { SessionError } from "../../schema/errors.ts";
import type { SessionStore } from "../../stores/session-store.ts";
import type { CliIo } from "../io.ts";
import { LATEST, looksLikePath } from "../session-argument.ts";
import type { SessionChange, SessionLocation } from "../session-location.ts";
import type { StoreAddress } from "./address.ts";
import { storesOf } from "./open-store.ts";
import { TemporaryCopies } from "./temporary-copies.ts";

/** How many candidates an error names. */
const MOST_NAMED = 3;

/** A row as commands list it. */
export interface ListedRow extends SessionRow {
  /** The database's address, as output names it. */
  readonly store?: string;
  /** The program that it was imported from, if that was asked for. */
  readonly source?: string;
}

/** The sessions of a database, during one run of the command line; nothing is opened before it is needed. */
export class StoredSessions {
  /** The database's address, as output names it. */
  readonly address: string;
  readonly #url: string;
  readonly #io: CliIo;
  readonly #idsByPath = new Map<string, string>();
  #store: Promise<SessionStore> | undefined;
  #copies: TemporaryCopies | undefined;

  constructor({ url, shown }: StoreAddress, io: CliIo) {
    this.address = shown;
    this.#url = url;
    this.#io = io;
  }

  /**
   * Gives the store, open.
   *
   * @throws {SessionError} `STORE_UNAVAILABLE`
   */
  store(): Promise<SessionStore> {
    this.#store ??= storesOf(this.#io).open(this.#url);
    return this.#store;
  }

  /**
   * Finds the session that a person names: by id or name or the beginning of one, or `@last`.
   *
   * @returns Undefined if what is named is a file.
   * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_AMBIGUOUS`, or `STORE_UNAVAILABLE`.
   * @remarks Cost: O(sessions whose name holds the text).
   */
  async find(name: string): Promise<SessionRow | undefined> {
    if (name === LATEST) return this.#latest();
    if (looksLikePath(name)) return undefined;
    const candidates = await this.#candidates(name.trim());
    const inProject = candidates.filter(({ cwd }) => cwd === this.#io.cwd);
    const [found] = candidates.length > 1 && inProject.length === 1 ? inProject : candidates;
    if (found === undefined) throw this.#notFound(name);
    if (candidates.length > 1 && inProject.length !== 1) throw ambiguous(name, candidates);
    return found;
  }

  /**
   * Gives the path of a copy of the session that is named; undefined if what is named is a file.
   *
   * @throws {SessionError} As `find`, or `WRITE_FAILED`.
   */
  async copyOf(name: string): Promise<string | undefined> {
    const id = (await this.find(name))?.id;
    if (id === undefined) return undefined;
    for (const [path, copied] of this.#idsByPath) if (copied === id) return path;
    const store = await this.store();
    this.#copies ??= new TemporaryCopies();
    const path = await this.#copies.write(id, store.exportBytes(id));
    this.#idsByPath.set(path, id);
    return path;
  }

  /** Gives the id of the session of which a copy stands at a path; undefined if none does. */
  idOf(path: string): string | undefined {
    return this.#idsByPath.get(path);
  }

  /** Says where a session is. */
  locationOf(id: string): SessionLocation {
    const store = this.address;
    return { text: `${id} in ${store}`, json: { id, store } };
  }

  /**
   * Opens a session to look at it.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND` or `STORE_UNAVAILABLE`
   */
  async open(id: string): Promise<SessionManager> {
    return (await this.store()).open(id, { ...this.#clock, mode: "read-only" });
  }

  /** Has something done to a session, and makes sure that the database has it. */
  async change<T>(id: string, change: SessionChange<T>): Promise<T> {
    const session = await (await this.store()).open(id, this.#clock);
    const result = await change(session);
    await session.close();
    return result;
  }

  /**
   * Copies all of a session into one of the project in the current folder.
   *
   * @param path - Of the session's file, or of a copy.
   */
  async cloneHere(path: string): Promise<SessionManager> {
    const id = this.idOf(path);
    const store = await this.store();
    this.#copies ??= new TemporaryCopies();
    const given = id === undefined ? {} : { parentSession: id };
    const clone = SessionManager.forkFrom(path, this.#io.cwd, this.#copies.folder, given);
    const file = clone.getSessionFile();
    if (file === undefined) throw new TypeError("a session that was copied into a folder has a path");
    await clone.close();
    await store.importBytes(createReadStream(file));
    return this.open(clone.getSessionId());
  }

  /** Makes the database's tables, or changes them: see `CliStores`. */
  migrate(to: number | undefined): Promise<{ readonly from: number; readonly to: number }> {
    return storesOf(this.#io).migrate(this.#url, to);
  }

  /** Gives the statements that `migrate` would run now. */
  migrationSql(to: number | undefined): Promise<string[]> {
    return storesOf(this.#io).migrationSql(this.#url, to);
  }

  /**
   * Closes what was opened, and removes the copies. Idempotent.
   *
   * @param hasFailed - Whether what could not be written is given up.
   */
  async close(hasFailed: boolean): Promise<void> {
    this.#copies?.remove();
    this.#copies = undefined;
    const opened = this.#store;
    this.#store = undefined;
    // Whoever asked for the store was told if it could not be opened.
    const [store] = await Promise.allSettled([opened]);
    if (store.status === "fulfilled") await store.value?.close({ discard: hasFailed });
  }

  get #clock(): Pick<CliIo, "now"> {
    const { now } = this.#io;
    return now === undefined ? {} : { now };
  }

  async #latest(): Promise<SessionRow> {
    const store = await this.store();
    for await (const session of store.list({ cwd: this.#io.cwd, limit: 1 })) return session;
    const message = `There is no session of this project in ${this.address}. "sessiontree list --all" lists those of others.`;
    throw new SessionError("SESSION_NOT_FOUND", message);
  }

  /** Gives the sessions that a text fits best. */
  async #candidates(text: string): Promise<SessionRow[]> {
    if (text === "") return [];
    const store = await this.store();
    const found = new Map<string, SessionRow>();
    const prefixes = [...new Set([text, text.toLowerCase()])];
    const queries = [...prefixes.map((idPrefix) => ({ idPrefix })), { name: text }];
    for (const query of queries) {
      for await (const session of store.list(query)) {
        if (session.id === text) return [session];
        if (fittingName([session], text).length > 0) found.set(session.id, session);
      }
    }
    return fittingName([...found.values()], text);
  }

  #notFound(name: string): SessionError {
    return new SessionError(
      "SESSION_NOT_FOUND",
      `No session ${JSON.stringify(name)} in ${this.address}. "sessiontree list --all" shows the sessions that are there.`,
      { details: { wanted: name } },
    );
  }
}

function ambiguous(name: string, candidates: readonly SessionRow[]): SessionError {
  const ids = candidates.map(({ id }) => id);
  const some = ids.slice(0, MOST_NAMED).join(", ");
  return new SessionError(
    "SESSION_AMBIGUOUS",
    `${ids.length} sessions fit ${JSON.stringify(name)}. Give more of the id. Some are ${some}.`,
    { details: { wanted: name, candidates: ids } },
  );
}
