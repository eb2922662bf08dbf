import type { EntryFacts, SessionFacts } from "./session-facts.ts";

export type { EntryFacts } from "./session-facts.ts";

/** What a backend can do beside what all can. */
export interface BackendSupport {
  /** `amend`: lines can be replaced and taken out, which redaction and the upgrade of old versions need. */
  readonly rewrite: boolean;
  /** `search`: it finds lines by the words in them. Without it all lines are read to search. */
  readonly search: boolean;
  /** `subscribe`: it tells when others append. Without it the store looks from time to time. */
  readonly watch: boolean;
  /** `expectedLeafId` of `append` is compared in the same step in which the lines are added. */
  readonly conditionalAppend: boolean;
}

/**
 * A line on its way to a backend.
 *
 * Lines are what stands between two bytes 0x0A, whatever it is: entries, the header, damage, nothing at all; a carriage
 * return at the end and a byte order mark at the start belong to the line. So the bytes of a session are its lines, each
 * with a 0x0A behind it, the last one without if `isUnterminated`.
 */
export interface NewLine {
  /** The line without line break: well-formed Unicode without U+0000 and without U+000A, to be kept as it is. */
  readonly text: string;
  /** `base64` for bytes that are no UTF-8, or hold a zero byte: `text` spells them. Absent: `text` is the line. */
  readonly encoding?: "base64";
  /** The last line, if no line break stands behind it. Means nothing any more once another line follows. */
  readonly isUnterminated?: true;
  /** What the line can be asked for by, if it is an entry with an id of its own. */
  readonly entry?: EntryFacts;
}

/** A line that holds an entry: the only kind that is appended. */
export interface NewEntryLine extends NewLine {
  readonly encoding?: never;
  readonly isUnterminated?: never;
  readonly entry: EntryFacts;
}

/** A line that a backend holds. */
export interface StoredLine {
  /** Place in the order of the session: a whole number above 0; greater ones come later; there may be gaps. */
  readonly seq: number;
  readonly text: string;
  readonly encoding?: "base64" | undefined;
  readonly isUnterminated?: boolean | undefined;
}

/** A piece of a session's lines. */
export interface LinePage {
  /** In order of `seq`. As many as the backend sees fit, `limit` at most, and at least one if there is one. */
  readonly lines: readonly StoredLine[];
  /** Whether nothing stood behind them when they were read. */
  readonly isEnd: boolean;
  /** How often lines of the session were replaced or taken out: whoever has read others before must read all anew. */
  readonly revision: number;
}

/** On what condition lines are appended. */
export interface AppendCondition {
  /**
   * The entry that must be the leaf: it is there, and no entry behind it goes on with the conversation. Null: there is
   * no entry that does. Those of types `label`, `session_info` and `usage` do not, and are passed over.
   */
  readonly expectedLeafId?: string | null;
}

/** Where lines that were appended stand. */
export interface AppendReceipt {
  /** `seq` of the line before the first of those given, 0 if there is none: not the last that the caller knew if others wrote. */
  readonly precedingSeq: number;
  /** `seq` of the last of those given. */
  readonly lastSeq: number;
  /** See `LinePage`. */
  readonly revision: number;
}

/** A change of lines that are there. */
export interface Amendment {
  /** The revision that the change was made for. */
  readonly expectedRevision: number;
  readonly replace: readonly { readonly seq: number; readonly line: NewLine }[];
  /** Lines to take out; those that are gone already do not matter. */
  readonly remove: readonly number[];
  /** Lines to append in the same step, as `append` does. */
  readonly append: readonly NewEntryLine[];
  /** Facts that came from what is replaced, and are to be others now. */
  readonly facts: Partial<Pick<SessionFacts, "name" | "firstMessage">>;
}

/** Where a page of a list goes on: behind this session. */
export interface ListPosition {
  readonly modifiedMs: number;
  readonly id: string;
}

/** Which sessions are listed. */
export interface BackendListQuery {
  /** Exactly this working directory. */
  readonly cwd?: string;
  /** What the id begins with. */
  readonly idPrefix?: string;
  /** What the name must contain, whatever the case of its letters; sessions without a name have none. */
  readonly name?: string;
  /** At most this many. */
  readonly limit: number;
  readonly after?: ListPosition;
}

/** What is searched for. */
export interface BackendSearchQuery {
  /** Words that must all stand in the text of one entry, whatever the case of their letters. */
  readonly words: readonly string[];
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** At most this many lines. */
  readonly limit: number;
  /** Where the page before ended. */
  readonly after?: { readonly sessionId: string; readonly seq: number };
}

/** A line in which words were found. */
export interface FoundLine {
  readonly session: SessionFacts;
  readonly line: StoredLine;
}

/**
 * A place for many sessions that is reached asynchronously: a database, as a rule. All that a store needs of it.
 *
 * It keeps lines and gives them back; it does not have to understand them. Every call is all or nothing. A fact (what
 * is, is not, or has changed) is thrown as a `SessionError` and is final; anything else that is thrown, such as a lost
 * connection, leaves open whether the call was carried out, and it is made again with the same arguments.
 *
 * @remarks Every backend passes `sessionStoreSuite` of `sessiontree/testing`. Source: docs/stores.md
 */
export interface SessionBackend {
  readonly supports: BackendSupport;

  /**
   * Makes a session of its lines, the header among them.
   *
   * The lines come in pieces, so that a session of any size can be copied; nobody sees the session before the last.
   * They are kept as they come: none is left out because it was there before.
   *
   * @param session - The facts of the header; those that change with lines are derived with `factsAfter`.
   * @throws {SessionError} `SESSION_EXISTS`, and then nothing has changed.
   */
  create(session: SessionFacts, lines: AsyncIterable<readonly NewLine[]>): Promise<AppendReceipt>;

  /**
   * Reads lines in order.
   *
   * @param afterSeq - Only those behind it; 0 for all.
   * @param limit - At most this many.
   * @throws {SessionError} `SESSION_NOT_FOUND`
   */
  read(id: string, afterSeq: number, limit: number): Promise<LinePage>;

  /**
   * Appends lines behind all others, next to each other.
   *
   * A line whose entry id and text are there already is not added again and keeps its place; if all are, the condition
   * does not count: it is the same append once more, whose answer was lost.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`, or `STALE_LEAF` if the condition does not hold.
   */
  append(id: string, lines: readonly NewEntryLine[], condition?: AppendCondition): Promise<AppendReceipt>;

  /**
   * Replaces and takes out lines, and raises the revision by one.
   *
   * @returns Undefined, and nothing has changed, if the revision is not the expected one.
   * @throws {SessionError} `SESSION_NOT_FOUND`
   */
  amend?(id: string, change: Amendment): Promise<AppendReceipt | undefined>;

  /** Returns sessions: the greatest `modifiedMs` first, then by id, ascending by code unit. */
  list(query: BackendListQuery): Promise<readonly SessionFacts[]>;

  /** Finds lines by `searchText`: session ids descending by code unit, so that the newest come first, then by `seq`. */
  search?(query: BackendSearchQuery): Promise<readonly FoundLine[]>;

  /** Removes a session for good; false if there is none. */
  delete(id: string): Promise<boolean>;

  /**
   * Calls `onMore` whenever a session may have changed, from when the promise resolves until the signal.
   *
   * A change signal, without content: too many calls are harmless. After a lost connection it is called once it is there again.
   */
  subscribe?(id: string, onMore: () => void, signal: AbortSignal): Promise<void>;

  /**
   * Releases what the backend itself has opened. Idempotent.
   *
   * With `discard` nobody wants the answers to calls under way any more: it does not wait for them.
   */
  close(options?: { readonly discard?: boolean }): Promise<void>;
}
