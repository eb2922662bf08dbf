import type { EntryFacts, SessionFacts } from "../../core/facts/session-facts.ts";

/** Optional features of a backend. */
export interface BackendSupport {
  /** `amend`: lines can be replaced and removed, as redaction and the upgrade of old versions require. */
  readonly rewrite: boolean;
  /** `search`: lines are found by their words. Without it, a search reads all lines. */
  readonly search: boolean;
  /** `subscribe`: appends by other processes are reported. Without it, the store polls. */
  readonly watch: boolean;
  /** `append` compares `expectedLeafId` in the same step in which it adds the lines. */
  readonly conditionalAppend: boolean;
}

/**
 * A line to be stored in a backend.
 *
 * A line is everything between two bytes 0x0A: an entry, the header, damage, or nothing at all. A carriage return at its end and
 * a byte order mark at its start belong to it. So the bytes of a session are its lines, each followed by 0x0A, except for a last
 * line with `isUnterminated`.
 */
export interface NewLine {
  /** The line without line break: well-formed Unicode without U+0000 and U+000A, stored unchanged. */
  readonly text: string;
  /** `base64` if `text` encodes bytes that are not UTF-8 or contain a zero byte. Absent: `text` is the line. */
  readonly encoding?: "base64";
  /** Set on a last line without line break. Meaningless once another line follows. */
  readonly isUnterminated?: true;
  /** Facts to query the line by, if it is an entry with an id. */
  readonly entry?: EntryFacts;
}

/** A line with an entry: the only kind of line that is appended. */
export interface NewEntryLine extends NewLine {
  readonly encoding?: never;
  readonly isUnterminated?: never;
  readonly entry: EntryFacts;
}

/** A line stored in a backend. */
export interface StoredLine {
  /** Position in the session: a safe integer above 0, ascending, with gaps allowed. */
  readonly seq: number;
  readonly text: string;
  readonly encoding?: "base64" | undefined;
  readonly isUnterminated?: boolean | undefined;
}

/** A piece of a session's lines. */
export interface LinePage {
  /** In order of `seq`: at most `limit`, and at least one if any line follows. */
  readonly lines: readonly StoredLine[];
  /** Whether these were the last lines when they were read. */
  readonly isEnd: boolean;
  /**
   * Increases with each change of stored lines. A reader of another revision must read all lines again. A session that is created
   * under the id of a deleted one begins with a greater revision than the deleted one had.
   */
  readonly revision: number;
}

/** A condition for an append, and the positions of its lines. */
export interface AppendCondition {
  /**
   * The entry that must be the leaf: it exists, and no entry after it continues the conversation. Null: no entry continues the
   * conversation. Entries of types `label`, `session_info` and `usage` do not, and are ignored.
   */
  readonly expectedLeafId?: string | null;
  /**
   * `seq` of a line that must be stored: the last one that the caller has read or written. None of the appended lines is stored
   * up to there, so only lines after it can repeat them.
   */
  readonly afterSeq?: number;
  /** The id of the entry that line `afterSeq` must hold. Absent: any line. */
  readonly afterEntryId?: string;
  /**
   * Number of positions to leave free before the first added line. Default 0. The store draws it at random, so that a line that
   * is appended again after a failover gets another position: if a line is at its position, all lines before it are stored.
   */
  readonly gap?: number;
}

/** Positions of appended lines. */
export interface AppendReceipt {
  /**
   * `seq` of the line before the first appended one, 0 if there is none. If another process wrote that line, the caller has not
   * read it.
   */
  readonly precedingSeq: number;
  /** `seq` of the last appended line. */
  readonly lastSeq: number;
  /** See `LinePage`. */
  readonly revision: number;
}

/** A change of stored lines, as `amend` applies it. */
export interface Amendment {
  /** The revision that the change is based on. */
  readonly expectedRevision: number;
  readonly replace: readonly { readonly seq: number; readonly line: NewLine }[];
  /** `seq` of lines to remove; missing ones are ignored. */
  readonly remove: readonly number[];
  /** Lines to append in the same step, as `append` does. */
  readonly append: readonly NewEntryLine[];
  /** New values of the facts that came from replaced lines. */
  readonly facts: Partial<Pick<SessionFacts, "name" | "firstMessage">>;
}

/** Position of a session in a list; a page continues after it. */
export interface ListPosition {
  /** Time of the session's latest message, else of its header. */
  readonly modifiedMs: number;
  readonly id: string;
}

/** Filters and page size of a list. */
export interface BackendListQuery {
  /** Exactly this working directory. */
  readonly cwd?: string;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** Part of the name, ignoring case. Sessions without a name do not match. */
  readonly name?: string;
  /** Maximum number of sessions. */
  readonly limit: number;
  readonly after?: ListPosition;
}

/** A session with the usage of models recorded in its lines. */
export interface FactsWithUsage {
  readonly session: SessionFacts;
  /** The `usage` of its entries, in the order of the lines. */
  readonly usage: readonly string[];
  /** Number of lines without an entry; the header is one. If there are others, the store reads the session's lines. */
  readonly linesWithoutEntry: number;
}

/** Filters and page size of a search. */
export interface BackendSearchQuery {
  /** Words that one entry's text must all contain, ignoring case. */
  readonly words: readonly string[];
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** Maximum number of lines. */
  readonly limit: number;
  /** The end of the previous page. */
  readonly after?: { readonly sessionId: string; readonly seq: number };
}

/** A line that contains the words. */
export interface FoundLine {
  readonly session: SessionFacts;
  readonly line: StoredLine;
}

/**
 * An asynchronous place for many sessions, usually a database, as a store uses it.
 *
 * It stores and returns lines without having to parse them. Every call is all or nothing. A thrown `SessionError` is a final
 * answer, for example that a session does not exist. After any other error, such as a lost connection, it is unknown whether the
 * call took effect, and the store repeats it with the same arguments.
 *
 * @remarks Every backend passes `sessionStoreSuite` of `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionBackend {
  readonly supports: BackendSupport;

  /**
   * Creates a session from its lines, including the header.
   *
   * The lines come in batches, so that a session of any size can be copied; the session becomes visible with the last one.
   * All lines are stored, even repeated ones.
   *
   * @param session - The facts of the header; those that depend on lines are derived with `backendKit.factsAfter`.
   * @throws {SessionError} `SESSION_EXISTS`; nothing has changed.
   */
  create(session: SessionFacts, lines: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt>;

  /**
   * Reads lines in order.
   *
   * @param afterSeq - Only lines after it; 0 for all.
   * @param limit - Maximum number of lines.
   * @param afterEntryId - The id of the entry that line `afterSeq` must hold.
   * @throws {SessionError} `SESSION_NOT_FOUND`, or `WRITES_LOST` if there is no such line.
   */
  read(id: string, afterSeq: number, limit: number, afterEntryId?: string): Promise<LinePage>;

  /**
   * Appends lines after all others, without other lines in between.
   *
   * A line with a stored entry id and text is not added again, and keeps its position. If all lines are stored, the condition is
   * ignored, because the call repeats an append whose answer was lost.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, `STALE_LEAF` if the leaf is another one, or `WRITES_LOST` if line `afterSeq` is
   *   not stored, including when the whole session no longer exists and was not deleted.
   */
  append(id: string, lines: readonly NewEntryLine[], condition?: AppendCondition): Promise<AppendReceipt>;

  /**
   * Replaces and removes lines, and increments the revision.
   *
   * @returns Undefined, with nothing changed, if the revision is not the expected one.
   * @throws {SessionError} `SESSION_NOT_FOUND`
   */
  amend?(id: string, change: Amendment): Promise<AppendReceipt | undefined>;

  /** Returns sessions: the greatest `lastMessageMs ?? createdMs` first, then by id, ascending by code unit. */
  list(query: BackendListQuery): Promise<readonly SessionFacts[]>;

  /** Returns sessions as `list` does, with the usage in their lines. Without it, sums of usage read all lines. */
  listUsage?(query: BackendListQuery): Promise<readonly FactsWithUsage[]>;

  /**
   * Finds lines by `searchText`: session ids descending by code unit, so that the newest come first, then by `seq`.
   *
   * @param options - `signal` aborts when no caller waits for the answer any longer; the backend may then stop the search.
   */
  search?(
    query: BackendSearchQuery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly FoundLine[]>;

  /** Removes a session permanently; false if it does not exist. */
  delete(id: string): Promise<boolean>;

  /**
   * Calls `onMore` whenever a session may have changed, from when the promise resolves until the signal aborts.
   *
   * Extra calls are harmless. The backend must also call it when a lost connection is restored.
   */
  subscribe?(id: string, onMore: () => void, options: { readonly signal: AbortSignal }): Promise<void>;

  /**
   * Releases the resources that the backend itself opened. Idempotent.
   *
   * With `discard` it does not wait for the answers to running calls.
   */
  close(options?: { readonly discard?: boolean }): Promise<void>;
}
