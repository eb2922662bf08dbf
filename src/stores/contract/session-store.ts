import type { SearchHit, SearchSessionOptions } from "../../catalog/search/search.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { NewSessionOptions, SessionOptions } from "../../session/manager/session-options.ts";

/** Capabilities of a store. */
export interface StoreSupport {
  /** Whether sessions outlive the process. */
  readonly durable: boolean;
  /** Whether appends return before they are written; `flush` waits until they are. */
  readonly queued: boolean;
  /** Whether `appendIfLeaf` compares and appends atomically. */
  readonly conditionalAppend: boolean;
  /** Whether `redactEntry` and the upgrade of old versions work. */
  readonly rewrite: boolean;
  /** Whether `search` uses an index, usually of whole words. Otherwise it reads everything, and finds any part of a string. */
  readonly indexedSearch: boolean;
  /** Whether the store reports entries of other processes to `watch`; otherwise `watch` polls. */
  readonly watch: boolean;
}

/** Options of a session in a store, without those that concern files. */
export type StoreSessionOptions = Pick<
  SessionOptions,
  "now" | "beforePersist" | "persistLeafOnClose" | "mustExist"
>;

/** Options of a new session in a store. */
export interface CreateInStoreOptions extends NewSessionOptions, StoreSessionOptions {
  /** Working directory, which identifies the project. */
  readonly cwd: string;
  /** Whether to create the session immediately instead of with the first message. Default false. */
  readonly createAtOnce?: boolean;
}

/** Options for opening a session of a store. */
export interface OpenInStoreOptions extends StoreSessionOptions {
  /** `read-only` appends nothing. */
  readonly mode?: "read-write" | "read-only";
  /** Working directory, instead of the header's. */
  readonly cwd?: string;
  /** Aborts opening with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Options for a session in a store that is opened, or created if it does not exist. */
export interface OpenOrCreateOptions
  extends Omit<CreateInStoreOptions, "id" | "createAtOnce">,
    Pick<OpenInStoreOptions, "signal"> {}

/** Filters and page size for listing the sessions of a store. */
export interface ListInStoreOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Part of the name, ignoring case. */
  readonly name?: string;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** Maximum number of sessions. Default: all. */
  readonly limit?: number;
  /** Continues after this session, the last one of an earlier list. */
  readonly after?: Pick<SessionRow, "modified" | "id">;
  /** Aborts listing with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Options for searching a store. */
export interface SearchInStoreOptions extends SearchSessionOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
}

/** Options for importing a session's bytes into a store. */
export interface ImportIntoStoreOptions {
  /** Aborts the import with `ABORTED`; nothing is added then. */
  readonly signal?: AbortSignal;
}

/** Options for closing a store. */
export interface CloseStoreOptions {
  /** Whether to discard pending writes, so that closing neither waits nor fails. Default false. */
  readonly discard?: boolean;
}

/**
 * A place for many sessions.
 *
 * In any store, a session is a `SessionManager` with the same bytes: a session that is copied from store to store and back is
 * byte for byte the same.
 *
 * @remarks Every store passes `sessionStoreSuite` of `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionStore {
  readonly supports: StoreSupport;

  /**
   * Creates a session, which is stored with its first user or assistant message, or immediately with `createAtOnce`.
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
   * Opens the session with exactly this id, or creates and stores it. If several callers do so concurrently, one creates it, and
   * all open the same session.
   *
   * @param options - Options of the created session, and of the opened one except for `cwd` and `parentSession`.
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
   * Yields entries whose texts hold all words of a query, by the rules of `searchSessions`.
   *
   * @param query - Words in any order, `"a phrase"` in quotes, or with `regex` a regular expression; an empty one matches
   *   nothing, unless with `failed`, `tools` or `path`.
   * @throws {TypeError} If an option is invalid.
   * @throws {SessionError} `INVALID_QUERY`, `STORE_UNAVAILABLE`, `ABORTED`
   */
  search(query: string, options?: SearchInStoreOptions): AsyncGenerator<SearchHit, void, undefined>;

  /**
   * Deletes a session: permanently, unless the store has a trash.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`; for files also `LEASE_HELD`, `WRITE_FAILED`.
   */
  delete(id: string): Promise<void>;

  /**
   * Yields the bytes of a session, unchanged.
   *
   * @returns Pieces, each valid until the next is requested.
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`; `WRITE_FAILED` if lines that were already yielded
   *   changed meanwhile, for example because of a redaction.
   */
  exportBytes(
    id: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Creates a session from bytes, which include its header, and stores them unchanged.
   *
   * @param pieces - May be cut anywhere; each is fully read before the next is requested.
   * @returns The session's id, from the header.
   * @throws {SessionError} `SESSION_EXISTS`, `NOT_A_SESSION`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`; nothing was
   *   added. `WRITE_FAILED`; nothing was added unless only the answer was lost.
   */
  importBytes(pieces: AsyncIterable<Uint8Array>, options?: ImportIntoStoreOptions): Promise<string>;

  /**
   * Appends entries that already have ids, parents and times, such as entries copied from another store. They are stored
   * unchanged, after all others; entries that are already stored word for word are skipped.
   *
   * To continue a session, append through its `SessionManager`.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `WRITE_FAILED`
   */
  appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void>;

  /**
   * Waits until everything appended to its sessions is written, including appends meanwhile, and releases the store's resources.
   * Idempotent.
   *
   * @throws {SessionError} `WRITE_FAILED`, or the error of a session's `flush`; the store is then still open.
   */
  close(options?: CloseStoreOptions): Promise<void>;

  /** Closes the store, at the end of `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Copies a session from one store to another, byte for byte, under its id.
 *
 * Never overwrites. An entry appended meanwhile is copied as a whole or not at all.
 *
 * @returns The id.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_EXISTS`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`; nothing was
 *   added. `WRITE_FAILED`; nothing was added unless only the answer was lost.
 * @remarks Cost: O(bytes); memory O(the longest line).
 */
export function copySession(
  from: SessionStore,
  id: string,
  to: SessionStore,
  options: ImportIntoStoreOptions = {},
): Promise<string> {
  return to.importBytes(from.exportBytes(id, options), options);
}
