import type { SearchHit } from "../catalog/search.ts";
import type { SessionRow } from "../catalog/session-row.ts";
import type { SessionManager } from "../manager/session-manager.ts";
import type { NewSessionOptions, SessionOptions } from "../manager/session-options.ts";
import type { AnySessionEntry } from "../schema/entry.ts";

/** What a store can do. */
export interface StoreSupport {
  /** Whether sessions are there when the process has ended. */
  readonly durable: boolean;
  /** Whether appends are written later than they return, so that `flush` tells when they are. */
  readonly queued: boolean;
  /** Whether `appendIfLeaf` compares and appends in one step, whoever else writes. */
  readonly conditionalAppend: boolean;
  /** Whether `redact` works, and old versions can be brought to the current one. */
  readonly rewrite: boolean;
  /** Whether `search` asks an index: for whole words, as a rule. Otherwise everything is read, and any part of a text is found. */
  readonly indexedSearch: boolean;
  /** Whether `watch` is told of others' entries; otherwise it looks from time to time. */
  readonly watch: boolean;
}

/** How a session of a store is run: what concerns files is left out. */
export type StoreSessionOptions = Pick<SessionOptions, "now" | "beforePersist" | "persistLeafOnClose">;

/** A new session of a store. */
export interface CreateInStoreOptions extends NewSessionOptions, StoreSessionOptions {
  /** Working directory, which says whose session it is. */
  readonly cwd: string;
  /** Whether it is there at once, and not with the first message. Default false. */
  readonly createAtOnce?: boolean;
}

/** How a session of a store is opened. */
export interface OpenInStoreOptions extends StoreSessionOptions {
  /** `read-only` appends nothing. */
  readonly mode?: "read-write" | "read-only";
  /** Working directory, instead of the one that the header names. */
  readonly cwd?: string;
  /** Ends the opening with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** Which sessions are listed. */
export interface ListInStoreOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** What the name must contain, whatever the case of its letters. */
  readonly name?: string;
  /** What the id must begin with. */
  readonly idPrefix?: string;
  /** At most this many. Default: all. */
  readonly limit?: number;
  /** Goes on behind this session, the last one of an earlier list. */
  readonly after?: Pick<SessionRow, "modified" | "id">;
  /** Ends the listing with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** How a store is searched. */
export interface SearchInStoreOptions {
  /** Only sessions of this project. */
  readonly cwd?: string;
  /** Only messages of these roles; summaries are `compactionSummary` and `branchSummary`. Default: all. */
  readonly roles?: readonly string[];
  /** At most this many hits. Default: all. */
  readonly limit?: number;
  /** Ends the search with `ABORTED`. */
  readonly signal?: AbortSignal;
}

/** How a session's bytes are put into a store. */
export interface ImportOptions {
  /** Ends the import with `ABORTED`, and then nothing was added. */
  readonly signal?: AbortSignal;
}

/** How a store is closed. */
export interface CloseStoreOptions {
  /** Whether what is not written yet is given up, so that closing neither waits nor fails. Default false. */
  readonly discard?: boolean;
}

/**
 * Many sessions in one place.
 *
 * Whatever the place, a session is a `SessionManager`, and its bytes are the same: what is copied from store to store
 * and back is byte for byte what it was.
 *
 * @remarks Every store passes `sessionStoreSuite` of `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionStore {
  readonly supports: StoreSupport;

  /**
   * Begins a session. It is there with its first user or assistant message, or at once with `createAtOnce`.
   *
   * @throws {SessionError} `INVALID_SESSION_ID`; `SESSION_EXISTS`, where it takes time to know that, from `flush`.
   */
  create(options: CreateInStoreOptions): SessionManager;

  /**
   * Opens the session with exactly this id.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`
   */
  open(id: string, options?: OpenInStoreOptions): Promise<SessionManager>;

  /**
   * Yields sessions, those modified last first.
   *
   * @throws {SessionError} `STORE_UNAVAILABLE`, `ABORTED`
   */
  list(options?: ListInStoreOptions): AsyncGenerator<SessionRow, void, undefined>;

  /**
   * Yields entries whose text holds all words of a query, whatever the case of their letters.
   *
   * @param query - Words; an empty query is nowhere.
   * @throws {SessionError} `STORE_UNAVAILABLE`, `ABORTED`
   */
  search(query: string, options?: SearchInStoreOptions): AsyncGenerator<SearchHit, void, undefined>;

  /**
   * Takes a session out of the store: for good, unless the store has a trash.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`; of files `LEASE_HELD`, `WRITE_FAILED`, too.
   */
  delete(id: string): Promise<void>;

  /**
   * Yields the bytes of a session, as they are.
   *
   * @returns Pieces, each valid until the next is asked for.
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `ABORTED`; `WRITE_FAILED` if lines that were given
   *   already were changed meanwhile, as by a redaction.
   */
  exportBytes(
    id: string,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Makes a session of bytes, its header among them, and keeps them as they are.
   *
   * @param pieces - May be cut anywhere; each is used up before the next is asked for.
   * @returns The session's id, which is that of the header.
   * @throws {SessionError} `SESSION_EXISTS`, `NOT_A_SESSION`, `INVALID_SESSION_ID`, `STORE_UNAVAILABLE`, `ABORTED`, and
   *   then nothing was added; `WRITE_FAILED`, and then nothing was added unless the answer alone was lost.
   */
  importBytes(pieces: AsyncIterable<Uint8Array>, options?: ImportOptions): Promise<string>;

  /**
   * Appends entries that have their ids, parents and times already, behind all others and as they are: what was copied
   * from elsewhere. Entries that are there word for word are not added again.
   *
   * Whoever works on a session appends through its `SessionManager`.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STORE_UNAVAILABLE`, `WRITE_FAILED`
   */
  appendEntries(id: string, entries: readonly AnySessionEntry[]): Promise<void>;

  /**
   * Waits until everything appended to its sessions is written, also what is appended meanwhile, and releases what the
   * store has opened. Idempotent.
   *
   * @throws {SessionError} `WRITE_FAILED`, or what a session's `flush` is refused with; and then it is open still.
   */
  close(options?: CloseStoreOptions): Promise<void>;
}
