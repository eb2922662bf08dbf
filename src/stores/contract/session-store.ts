import type { SearchHit, SearchSessionOptions } from "../../catalog/search/search.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionManager } from "../../session/manager/session-manager.ts";
import type { NewSessionOptions, SessionOptions } from "../../session/manager/session-options.ts";

/** What a store can do. */
export interface StoreSupport {
  /** Whether sessions outlive the process. */
  readonly durable: boolean;
  /** Whether appends return before they are written; `flush` waits until they are. */
  readonly queued: boolean;
  /** Whether `appendIfLeaf` compares and appends atomically. */
  readonly conditionalAppend: boolean;
  /** Whether `redactEntry` and the upgrade of old versions work. */
  readonly rewrite: boolean;
  /** Whether `search` uses an index, usually of whole words. Otherwise it reads everything, and finds any part of a text. */
  readonly indexedSearch: boolean;
  /** Whether the store reports others' entries to `watch`; otherwise `watch` polls. */
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
  /** Whether to create it at once instead of with the first message. Default false. */
  readonly createAtOnce?: boolean;
}

/** How a session of a store is opened. */
export interface OpenInStoreOptions extends StoreSessionOptions {
  /** `read-only` appends nothing. */
  readonly mode?: "read-write" | "read-only";
  /** Working directory, instead of the header's. */
  readonly cwd?: string;
  /** Ends the open with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Options of a session in a store that is opened, or begun if there is none. */
export interface OpenOrCreateOptions
  extends Omit<CreateInStoreOptions, "id" | "createAtOnce">,
    Pick<OpenInStoreOptions, "signal"> {}

/** Which sessions are listed. */
export interface ListInStoreOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Part of the name, ignoring case. */
  readonly name?: string;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** At most this many. Default: all. */
  readonly limit?: number;
  /** Continues behind this session, the last one of an earlier list. */
  readonly after?: Pick<SessionRow, "modified" | "id">;
  /** Ends the listing with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** How a store is searched. */
export interface SearchInStoreOptions extends SearchSessionOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
}

/** How a session's bytes are put into a store. */
export interface ImportIntoStoreOptions {
  /** Ends the import with `ABORTED`; nothing is added then. */
  readonly signal?: AbortSignal;
}

/** How a store is closed. */
export interface CloseStoreOptions {
  /** Whether to discard pending writes, so that closing neither waits nor fails. Default false. */
  readonly discard?: boolean;
}

/**
 * Many sessions in one place.
 *
 * Whatever the place, a session is a `SessionManager` with the same bytes: a session that is copied from store to store and
 * back is byte for byte the same.
 *
 * @remarks Every store passes `sessionStoreSuite` of `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionStore {
  readonly supports: StoreSupport;

  /**
   * Begins a session, which is stored with its first user or assistant message, or at once with `createAtOnce`.
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
   * Opens the session with exactly this id, or begins it at once. Of several callers that do so at once, one begins it, and all
   * open the same session.
   *
   * @param options - Of the session that is begun, and of the opened one but for `cwd` and `parentSession`.
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
   * Deletes a session: for good, unless the store has a trash.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`; for files also `LEASE_HELD`, `WRITE_FAILED`.
   */
  delete(id: string): Promise<void>;

  /**
   * Yields the bytes of a session, as they are.
   *
   * @returns Pieces, each valid until the next is asked for.
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`; `WRITE_FAILED` if lines that were
   *   yielded already changed meanwhile, for example by a redaction.
   */
  exportBytes(
    id: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Creates a session of bytes, its header among them, and stores them unchanged.
   *
   * @param pieces - May be cut anywhere; each is used up before the next is asked for.
   * @returns The session's id, from the header.
   * @throws {SessionError} `SESSION_EXISTS`, `NOT_A_SESSION`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`, and
   *   then nothing was added; `WRITE_FAILED`, and then nothing was added unless only the answer was lost.
   */
  importBytes(pieces: AsyncIterable<Uint8Array>, options?: ImportIntoStoreOptions): Promise<string>;

  /**
   * Appends entries that have their ids, parents and times already, such as entries copied from elsewhere. They are stored
   * unchanged, behind all others; entries that are stored already, word for word, are skipped.
   *
   * To work on a session, append through its `SessionManager`.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `WRITE_FAILED`
   */
  appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void>;

  /**
   * Waits until everything appended to its sessions is written, including appends meanwhile, and releases the store's
   * resources. Idempotent.
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
 * Never overwrites. An entry appended meanwhile is in the copy as a whole or not at all.
 *
 * @returns The id.
 * @throws {SessionError} `SESSION_NOT_FOUND`, `SESSION_EXISTS`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`,
 *   `ABORTED`, and then nothing was added; `WRITE_FAILED`, and then nothing was added unless only the answer was lost.
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
