import type { AnySessionEntry } from "../../core/format/entry.ts";
import { callUnless, isSessionError, type SessionErrorCode } from "../../core/format/errors.ts";
import { isThere } from "../../session/log/replace-file.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { sessionNotFound } from "../../stores/contract/store-errors.ts";

const MAX_IDLE = 16;

/** Maximum number of attempts to use a session that is repeatedly deleted. */
const MAX_ATTEMPTS = 10;

/** Error codes for a write to a session that was deleted, recreated after being deleted, or created by another process. */
const GONE: readonly SessionErrorCode[] = ["SESSION_NOT_FOUND", "WRITES_LOST", "SESSION_EXISTS"];

function isGone(error: unknown): boolean {
  return GONE.some((code) => isSessionError(error, code));
}

/** Receives all entries of a session. */
export interface EntryTaker {
  take(entry: AnySessionEntry): void;
}

/** An open session, and the state built so far from its entries. */
export interface OpenSession<State extends EntryTaker> {
  readonly session: SessionManager;
  readonly state: State;
}

/**
 * Pool of open sessions in a store, for repeated writes. They stay open, so the cost of an append depends only on its size.
 *
 * Runs one task at a time for each session.
 */
export class OpenSessions<State extends EntryTaker> {
  readonly #store: SessionStore;
  readonly #cwd: string;
  readonly #newState: (session: SessionManager) => State;
  readonly #onGone: (id: string, state: State) => void;
  readonly #turns = new Turns();
  /** Open sessions. The most recently used session is last. */
  readonly #open = new Map<string, OpenSession<State>>();

  /** @param onGone - Called with the state of a session that was deleted while it was open in this pool. */
  constructor(
    store: SessionStore,
    cwd: string,
    newState: (session: SessionManager) => State,
    onGone: (id: string, state: State) => void = () => undefined,
  ) {
    this.#store = store;
    this.#cwd = cwd;
    this.#newState = newState;
    this.#onGone = onGone;
  }

  /** Reads a session, including entries written by other processes; undefined if it does not exist. */
  read<T>(id: string, work: (open: OpenSession<State>) => T): Promise<T | undefined> {
    return this.#turns.take(id, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          const open = await this.#latest(id, () => this.#find(id));
          return open === undefined ? undefined : work(open);
        } catch (error) {
          // The session was deleted after it was opened; another one may have taken its place.
          if (attempt === MAX_ATTEMPTS || !isGone(error)) throw error;
          this.#noteGone(id);
          await this.#close(id);
        }
      }
    });
  }

  /**
   * Writes to a session and waits until everything is durable. If the session is deleted in the meantime, it stays deleted, and
   * the write is retried on its successor.
   *
   * @param newName - Name of the session if it must be created.
   * @param isMeant - Returns whether to write to the existing session or, if it does not exist, to create it. Default: always.
   * @returns False if the session does not exist or `isMeant` rejects it. Nothing was written then.
   */
  write(
    id: string,
    newName: string,
    work: (open: OpenSession<State>) => void,
    isMeant: (state: State | undefined) => boolean = () => true,
  ): Promise<boolean> {
    return this.#turns.take(id, async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          const open = await this.#latest(id, async () => {
            const found = await this.#find(id);
            return found ?? (isMeant(undefined) ? this.#begin(id, newName) : undefined);
          });
          if (open === undefined || !isMeant(open.state)) return false;
          work(open);
          await open.session.flush();
          return true;
        } catch (error) {
          // Entries that could not be written yet remain in the session, and the next attempt writes them.
          if (isSessionError(error, "WRITE_FAILED")) throw error;
          if (isGone(error)) this.#noteGone(id);
          await this.#close(id);
          if (attempt === MAX_ATTEMPTS || !isGone(error)) throw error;
        }
      }
    });
  }

  delete(id: string): Promise<void> {
    return this.#turns.take(id, async () => {
      this.#noteGone(id);
      await this.#close(id);
      await callUnless("SESSION_NOT_FOUND", () => this.#store.delete(id));
    });
  }

  async #latest(
    id: string,
    find: () => Promise<SessionManager | undefined>,
  ): Promise<OpenSession<State> | undefined> {
    const open = await this.#refreshed(id);
    if (open !== undefined) return open;
    const session = await find();
    if (session === undefined) return undefined;
    let state: State;
    try {
      state = this.#follow(session);
    } catch (error) {
      await closeQuietly(session);
      throw error;
    }
    const opened = { session, state };
    this.#open.set(id, opened);
    await this.#closeIdle();
    return opened;
  }

  /** Returns an open session after reading entries written by other processes; undefined if it is not open or was deleted. */
  async #refreshed(id: string): Promise<OpenSession<State> | undefined> {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    const path = open.session.getSessionFile();
    try {
      if (path !== undefined && !isThere(path)) throw sessionNotFound(id);
      await open.session.refreshAsync();
      this.#open.delete(id);
      this.#open.set(id, open);
      return open;
    } catch (error) {
      if (!isGone(error)) {
        this.#open.delete(id);
        throw error;
      }
      this.#noteGone(id);
      await this.#close(id);
      return undefined;
    }
  }

  #noteGone(id: string): void {
    const open = this.#open.get(id);
    if (open !== undefined) this.#onGone(id, open.state);
  }

  #find(id: string): Promise<SessionManager | undefined> {
    return callUnless("SESSION_NOT_FOUND", () => this.#store.open(id, { mustExist: true }));
  }

  async #begin(id: string, name: string): Promise<SessionManager> {
    const session = this.#store.create({ cwd: this.#cwd, id, createAtOnce: true, mustExist: true });
    try {
      session.appendSessionInfo(name);
      await session.flush();
      return session;
    } catch (error) {
      await closeQuietly(session);
      throw error;
    }
  }

  #follow(session: SessionManager): State {
    const state = this.#newState(session);
    for (const entry of session.getEntries()) state.take(entry);
    session.on("entry_appended", ({ entry }) => state.take(entry));
    session.on("foreign_entries", ({ entries }) => {
      for (const entry of entries) state.take(entry);
    });
    return state;
  }

  async #closeIdle(): Promise<void> {
    for (const id of [...this.#open.keys()]) {
      if (this.#open.size <= MAX_IDLE) return;
      if (!this.#turns.isTaken(id)) await this.#close(id);
    }
  }

  async #close(id: string): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open !== undefined) await closeQuietly(open.session);
  }
}

async function closeQuietly(session: SessionManager): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    // The caller that appended has already received this error.
    if (!isSessionError(error)) throw error;
  }
}

/** Runs tasks with the same name one after another, in order. */
export class Turns {
  readonly #latest = new Map<string, Promise<unknown>>();

  /** Runs a task after all earlier tasks with the same name, whether or not they succeeded. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#latest.get(name) ?? Promise.resolve()).then(work, work);
    this.#latest.set(name, mine);
    const leave = () => {
      if (this.#latest.get(name) === mine) this.#latest.delete(name);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** Returns whether a task with this name is waiting or running. */
  isTaken(name: string): boolean {
    return this.#latest.has(name);
  }
}
