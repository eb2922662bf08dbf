import type { LineSource } from "../jsonl/line-source.ts";
import type { SessionIndex } from "../jsonl/session-index.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import type { SessionError } from "../schema/errors.ts";
import type { EntryHead } from "../schema/head.ts";
import type { JsonRecord } from "../schema/json.ts";

/** An entry on its way into a log. */
export interface LogLine {
  readonly head: EntryHead;
  /** The record as JSON, without a line break. */
  readonly text: string;
}

/** Takes an entry's line, whose bytes may be used again afterwards. */
export type TakeLine = (ordinal: number, bytes: Uint8Array) => void;

/** Takes the text of an entry's line. */
export type TakeText = (ordinal: number, text: string) => void;

/** Takes the record that an entry's line was parsed into before, and the bytes of the line. */
export type TakeRecord = (ordinal: number, record: JsonRecord, bytes: number) => void;

/**
 * Why nothing can be appended to a log: it was asked for, the version is too new, the file is another program's, or it
 * is closed; an error says that the right to append was lost.
 */
export type ReadOnlyReason = "mode" | "version" | "foreign" | "closed" | SessionError;

/** What a log found when it looked for changes that others made. */
export type LogChange =
  /** Entries of others were added, from this ordinal on. */
  | { readonly kind: "foreign"; readonly from: number }
  /** The lines were replaced as a whole: ordinals mean something else now. */
  | { readonly kind: "reloaded"; readonly before: SessionIndex };

/**
 * Where the lines of one session live.
 *
 * The seam between a session and its place: a file, memory, a database. A log keeps the index of what it holds, gives
 * the bytes of a line when asked, and takes new lines at its end. Appending is synchronous; a log whose place is far
 * away may queue lines and drain the queue in `flush`.
 *
 * @remarks Every log passes the suite in test/conformance.
 */
export interface SessionLog extends LineSource {
  /** Path of the file; undefined if there is none. */
  readonly path: string | undefined;
  /** Why nothing can be appended; undefined if it can. */
  readonly readOnlyReason: ReadOnlyReason | undefined;
  /** Called when a look at the log's place, also in the course of another call, has found a change. */
  onChange: ((change: LogChange) => void) | undefined;
  /** Called when a log stops or starts getting lines to their place in between two appends. */
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  /** Whether lines that were appended do not get to their place at present, as they may in a log that writes later. */
  readonly isDegraded: boolean;
  /** What the log holds. Another object after a change of kind `reloaded`. */
  readonly index: SessionIndex;

  /**
   * Reads the lines of entries, as bytes without line breaks.
   *
   * @param ordinals - Which, best in ascending order.
   * @param take - Called for each in the order given; the bytes are valid during the call.
   * @param takeText - Called instead, by a log to which the text comes cheaper than the bytes; as `decodeText` gives it.
   * @param takeRecord - Called instead, once for each entry, by a log that has parsed the line already.
   */
  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText, takeRecord?: TakeRecord): void;

  /**
   * Keeps the lines readable as they stand, whatever others do with the log's place, until the function returned is
   * called: for copies, whose ordinals must not change on the way.
   */
  pin(): () => void;

  /**
   * Appends entries, all or none, as one write, behind everything else.
   *
   * @param isLasting - False for entries that need not be on disk before a conversation has begun.
   * @returns The ordinal of the first; the others follow it.
   * @throws {SessionError} `WRITE_FAILED`, and then nothing was added.
   */
  append(lines: readonly LogLine[], isLasting: boolean): number;

  /**
   * Puts altered entries in the place of the old ones, which are kept nowhere, and appends lines behind them, all as
   * one: the one call that changes history.
   *
   * @param change - Called for each entry; must keep id, parent and type.
   * @param more - Lines to append.
   * @throws {SessionError} `WRITE_FAILED`, and then everything is as it was, or only the last step is missing: that the
   *   new state survives a power cut, or is known here. A look finds it.
   */
  rewrite(change: (entry: AnySessionEntry) => AnySessionEntry, more?: readonly LogLine[]): void;

  /** Looks for what others appended. */
  refresh(): LogChange | undefined;

  /**
   * Waits until everything is written, and takes in what others have: what `refresh` is for a place that answers later.
   *
   * @throws {SessionError} `WRITE_FAILED` or `SESSION_NOT_FOUND`
   */
  pull(): Promise<void>;

  /**
   * Appends an entry once everything before is written, if the leaf in the log's place is the expected one, compared
   * there in the same step; and takes in what others have written.
   *
   * @param isLasting - As for `append`.
   * @throws {SessionError} `STALE_LEAF`, and then the line is nowhere.
   */
  appendIfLeaf(line: LogLine, expectedLeafId: string | null, isLasting: boolean): Promise<void>;

  /** Yields whenever others may have written, having taken it in, until the signal aborts; ends at once if nobody else can. */
  changes(signal?: AbortSignal): AsyncIterable<void>;

  /**
   * Rewrites the lines in the current version if they are of an older one and the log's place keeps a backup; the first
   * append does so by itself.
   *
   * @returns Path of the backup; undefined if there was nothing to do.
   * @throws {SessionError} `UPGRADE_FAILED`, and then everything is as it was.
   */
  upgrade(): string | undefined;

  /** Resolves when everything appended so far survives a power cut. */
  flush(): Promise<void>;

  /** Flushes, and releases what the log holds. Idempotent; nothing can be appended afterwards. */
  close(): Promise<void>;

  /**
   * Does the same as `close`, at once: for a log that is left behind while its session goes on with another.
   *
   * @throws {SessionError} `WRITE_FAILED`; it is released all the same.
   */
  release(): void;
}
