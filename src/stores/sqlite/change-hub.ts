import { getOrAdd } from "../../core/format/group-by.ts";
import { readNumber } from "../contract/rows.ts";
import { isObjectStorage, type SqliteClient } from "./client.ts";
import type { Database } from "./database.ts";

/** Milliseconds between checks for changes made by other connections. */
const LOOK_MS = 100;

/** Hub of each client. Stores that use the same client share a hub, because a connection does not count its own changes. */
const hubs = new WeakMap<SqliteClient, ChangeHub>();

/**
 * Reports changes to sessions: changes made by this client immediately, and changes made by other connections when
 * SQLite's change counter increases.
 */
export class ChangeHub {
  readonly #database: Database;
  readonly #listeners = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined;
  #version = 0;

  /** Returns the hub of a client. */
  static of(database: Database): ChangeHub {
    const hub = hubs.get(database.client) ?? new ChangeHub(database);
    hubs.set(database.client, hub);
    return hub;
  }

  private constructor(database: Database) {
    this.#database = database;
  }

  /** Calls `onMore` when a session may have changed, until the signal aborts. */
  add(id: string, onMore: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (this.#timer === undefined && !isObjectStorage(this.#database.client)) {
      this.#version = this.#readVersion();
      this.#timer = setInterval(() => this.#look(), LOOK_MS);
    }
    getOrAdd(this.#listeners, id, () => new Set()).add(onMore);
    signal.addEventListener("abort", () => this.#remove(id, onMore), { once: true });
  }

  /** Reports a change made by this client. */
  notify(id: string): void {
    for (const onMore of [...(this.#listeners.get(id) ?? [])]) onMore();
  }

  #remove(id: string, onMore: () => void): void {
    const listeners = this.#listeners.get(id);
    listeners?.delete(onMore);
    if (listeners?.size === 0) this.#listeners.delete(id);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    let version: number | undefined;
    try {
      version = this.#readVersion();
    } catch (_unreadable) {
      // Readers encounter the error themselves when they read.
    }
    if (version === this.#version) return;
    this.#version = version ?? this.#version;
    for (const id of [...this.#listeners.keys()]) this.notify(id);
  }

  #readVersion(): number {
    const [row] = this.#database.run("pragma data_version");
    return row === undefined ? 0 : readNumber(row, "data_version");
  }
}
