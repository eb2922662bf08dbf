import { readLinesInMemory } from "../../core/jsonl/line-spans.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import type { FileSystem } from "../fs/file-system.ts";
import type { AppendFile } from "./append-file.ts";
import { Blocks } from "./blocks.ts";
import { addLines, encodeLines, getBytes } from "./log-lines.ts";
import { type FileFingerprint, OpenFile } from "./open-file.ts";
import type { LogLine, TakeLine } from "./session-log.ts";

/** A session whose file does not exist yet: its lines are in memory. */
export class UnwrittenSession {
  readonly isWritten = false;
  readonly index: SessionIndex;
  readonly #fs: FileSystem;
  readonly #file: AppendFile;
  readonly #maxLineBytes: number | undefined;
  #blocks: Blocks;
  #isMade = false;

  /** @param file - The file to be made. */
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
    readLinesInMemory((...range) => this.#blocks.read(...range), this.index.spans, ordinals, take);
  }

  /** Returns the session with other lines. It makes the same file, which knows what a failed attempt has left. */
  rewritten(lines: Iterable<string | Uint8Array>): UnwrittenSession {
    return new UnwrittenSession(this.#fs, this.#file, lines, this.#maxLineBytes);
  }

  add(lines: readonly LogLine[]): void {
    const encoded = encodeLines(lines, false);
    this.#blocks.add(getBytes(encoded));
    addLines(this.index, encoded);
    this.index.confirmPending();
  }

  /**
   * Makes the file of all lines and of more.
   *
   * @throws The system's error; nothing was added, and the next attempt may work.
   */
  make(lines: readonly LogLine[], isSynced: boolean): OpenFile {
    const encoded = encodeLines(lines, false);
    const bytes = this.#blocks.join(getBytes(encoded));
    this.#file.create(bytes, isSynced);
    this.#isMade = true;
    this.#blocks = new Blocks();
    addLines(this.index, encoded);
    this.index.confirmPending();
    return new OpenFile(this.#fs, this.#file, this.index, makeHeaderFingerprint(bytes, this.index));
  }
}

/** Takes the fingerprint of a file that is made of these bytes: every session has a different header. */
function makeHeaderFingerprint(bytes: Uint8Array, { headerSpan }: SessionIndex): FileFingerprint {
  return { offset: 0, bytes: bytes.slice(0, headerSpan?.length), newest: Number.POSITIVE_INFINITY };
}
