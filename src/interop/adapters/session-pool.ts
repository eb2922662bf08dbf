import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { isThere } from "../../session/log/replace-file.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { Turns } from "./task-queue.ts";

const MAX_IDLE = 16;

/** Builds something from all entries of a session. */
export interface EntryTaker {
  take(entry: AnySessionEntry): void;
}

/** An open session, and what was built from its entries so far. */
export interface OpenSession<State extends EntryTaker> {
  readonly session: SessionManager;
  readonly state: State;
}

/**
 * Sessions of a store that are written to repeatedly. Stay open, so that an append costs only what it adds.
 *
 * Runs one task per session at a time.
 */
export class OpenSessions<State extends EntryTaker> {
  readonly #store: SessionStore;
  readonly #cwd: string;
  readonly #newState: (session: SessionManager) => State;
  readonly #turns = new Turns();
  /** The most recently used last. */
  readonly #open = new Map<string, OpenSession<State>>();

  constructor(store: SessionStore, cwd: string, newState: (session: SessionManager) => State) {
    this.#store = store;
    this.#cwd = cwd;
    this.#newState = newState;
  }

  /** Reads a session, including what others wrote; undefined if there is none. */
  read<T>(id: string, work: (open: OpenSession<State>) => T): Promise<T | undefined> {
    return this.#turns.take(id, async () => {
      const open = await this.#latest(id, () => this.#find(id));
      return open === undefined ? undefined : work(open);
    });
  }

  /** Writes to a session, begins it under a name if there is none, and waits until everything is durable. */
  write(id: string, name: string, work: (open: OpenSession<State>) => void): Promise<void> {
    return this.#turns.take(id, async () => {
      const open = await this.#latest(
        id,
        async () => (await this.#find(id)) ?? (await this.#begin(id, name)),
      );
      if (open === undefined) return;
      try {
        work(open);
        await open.session.flush();
      } catch (error) {
        // Entries that could not be written yet stay in the session, and the next try writes them; other errors are
        // final.
        if (!isSessionError(error, "WRITE_FAILED")) this.#open.delete(id);
        throw error;
      }
    });
  }

  delete(id: string): Promise<void> {
    return this.#turns.take(id, async () => {
      await this.#close(id);
      try {
        await this.#store.delete(id);
      } catch (error) {
        if (!isSessionError(error, "SESSION_NOT_FOUND")) throw error;
      }
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
    const opened = { session, state: this.#follow(session) };
    this.#open.set(id, opened);
    await this.#closeIdle();
    return opened;
  }

  /** Returns an open session with what others wrote; undefined if it is not open, or was deleted. */
  async #refreshed(id: string): Promise<OpenSession<State> | undefined> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open === undefined) return undefined;
    const path = open.session.getSessionFile();
    if (path !== undefined && !isThere(path)) return undefined;
    try {
      await open.session.pull();
    } catch (error) {
      if (isSessionError(error, "SESSION_NOT_FOUND")) return undefined;
      throw error;
    }
    this.#open.set(id, open);
    return open;
  }

  async #find(id: string): Promise<SessionManager | undefined> {
    try {
      return await this.#store.open(id);
    } catch (error) {
      if (isSessionError(error, "SESSION_NOT_FOUND")) return undefined;
      throw error;
    }
  }

  async #begin(id: string, name: string): Promise<SessionManager | undefined> {
    try {
      const session = this.#store.create({ cwd: this.#cwd, id, createAtOnce: true });
      session.appendSessionInfo(name);
      await session.flush();
      return session;
    } catch (error) {
      // Another process was faster.
      if (isSessionError(error, "SESSION_EXISTS")) return this.#find(id);
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
    try {
      await open?.session.close();
    } catch (error) {
      // The caller that appended got this error already.
      if (!isSessionError(error)) throw error;
    }
  }
}
