import { dirname } from "node:path";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type FileSystem, makeFolder } from "../fs/file-system.ts";
import { copyOpenFile } from "../fs/write-whole.ts";
import { FileChangedError, type Intent, makeGoneError, ReplacedError } from "./file-errors.ts";
import type { FileLogOptions } from "./file-log-options.ts";
import type { LeaseSlot } from "./lease-slot.ts";
import { type OpenFile, readFile } from "./open-file.ts";
import { findMissing, readIndex } from "./read-session-file.ts";
import type { RecentWrites } from "./recent-writes.ts";
import { finishReplacement, isHalfReplaced } from "./replace-file.ts";
import type { LogLine, ReadOnlyReason } from "./session-log.ts";
import { assertWritable } from "./write-permission.ts";

/** Maximum time to wait for another process that is replacing the file, in milliseconds. */
const REPLACEMENT_WAIT_MS = 2_000;

/** State and dependencies shared by the files of a session. */
interface FilesOfSession {
  readonly fs: FileSystem;
  readonly path: string;
  readonly options: FileLogOptions;
  readonly lease: LeaseSlot | undefined;
  /** Latest writes of this session, which a replacement file must contain. */
  readonly recent: RecentWrites;
  /** Appends lines to a file; returns false if another file is at the path. */
  readonly write: (file: OpenFile, lines: readonly LogLine[]) => boolean;
}

/** Returns whether a session only reads, either because it was opened read-only or because another process holds the lease. */
function isReader(options: FileLogOptions, lease: LeaseSlot | undefined): boolean {
  return options.mode === "read-only" || lease?.isDenied === true;
}

/** Returns the reason why a file with this index must not be written. */
export function findRefusal(index: SessionIndex, lease: LeaseSlot | undefined): ReadOnlyReason | undefined {
  if (index.version > CURRENT_SESSION_VERSION) return "version";
  return index.isForeign ? "foreign" : lease?.loss;
}

/**
 * Finds the file that continues a session after its file was replaced or removed.
 *
 * @remarks Source: docs/durability.md
 */
export class FileSuccession {
  readonly #session: FilesOfSession;

  constructor(session: FilesOfSession) {
    this.#session = session;
  }

  /**
   * Returns the file at the path if it contains the same session. First restores this session's latest writes in that file, and
   * releases the previous file.
   */
  after(before: OpenFile, intent: Intent): OpenFile {
    // Must be called first, because lines may still be missing while another process replaces the file.
    const isCopied = this.isSettled();
    before.markStale();
    const { fs, path, options } = this.#session;
    const file = readFile(fs, path, options, intent);
    try {
      if (file.index.header?.id !== before.index.header?.id) throw new ReplacedError(path);
      const unaltered = file.read((fd) => this.#session.recent.findUnaltered(fs, fd, file.index));
      const putBack = isCopied ? this.#putBack(file, before) : [];
      this.#session.recent.keepOnly(new Set([...unaltered, ...putBack.map(({ head }) => head.id)]));
    } catch (error) {
      file.release();
      throw error;
    }
    before.release();
    return file;
  }

  /**
   * Restores a file that is no longer at its path from its open descriptor. The file must be complete and must not have been
   * deleted by this library.
   */
  restored(file: OpenFile): OpenFile {
    const { fs, path } = this.#session;
    if (!file.isHeld || file.isRetired || file.isDeleted || !this.#holdsSession(file))
      throw makeGoneError(path);
    makeFolder(fs, dirname(path));
    file.read((fd) => copyOpenFile(fs, fd, path));
    return this.after(file, "write");
  }

  /** Returns whether an open file still contains the session. It may have been emptied before it was removed. */
  #holdsSession(file: OpenFile): boolean {
    const { fs, options } = this.#session;
    const index = file.read((fd) => readIndex(fs, fd, { maxLineBytes: options.maxLineBytes }));
    return index.header !== undefined && findMissing(index, file.index).length === 0;
  }

  /**
   * Waits for another process that is replacing the file, or completes its work. A reader does neither. Returns whether no
   * replacement is pending.
   */
  isSettled(): boolean {
    const { fs, path, options, lease } = this.#session;
    return isReader(options, lease)
      ? !isHalfReplaced(fs, path)
      : finishReplacement(fs, path, REPLACEMENT_WAIT_MS);
  }

  /**
   * Appends recent lines of this session that a file lacks, if their parents are in it.
   *
   * Does nothing after a replacement that copied all lines, because any lines missing after that were removed intentionally.
   */
  #putBack(file: OpenFile, before: OpenFile): readonly LogLine[] {
    const { path, write } = this.#session;
    const isSame = file.isSameAs(before);
    const wasRetired = !isSame && before.isRetired;
    const newest = (isSame || wasRetired ? before.newest : undefined) ?? Number.POSITIVE_INFINITY;
    const { own, isOwnStuck, areOthers } = this.#session.recent.missingFrom(file.index, before.index, newest);
    const isOwnLost = own.length > 0 && !wasRetired;
    // Only the old file shows whether it was retired.
    if (isOwnLost && !before.isHeld) throw new ReplacedError(path);
    const { index } = file;
    if (isOwnLost) assertWritable({ readOnlyReason: findRefusal(index, this.#session.lease), path, index });
    if (isOwnLost && !write(file, own)) {
      throw new FileChangedError("another file is at the path now");
    }
    if (areOthers || (isOwnStuck && !wasRetired)) throw new ReplacedError(path);
    return wasRetired ? [] : own;
  }
}
