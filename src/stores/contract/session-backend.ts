import type { EntryFacts, SessionFacts } from "../../core/facts/session-facts.ts";

/** Optional features of a backend. */
export interface BackendSupport {
  /** Whether `amend` can replace and remove lines, which redaction and upgrades from old versions require. */
  readonly rewrite: boolean;
  /** Whether `search` finds lines by their words. Otherwise, a search reads all lines. */
  readonly search: boolean;
  /** Whether `subscribe` reports appends by other processes. Otherwise, the store polls. */
  readonly watch: boolean;
  /** Whether `append` compares `expectedLeafId` and adds the lines atomically. */
  readonly conditionalAppend: boolean;
}

/**
 * Line to store in a backend.
 *
 * A line is everything between two 0x0A bytes: an entry, the header, damaged data, or nothing. A carriage return at its
 * end and a byte order mark at its start are part of the line. The bytes of a session are therefore its lines, each
 * followed by 0x0A, except for a last line with `isUnterminated`.
 */
export interface NewLine {
  /** The line without its line break: well-formed Unicode without U+0000 or U+000A, stored unchanged. */
  readonly text: string;
  /** `base64` if `text` encodes bytes that are not UTF-8 or contain a zero byte. Absent: `text` is the line. */
  readonly encoding?: "base64";
  /** Set on the last line if it has no line break. Has no meaning once another line follows. */
  readonly isUnterminated?: true;
  /** Facts that the line can be queried by, if it is an entry with an id. */
  readonly entry?: EntryFacts;
}

/** Line that contains an entry. Only such lines are appended. */
export interface NewEntryLine extends NewLine {
  readonly encoding?: never;
  readonly isUnterminated?: never;
  readonly entry: EntryFacts;
}

/** Line stored in a backend. */
export interface StoredLine {
  /** Position in the session: a safe integer greater than 0. Positions are ascending but may have gaps. */
  readonly seq: number;
  readonly text: string;
  readonly encoding?: "base64" | undefined;
  readonly isUnterminated?: boolean | undefined;
}

/** Page of a session's lines. */
export interface LinePage {
  /** Lines in ascending order of `seq`: at most `limit`, and at least one if there are more lines. */
  readonly lines: readonly StoredLine[];
  /** Whether these were the session's last lines when they were read. */
  readonly isEnd: boolean;
  /**
   * Revision of the session, which increases whenever stored lines change. A reader with a different revision must read all
   * lines again. A session created with the id of a deleted session starts with a revision greater than that of the deleted
   * session.
   */
  readonly revision: number;
}

/** Condition for an append, and the positions of its lines. */
export interface AppendCondition {
  /**
   * Id of the entry that must be the leaf: it exists, and no later entry continues the conversation. Null: no entry
   * continues the conversation. Entries of the types `label`, `session_info`, and `usage` never continue it and are
   * ignored.
   */
  readonly expectedLeafId?: string | null;
  /**
   * `seq` of a line that must exist: the last line that the caller has read or written. None of the appended lines are stored at
   * or before this position, so only later lines can repeat them.
   */
  readonly afterSeq?: number;
  /** Id of the entry that line `afterSeq` must contain. Absent: any line. */
  readonly afterEntryId?: string;
  /**
   * Number of positions to skip before the first added line. Default 0. The store chooses it at random, so that a line
   * appended again after a failover gets a different position. If a line is still at its position, all earlier lines are
   * therefore stored.
   */
  readonly gap?: number;
}

/** Positions of appended lines. */
export interface AppendReceipt {
  /**
   * `seq` of the line before the first appended line; 0 if no line precedes it. If another process wrote that line, the
   * caller has not read it.
   */
  readonly precedingSeq: number;
  /** `seq` of the last appended line. */
  readonly lastSeq: number;
  /** See `LinePage`. */
  readonly revision: number;
}

/** Change to stored lines, applied by `amend`. */
export interface Amendment {
  /** Revision that the change is based on. */
  readonly expectedRevision: number;
  readonly replace: readonly { readonly seq: number; readonly line: NewLine }[];
  /** `seq` of each line to remove. Missing lines are ignored. */
  readonly remove: readonly number[];
  /** Lines to append atomically with the change, in the same way as `append`. */
  readonly append: readonly NewEntryLine[];
  /** New values of facts that were derived from the replaced lines. */
  readonly facts: Partial<Pick<SessionFacts, "name" | "firstMessage">>;
}

/** Position of a session in a list. The next page begins after it. */
export interface ListPosition {
  /** Time of the session's latest message or, if there are no messages, of its header, in Unix milliseconds. */
  readonly modifiedMs: number;
  readonly id: string;
}

/** Filters and page size of a list. */
export interface BackendListQuery {
  /** Only sessions with exactly this working directory. */
  readonly cwd?: string;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** Part of the name, ignoring case. Sessions without a name do not match. */
  readonly name?: string;
  /** Maximum number of sessions. */
  readonly limit: number;
  readonly after?: ListPosition;
}

/** Session with the model usage recorded in its lines. */
export interface FactsWithUsage {
  readonly session: SessionFacts;
  /** The `usage` values of the session's entries, in the order of the lines. */
  readonly usage: readonly string[];
  /**
   * Number of lines without an entry, including the header. If there are others besides the header, the store reads the session's
   * lines.
   */
  readonly linesWithoutEntry: number;
}

/** Filters and page size of a search. */
export interface BackendSearchQuery {
  /** Words that must all occur in the text of one entry, ignoring case. */
  readonly words: readonly string[];
  /** Only sessions with this working directory. */
  readonly cwd?: string;
  /** Maximum number of lines. */
  readonly limit: number;
  /** Position of the last line on the previous page. */
  readonly after?: { readonly sessionId: string; readonly seq: number };
}

/** Line that contains the words. */
export interface FoundLine {
  readonly session: SessionFacts;
  readonly line: StoredLine;
}

/**
 * Asynchronous storage that a store uses for its sessions, usually a database.
 *
 * A backend stores and returns lines without parsing them. Every call is atomic. A thrown `SessionError`, such as the error for a
 * missing session, is final. After any other error, such as a lost connection, it is unknown whether the call took effect, so the
 * store repeats it with the same arguments.
 *
 * @remarks Every backend passes `sessionStoreSuite` from `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionBackend {
  readonly supports: BackendSupport;

  /**
   * Creates a session from its lines, including the header.
   *
   * The lines are passed in batches, so that a session of any size can be copied. The session becomes visible with the last
   * batch. All lines are stored, even repeated lines.
   *
   * @param session - Facts from the header. Use `backendKit.factsAfter` to derive the facts that depend on lines.
   * @throws {SessionError} `SESSION_EXISTS`; nothing has changed.
   */
  create(session: SessionFacts, lines: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt>;

  /**
   * Reads lines in order.
   *
   * @param afterSeq - Returns only lines after this position; 0 for all lines.
   * @param limit - Maximum number of lines.
   * @param afterEntryId - Id of the entry that line `afterSeq` must contain.
   * @throws {SessionError} `SESSION_NOT_FOUND`, or `WRITES_LOST` if there is no such line.
   */
  read(id: string, afterSeq: number, limit: number, afterEntryId?: string): Promise<LinePage>;

  /**
   * Appends consecutive lines to the end of a session.
   *
   * A line whose entry id and text are already stored keeps its position and is not added again. If all lines are
   * already stored, the condition is ignored, because the call repeats an append whose response was lost.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STALE_LEAF` if the leaf is a different entry, or `WRITES_LOST` if line
   *   `afterSeq` is not stored, including when the entire session is missing but was not deleted.
   */
  append(id: string, lines: readonly NewEntryLine[], condition?: AppendCondition): Promise<AppendReceipt>;

  /**
   * Replaces and removes lines, and increments the revision.
   *
   * @returns Undefined, without any change, if the revision is not the expected revision.
   * @throws {SessionError} `SESSION_NOT_FOUND`
   */
  amend?(id: string, change: Amendment): Promise<AppendReceipt | undefined>;

  /** Returns sessions sorted by `lastMessageMs ?? createdMs`, descending, then by id, ascending by code unit. */
  list(query: BackendListQuery): Promise<readonly SessionFacts[]>;

  /** Returns the same sessions as `list`, with the usage recorded in their lines. If absent, totaling usage reads all lines. */
  listUsage?(query: BackendListQuery): Promise<readonly FactsWithUsage[]>;

  /**
   * Finds lines by `searchText`, sorted by session id, descending by code unit, so that the newest sessions are first,
   * then by `seq`.
   *
   * @param options - `signal` aborts when the result is no longer needed. The backend may then stop the search.
   */
  search?(
    query: BackendSearchQuery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly FoundLine[]>;

  /** Deletes a session permanently; returns false if it does not exist. */
  delete(id: string): Promise<boolean>;

  /**
   * Calls `onMore` whenever a session may have changed, from the time the promise resolves until the signal aborts.
   *
   * Extra calls are harmless. The backend must also call it when a lost connection is restored.
   */
  subscribe?(id: string, onMore: () => void, options: { readonly signal: AbortSignal }): Promise<void>;

  /**
   * Releases the resources that the backend opened itself. Idempotent.
   *
   * With `discard`, does not wait for running calls.
   */
  close(options?: { readonly discard?: boolean }): Promise<void>;
}
