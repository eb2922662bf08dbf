import type { CliStores } from "../../../../src/apps/cli/io.ts";
import type { SessionBackend } from "../../../../src/stores/contract/session-backend.ts";
import type { SessionStore } from "../../../../src/stores/contract/session-store.ts";
import { SCHEMA_VERSION } from "../../../../src/stores/postgres/migrate.ts";
import { MemoryBackend } from "../../../../src/stores/remote/memory-backend.ts";
import { remoteStore } from "../../../../src/stores/remote/remote-store.ts";

/** An address with a password, and its form without the password. */
export const SECRET = "s3cret";
export const URL_OF_STORE = `postgres://ada:${SECRET}@db.example/agents`;
export const SHOWN_STORE = "postgres://ada@db.example/agents";

/** A short time limit for expected failures. */
const QUICK = { minRetryMs: 1, maxRetryMs: 2, giveUpAfterMs: 50, pollMs: 5 };

/** A database that survives closing its stores, and counts those opened and closed. */
export class TestDatabase implements CliStores {
  readonly #makeBackend: () => SessionBackend;
  /** Opened addresses, in order. */
  readonly opened: string[] = [];
  closed = 0;
  version = 0;

  /** @param makeBackend - Returns a backend for each store; default: one in memory, for all. */
  constructor(makeBackend?: () => SessionBackend) {
    const inMemory = new MemoryBackend();
    this.#makeBackend = makeBackend ?? (() => inMemory);
  }

  async open(url: string): Promise<SessionStore> {
    this.opened.push(url);
    const store = this.store();
    const close = store.close.bind(store);
    store.close = async (options) => {
      await close(options);
      this.closed++;
    };
    return store;
  }

  async migrate(_url: string, to = SCHEMA_VERSION): Promise<{ from: number; to: number }> {
    if (to > SCHEMA_VERSION) {
      throw new TypeError(
        `to must be a version from 0 to ${SCHEMA_VERSION}; omit it for the newest version.`,
      );
    }
    const from = this.version;
    this.version = to;
    return { from, to };
  }

  async migrationSql(_url: string, to = 3): Promise<string[]> {
    return this.version === to ? [] : ["begin;", `-- to version ${to}`, "commit;"];
  }

  /** Returns a store over the same sessions, for tests to inspect. */
  store(): SessionStore {
    return remoteStore(this.#makeBackend(), QUICK);
  }

  /** Returns the bytes of a session. */
  async bytes(id: string): Promise<string> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.store().exportBytes(id)) pieces.push(piece.slice());
    return Buffer.concat(pieces).toString();
  }

  /** Returns the IDs of all sessions, sorted. */
  async ids(): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of this.store().list()) ids.push(id);
    return ids.sort();
  }
}
