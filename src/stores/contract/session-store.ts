import type { SearchHit, SearchSessionOptions } from "../../catalog/search/search.ts";
import { assertStore } from "../../core/format/arguments.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { assertOptions } from "../../core/format/options.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { NewSessionOptions, SessionOptions } from "../../session/manager/session-options.ts";

/** Capabilities of a store. */
export interface StoreSupport {
  /** Whether sessions outlive the process. */
  readonly durable: boolean;
  /** Whether appends return before they are written. `flush` waits until they are written. */
  readonly queued: boolean;
  /** Whether `appendIfLeaf` compares and appends atomically. */
  readonly conditionalAppend: boolean;
  /** Whether `redactEntry` and upgrades from old versions are supported. */
  readonly rewrite: boolean;
  /** Whether `search` uses an index, usually of whole words. Otherwise, it reads all sessions and matches any substring. */
  readonly indexedSearch: boolean;
  /** Whether the store reports entries from other processes to `watch`. Otherwise, `watch` polls. */
  readonly watch: boolean;
}

/** Session options that apply to stores: all options except the options for files. */
export type StoreSessionOptions = Pick<
  SessionOptions,
  "now" | "beforePersist" | "persistLeafOnClose" | "mustExist"
>;

/** Options for creating a session in a store. */
export interface CreateInStoreOptions extends NewSessionOptions, StoreSessionOptions {
  /** Working directory, which identifies the project. */
  readonly cwd: string;
  /** Whether to create the session immediately instead of with the first message. Default false. */
  readonly createAtOnce?: boolean;
}

/** Options for opening a session in a store. */
export interface OpenInStoreOptions extends StoreSessionOptions {
  /** Access mode. With `read-only`, nothing can be appended. */
  readonly mode?: "read-write" | "read-only";
  /** Working directory to use instead of the one in the header. */
  readonly cwd?: string;
  /** Cancels opening with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Options for opening a session in a store, or creating it if it does not exist. */
export interface OpenOrCreateOptions
  extends Omit<CreateInStoreOptions, "id" | "createAtOnce">,
    Pick<OpenInStoreOptions, "signal"> {}

/** Filters and page size for listing the sessions in a store. */
export interface ListInStoreOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Part of the name, ignoring case. */
  readonly name?: string;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** Maximum number of sessions. Default: all. */
  readonly limit?: number;
  /** Last session of the previous page. The list begins after it. */
  readonly after?: Pick<SessionRow, "modified" | "id">;
  /** Cancels listing with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Options for searching a store. */
export interface SearchInStoreOptions extends SearchSessionOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
}

/** Options for importing a session's bytes into a store. */
export interface ImportIntoStoreOptions {
  /** Cancels the import with `ABORTED`. Nothing is added in this case. */
  readonly signal?: AbortSignal;
}

/** Options for closing a store. */
export interface CloseStoreOptions {
  /** Whether to discard pending writes, so that closing does not wait or fail. Default false. */
  readonly discard?: boolean;
}

/**
 * Storage for many sessions.
 *
 * In every store, a session is a `SessionManager` with the same bytes: copying a session from store to store and back
 * preserves every byte.
 *
 * @remarks Every store passes `sessionStoreSuite` from `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionStore {
  readonly supports: StoreSupport;

  /**
   * Creates a session. It is stored with its first user or assistant message or, with `createAtOnce`, immediately.
   *
   * @throws {SessionError} `INVALID_SESSION_ID`; `SESSION_EXISTS`, from `flush` if the store is queued.
   */
  create(options: CreateInStoreOptions): SessionManager;

  /**
   * Opens the session with exactly this id.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`
   */
  open(id: string, options?: OpenInStoreOptions): Promise<SessionManager>;

  /**
   * Opens the session with exactly this id, or creates and stores it. If several callers do this concurrently, one of them
   * creates the session, and all open the same session.
   *
   * @param options - Options for creating the session. When opening an existing session, `cwd` and `parentSession` are
   *   ignored.
   * @throws {SessionError} `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`
   */
  openOrCreate(id: string, options: OpenOrCreateOptions): Promise<SessionManager>;

  /**
   * Yields sessions, most recently modified first.
   *
   * @throws {SessionError} `STORE_UNAVAILABLE`, `ABORTED`
   */
  list(options?: ListInStoreOptions): AsyncGenerator<SessionRow, void, undefined>;

  /**
   * Yields entries whose text contains all words in a query, according to the rules of `searchSessions`.
   *
   * @param query - Words in any order, `"a phrase"` in quotes, or, with `regex`, a regular expression. An empty query
   *   matches nothing, except with `failed`, `tools`, or `path`.
   * @throws {TypeError} If an option is invalid.
   * @throws {SessionError} `INVALID_QUERY`, `STORE_UNAVAILABLE`, `ABORTED`
   */
  search(query: string, options?: SearchInStoreOptions): AsyncGenerator<SearchHit, void, undefined>;

  /**
   * Deletes a session. The deletion is permanent unless the store has a trash.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`; for files, also `LEASE_HELD` and `WRITE_FAILED`.
   */
  delete(id: string): Promise<void>;

  /**
   * Yields the bytes of a session, unchanged.
   *
   * @returns Pieces, each valid only until the next one is requested.
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`; `WRITE_FAILED` if lines that were
   *   already yielded have changed, for example because of a redaction.
   */
  exportBytes(
    id: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Creates a session from its bytes, including the header, and stores them unchanged.
   *
   * @param pieces - Pieces of any size, split anywhere. Each piece is read completely before the next one is requested.
   * @returns Id of the session, from the header.
   * @throws {SessionError} `SESSION_EXISTS`, `NOT_A_SESSION`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`; nothing was
   *   added. `WRITE_FAILED`; nothing was added unless only the response was lost.
   */
  importBytes(pieces: AsyncIterable<Uint8Array>, options?: ImportIntoStoreOptions): Promise<string>;

  /**
   * Appends entries that already have ids, parents, and times, such as entries copied from another store. Stores them
   * unchanged at the end of the session, and skips entries that are already stored in identical form.
   *
   * To continue a session, append through its `SessionManager`.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `WRITE_FAILED`
   */
  appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void>;

  /**
   * Waits until everything appended to the store's sessions is written, including entries appended while waiting, and
   * releases the store's resources. Idempotent.
   *
   * @throws {SessionError} `WRITE_FAILED`, or the error of a session's `flush`. The store is then still open.
   */
  close(options?: CloseStoreOptions): Promise<void>;

  /** Closes the store when an `await using` declaration goes out of scope. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Copies a session from one store to another, byte for byte, with the same id.
 *
 * Never overwrites a session. An entry appended during the copy is copied completely or not at all.
 *
 * @returns Id of the session.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_EXISTS`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`; nothing was
 *   added. `WRITE_FAILED`; nothing was added unless only the response was lost.
 * @remarks Cost: O(bytes); memory O(the longest line).
 */
export async function copySession(
  from: SessionStore,
  id: string,
  to: SessionStore,
  options: ImportIntoStoreOptions = {},
): Promise<string> {
  assertStore("from", from);
  assertStore("to", to);
  assertOptions<object>(options, {});
  return to.importBytes(from.exportBytes(id, options), options);
}
