import type { SessionError } from "../../core/format/errors.ts";
import type { EntryHead } from "../../core/format/head.ts";
import type { LineChange } from "../../core/jsonl/entry-body.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";

/** Entry to be written to a log. */
export interface LogLine {
  readonly head: EntryHead;
  /** Record as JSON, without a line break. */
  readonly text: string;
  /**
   * Description of a value that JSON cannot represent, with its path in the record. The text contains a replacement at that path.
   */
  readonly replaced?: string;
}

/** Receives the line of an entry. The bytes are valid only during the call. */
export type TakeLine = (ordinal: number, bytes: Uint8Array) => void;

/** Receives the text of an entry's line. */
export type TakeText = (ordinal: number, text: string) => void;

/**
 * Reason why a log is read-only: it was opened read-only (`mode`), its version is too new, another program wrote the file
 * (`foreign`), or it is closed. If the lease was lost, the reason is the error.
 */
export type ReadOnlyReason = "mode" | "version" | "foreign" | "closed" | SessionError;

/** Change made by other writers. */
export type LogChange =
  /** Other writers appended entries, which begin at this ordinal. */
  | { readonly kind: "foreign"; readonly from: number }
  /** All lines were replaced. Earlier ordinals are no longer valid. */
  | { readonly kind: "reloaded"; readonly before: SessionIndex };

/**
 * Storage for the lines of one session.
 *
 * A log is the interface between a session and a file, memory, or a database. It indexes its lines, reads them, and appends new
 * ones. Appending is synchronous. A remote log may queue lines and write them in `flush`.
 *
 * @remarks Every log passes the suite in test/conformance.
 */
export interface SessionLog extends LineSource {
  /** Path of the file; undefined if there is none. */
  readonly path: string | undefined;
  /** Reason why appends are not possible; otherwise, undefined. */
  readonly readOnlyReason: ReadOnlyReason | undefined;
  /** Called when the log detects changes by other writers, during any call except `readLines` and `checkReplaced`. */
  onChange: ((change: LogChange) => void) | undefined;
  /** Called when writing starts to fail, or succeeds again, between two appends. */
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  /** Called with the ids of entries that the storage had lost and this log has appended again. */
  onRestored?: ((ids: readonly string[]) => void) | undefined;
  /** Whether a log with deferred writes, such as a remote log, currently fails to write appended entries. */
  readonly isDegraded?: boolean;
  /** Whether the given entry objects are kept, even if JSON cannot represent them. */
  readonly keepsObjects?: boolean;
  /** Index of the lines. Only a change of kind `reloaded` replaces this object. */
  readonly index: SessionIndex;

  /**
   * Reads the lines of entries, as bytes without line breaks. Returns the lines as currently stored, even if other writers have
   * replaced them. New entries from other writers are found by the next call that may report a change.
   *
   * @param ordinals - Ordinals of the entries; ascending order is fastest.
   * @param take - Called for each line, in the given order.
   * @param takeText - Called instead of `take` by a log that already has the text. The text is the same as the result of
   * `decodeText` for the bytes.
   */
  readLines(ordinals: Iterable<number>, take: TakeLine, takeText?: TakeText): void;

  /**
   * Checks whether other writers have replaced lines that callers know, and reads the new lines if they have. `index` changes
   * only when `refresh` reports the replacement. Data that callers derived from the old lines may contain redacted content.
   *
   * @returns Whether lines were replaced. Always false if the log reports replacements immediately or no other writer can replace lines.
   * @remarks Cost: O(1), and O(bytes) once if they were replaced. May wait for a replacement in progress.
   * @throws {SessionError} `WRITE_FAILED` if the new lines lack entries that this session has.
   */
  checkReplaced(): boolean;

  /**
   * Appends either all of the entries or none, in one write.
   *
   * @param isLasting - False if the entries need not be on disk before the conversation begins.
   * @param mustExist - Whether to throw `SESSION_NOT_FOUND` if the file was removed, instead of restoring it.
   * @returns Ordinal of the first entry. The other entries have the next ordinals.
   * @throws {SessionError} `WRITE_FAILED`; nothing was added.
   */
  append(lines: readonly LogLine[], isLasting: boolean, mustExist?: boolean): number;

  /**
   * Permanently replaces lines and appends others, in one step. No other method changes history.
   *
   * @param change - Called for the header and each entry. Called again if other writers write in the meantime.
   * @param more - Returns the lines to append, with the same ids each time. Called after each round of changes.
   * @throws {SessionError} `WRITE_FAILED`; nothing was changed. If only loading the new state fails, the call returns, and
   *   `refresh` loads it.
   */
  rewrite(change: LineChange, more: () => readonly LogLine[]): void;

  /** Reads lines that other writers appended. */
  refresh(): LogChange | undefined;

  /** Waits until all lines are written, and reads lines that other writers appended. Asynchronous version of `refresh`. */
  pull(): Promise<void>;

  /**
   * Appends an entry if the stored leaf is the expected one. First writes all earlier lines, then compares and appends in one
   * step, and reads lines that other writers appended.
   *
   * @param isLasting - As for `append`.
   * @throws {SessionError} `STALE_LEAF`; the line was not written.
   */
  appendIfLeaf(line: LogLine, expectedLeafId: string | null, isLasting: boolean): Promise<void>;

  /**
   * Yields each time after reading lines that other writers may have written, until the signal is aborted. Ends immediately if
   * there cannot be any other writers.
   */
  changes(signal?: AbortSignal): AsyncIterable<void>;

  /**
   * Rewrites lines from an older version in the current version, if the log can keep a backup. The first append does this
   * automatically.
   *
   * @returns Path of the backup; undefined if no upgrade was necessary.
   * @throws {SessionError} `UPGRADE_FAILED`; nothing was changed.
   */
  upgrade(): string | undefined;

  /** Resolves when all previously appended lines are durable, so that they survive a power failure. */
  flush(): Promise<void>;

  /** Flushes and releases the log, which is then read-only. Idempotent. */
  close(): Promise<void>;

  /** Closes the log immediately because its session continues with another log. */
  release(): void;
}
