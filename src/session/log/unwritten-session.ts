import { SessionIndex } from "../../core/jsonl/session-index.ts";
import type { FileSystem } from "../fs/file-system.ts";
import type { AppendFile } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import { encodeLines, getBytes, indexWritten } from "./log-lines.ts";
import { type FileFingerprint, OpenFile } from "./open-file.ts";
import type { LogLine, TakeLine } from "./session-log.ts";

/** Session whose file does not exist yet. Its lines are in memory. */
export class UnwrittenSession {
  readonly isWritten = false;
  readonly index: SessionIndex;
  readonly #fs: FileSystem;
  readonly #file: AppendFile;
  readonly #maxLineBytes: number | undefined;
  #blocks: Blocks;
  #isMade = false;

  /** @param file - File to be created. */
  constructor(
    fs: FileSystem,
    file: AppendFile,
    lines: Iterable<string | Uint8Array>,
    maxLineBytes: number | undefined,
  ) {
    this.#fs = fs;
    this.#file = file;
    this.#maxLineBytes = maxLineBytes;
    this.#blocks = Blocks.of(lines);
    this.index = new SessionIndex({
      readBytes: (...range) => (this.#isMade ? this.#file.readRange(...range) : this.#blocks.read(...range)),
      maxLineBytes,
    });
    for (const _step of this.index.readWhole(this.#blocks.join()));
    this.index.end();
  }

  readLines(ordinals: Iterable<number>, take: TakeLine): void {
    this.#blocks.readLines(this.index.spans, ordinals, take);
  }

  /**
   * Returns a session with different lines. It will create the same file, whose object keeps track of the remains of a failed
   * attempt.
   */
  rewritten(lines: Iterable<string | Uint8Array>): UnwrittenSession {
    return new UnwrittenSession(this.#fs, this.#file, lines, this.#maxLineBytes);
  }

  add(lines: readonly LogLine[]): void {
    const encoded = encodeLines(lines, false);
    this.#blocks.add(getBytes(encoded));
    indexWritten(this.index, encoded);
    this.index.confirmPending();
  }

  /**
   * Creates the file with all lines and additional ones.
   *
   * @throws The system's error. Nothing was added, and another attempt may succeed.
   */
  make(lines: readonly LogLine[], isSynced: boolean): OpenFile {
    const encoded = encodeLines(lines, false);
    const bytes = this.#blocks.join(getBytes(encoded));
    this.#file.create(bytes, isSynced);
    this.#isMade = true;
    this.#blocks = new Blocks();
    indexWritten(this.index, encoded);
    this.index.confirmPending();
    return new OpenFile(this.#fs, this.#file, this.index, makeHeaderFingerprint(bytes, this.index));
  }
}

/** Creates the fingerprint of a file with these bytes. The header is sufficient, because every session has a different one. */
function makeHeaderFingerprint(bytes: Uint8Array, { headerSpan }: SessionIndex): FileFingerprint {
  return { offset: 0, bytes: bytes.slice(0, headerSpan?.length), newest: Number.POSITIVE_INFINITY };
}
