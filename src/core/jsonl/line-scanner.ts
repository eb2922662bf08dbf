/** Line of a file, as a range in a buffer. The object and the buffer are valid only during the call. */
export interface ScannedLine {
  readonly bytes: Uint8Array;
  /** Offset of the line's first byte in `bytes`. */
  readonly start: number;
  /** Offset after the line's last byte in `bytes`, excluding the line break. */
  readonly end: number;
  /** Byte offset of the line in the file. */
  readonly offset: number;
  /** 1-based line number. */
  readonly line: number;
  /** Whether the line ends with a line break. */
  readonly terminated: boolean;
  /** Whether this is the remainder of a line whose beginning was already delivered because it seemed complete. */
  readonly continued: boolean;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Receives lines from a scanner. */
export interface LineSink {
  /**
   * Receives a line that is not blank.
   *
   * @returns For an unterminated line, whether it is complete, or the length of the complete part in bytes. Later bytes continue
   *   the remainder.
   */
  line(line: ScannedLine): boolean | number;
  /** Receives the span of a line that exceeds the limit, whose bytes were dropped. */
  overlong(line: { offset: number; length: number; line: number; terminated: boolean }): void;
}

/** Default maximum length of a line: 256 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 256 * 1024 * 1024;

/** Maximum length of a line that can be converted to a string, regardless of options. Engines do not guarantee longer strings. */
const LONGEST_TEXT_BYTES = 2 ** 29 - 24;

const NO_BYTES = new Uint8Array(0);

const LF = 0x0a;

/** Bytes of a line break. */
export const LINE_BREAK: Uint8Array = new Uint8Array([LF]);

const CR = 0x0d;
const OPEN_BRACE = 0x7b;

/** Minimum size of the carry buffer. */
const CARRY_BYTES = 4096;

/**
 * Splits chunks of bytes into lines at 0x0A, without I/O.
 *
 * Delivers lines within a chunk without copying them. Copies only lines that span several chunks. Removes one CR before the line
 * break and a byte order mark at the start of the file. Skips blank lines.
 *
 * @remarks Cost: O(bytes); memory O(longest line).
 */
export class LineScanner {
  readonly #sink: LineSink;
  readonly #maxLineBytes: number;
  /** Beginning of an unfinished line, with spare capacity. */
  #carry = new Uint8Array(0);
  #carryBytes = 0;
  #lineOffset = 0;
  #line = 1;
  /** Whether the beginning of the line was already delivered. Its line break may still follow. */
  #isTaken = false;
  /** Line passed to the sink. The same object is reused for all lines. Contains no bytes after `end`. */
  readonly #scanned: Mutable<ScannedLine> = {
    bytes: NO_BYTES,
    start: 0,
    end: 0,
    offset: 0,
    line: 0,
    terminated: false,
    continued: false,
  };

  constructor(sink: LineSink, options: { maxLineBytes?: number } = {}) {
    this.#sink = sink;
    this.#maxLineBytes = Math.min(options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES, LONGEST_TEXT_BYTES);
  }

  /** Number of bytes fed. */
  get position(): number {
    return this.#lineOffset + this.#carryBytes;
  }

  /** 1-based number of the line of the next byte. */
  get line(): number {
    return this.#line;
  }

  /** Whether the bytes that were fed end in the middle of a line. */
  get isMidLine(): boolean {
    return this.#carryBytes > 0 || this.#isTaken;
  }

  /** Scans the next bytes of the file. The buffer may be reused after the call. */
  feed(chunk: Uint8Array): void {
    // Always passes the same kind of array to sinks, so that engines can optimize their code. A Buffer is a different kind.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      if (end === -1) break;
      if (this.#carryBytes === 0) this.#emit(bytes, start, end, true);
      else {
        this.#keep(chunk, start, end);
        this.#emit(this.#carry, 0, this.#carryBytes, true);
      }
      this.#lineOffset += (this.#carryBytes || end - start) + 1;
      this.#line++;
      this.#isTaken = false;
      this.#dropCarry();
      start = end + 1;
    }
    this.#keep(chunk, start, chunk.length);
  }

  /**
   * Ends a batch by passing an unterminated last line to the sink.
   *
   * May be called again after more bytes are fed.
   */
  end(): void {
    while (this.#carryBytes > 0) {
      const taken = this.#emit(this.#carry, 0, this.#carryBytes, false);
      if (taken === 0) break;
      this.#lineOffset += taken;
      this.#isTaken = true;
      this.#carry.copyWithin(0, taken, this.#carryBytes);
      this.#carryBytes -= taken;
    }
    this.#scanned.bytes = NO_BYTES;
  }

  /** Skips complete lines that the caller itself wrote. The scanner must not be in the middle of a line. */
  skip(bytes: number, lines: number): void {
    this.#lineOffset += bytes;
    this.#line += lines;
  }

  /** Adds `chunk[start, end)` to the carry. If the line exceeds the limit, only its length is kept. */
  #keep(chunk: Uint8Array, start: number, end: number): void {
    if (start === end) return;
    const length = this.#carryBytes + (end - start);
    if (length > this.#maxLineBytes) this.#carry = new Uint8Array(0);
    else {
      if (length > this.#carry.length) this.#growCarry(length);
      this.#carry.set(chunk.subarray(start, end), this.#carryBytes);
    }
    this.#carryBytes = length;
  }

  #growCarry(length: number): void {
    const doubled = Math.min(this.#carry.length * 2, this.#maxLineBytes);
    const larger = new Uint8Array(Math.max(length, CARRY_BYTES, doubled));
    larger.set(this.#carry.subarray(0, this.#carryBytes));
    this.#carry = larger;
  }

  #dropCarry(): void {
    if (this.#carryBytes === 0) return;
    this.#carryBytes = 0;
    // Frees the memory of a large line.
    if (this.#carry.length > 16 * CARRY_BYTES) this.#carry = new Uint8Array(0);
  }

  /** Passes on a line. Returns the number of accepted bytes. */
  #emit(bytes: Uint8Array, from: number, to: number, terminated: boolean): number {
    const line = this.#line;
    const length = to - from;
    let offset = this.#lineOffset;
    if (length > this.#maxLineBytes) {
      this.#sink.overlong({ offset, length, line, terminated });
      return 0;
    }
    let start = from;
    let end = to;
    if (offset === 0 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) {
      start += 3;
      offset += 3;
    }
    if (end > start && bytes[end - 1] === CR) end--;
    if (bytes[start] !== OPEN_BRACE && isBlankByte(bytes, start, end)) return 0;
    const scanned = this.#scanned;
    scanned.bytes = bytes;
    scanned.start = start;
    scanned.end = end;
    scanned.offset = offset;
    scanned.line = line;
    scanned.terminated = terminated;
    scanned.continued = this.#isTaken;
    const taken = this.#sink.line(scanned);
    if (typeof taken === "number") return taken === 0 ? 0 : start - from + taken;
    return taken ? length : 0;
  }
}

/** Returns whether a range contains only spaces, tabs, and CRs. */
function isBlankByte(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}
