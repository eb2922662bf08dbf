import type { SessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { LineChange } from "../../core/jsonl/entry-body.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";

/** An entry on its way into a log. */
export interface LogLine {
  readonly head: EntryHead;
  /** The record as JSON, without a line break. */
  readonly text: string;
  /** What JSON cannot hold of the record, and its place; the text has something else there. */
  readonly replaced?: string;
}

/** Takes the line of an entry. The bytes are valid only during the call. */
export type TakeLine = (ordinal: number, bytes: Uint8Array) => void;

/** Takes the text of an entry's line. */
export type TakeText = (ordinal: number, text: string) => void;

/**
 * Why a log is read-only: it was opened so, its version is too new, another program wrote the file, or it is closed.
 * An error if the lease was lost.
 */
export type ReadOnlyReason = "mode" | "version" | "foreign" | "closed" | SessionError;

/** A change that other writers made. */
export type LogChange =
  /** Others appended entries, from this ordinal on. */
  | { readonly kind: "foreign"; readonly from: number }
  /** All lines were replaced: earlier ordinals are no longer valid. */
  | { readonly kind: "reloaded"; readonly before: SessionIndex };

/**
 * Where the lines of one session live.
 *
 * The seam between a session and a file, memory or a database. A log indexes its lines, reads them, and appends new
 * ones. Appending is synchronous; a remote log may queue lines and write them in `flush`.
 *
 * @remarks Every log passes the suite in test/conformance.
 */
export interface SessionLog extends LineSource {
  /** Path of the file; undefined if there is none. */
  readonly path: string | undefined;
  /** Why nothing can be appended; undefined if it can. */
  readonly readOnlyReason: ReadOnlyReason | undefined;
  /** Called when the log notices that others wrote: during any call but `readLines` and `isReplaced`. */
  onChange: ((change: LogChange) => void) | undefined;
  /** Called when writing starts to fail, or works again, between two appends. */
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  /** Called with the ids of entries that the place had lost and this log has appended again. */
  onRestored?: ((ids: readonly string[]) => void) | undefined;
  /** Whether a log that writes later currently fails to write what was appended. */
  readonly isDegraded: boolean;
  /** Whether entries are kept as the objects that they are, even if JSON cannot hold them. */
  readonly keepsObjects?: boolean;
  /** The index of the lines. Only a change of kind `reloaded` replaces this object. */
  readonly index: SessionIndex;

  /**
   * Reads the lines of entries, as bytes without line breaks. They are as they are stored now, even if others have replaced
   * them; other entries are found by the next call that may report a change.
   *
   * @param ordinals - Which entries; ascending order is fastest.
   * @param take - Called for each, in the given order.
   * @param takeText - Called instead by a log that has the text at hand; the text equals `decodeText` of the bytes.
   */
  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void;

  /**
   * Tells whether others have replaced lines that callers know, and reads the new ones if so. `index` changes only when
   * `refresh` reports that. What callers made of the old lines may hold what was redacted.
   *
   * @returns False always if a log reports a replacement at once, or nobody else can replace lines.
   * @remarks Cost: O(1), and once O(bytes) if they were. May wait for a replacement that is under way.
   * @throws {SessionError} `WRITE_FAILED` if the new lines lack entries that this session has.
   */
  isReplaced(): boolean;

  /**
   * Appends entries in one write, all or none.
   *
   * @param isLasting - False if the entries need not be on disk before the conversation begins.
   * @returns The ordinal of the first entry; the others follow.
   * @throws {SessionError} `WRITE_FAILED`; nothing was added.
   */
  append(lines: readonly LogLine[], isLasting: boolean): number;

  /**
   * Replaces lines for good and appends others, in one step. The only call that changes history.
   *
   * @param change - Called for the header and each entry, and again if others write meanwhile.
   * @param more - Returns the lines to append, with the same ids each time; called after each round of changes.
   * @throws {SessionError} `WRITE_FAILED`; nothing changed. If only loading the new state fails, the call returns, and
   *   `refresh` loads it.
   */
  rewrite(change: LineChange, more: () => readonly LogLine[]): void;

  /** Reads what others appended. */
  refresh(): LogChange | undefined;

  /** Waits until everything is written, and reads what others appended: the asynchronous `refresh`. */
  pull(): Promise<void>;

  /**
   * Appends an entry if the stored leaf is the expected one. Writes everything earlier first, compares and appends in
   * one step, and reads what others appended.
   *
   * @param isLasting - As for `append`.
   * @throws {SessionError} `STALE_LEAF`; the line was not written.
   */
  appendIfLeaf(line: LogLine, expectedLeafId: string | null, isLasting: boolean): Promise<void>;

  /**
   * Yields after reading what others may have written, until the signal aborts. Ends at once if nobody else can
   * write.
   */
  changes(signal?: AbortSignal): AsyncIterable<void>;

  /**
   * Rewrites lines of an older version in the current one, if the log can keep a backup. The first append does so by
   * itself.
   *
   * @returns The path of the backup; undefined if nothing was to be done.
   * @throws {SessionError} `UPGRADE_FAILED`; nothing changed.
   */
  upgrade(): string | undefined;

  /** Resolves when everything appended so far is durable: it survives a power cut. */
  flush(): Promise<void>;

  /** Flushes and releases the log; after that it is read-only. Idempotent. */
  close(): Promise<void>;

  /** Closes the log at once, when its session continues with another log. */
  release(): void;
}
