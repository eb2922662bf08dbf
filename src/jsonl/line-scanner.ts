/** One line of a file, as a range of a buffer that is only valid during the call. */
export interface ScannedLine {
  readonly bytes: Uint8Array;
  /** First byte of the line in `bytes`. */
  readonly start: number;
  /** One past the last byte, line break excluded. */
  readonly end: number;
  /** Byte offset of the line in the file. */
  readonly offset: number;
  /** 1-based. */
  readonly line: number;
  /** Whether a line break followed. */
  readonly terminated: boolean;
}

/** What a scanner calls with what it finds. */
export interface LineSink {
  /**
   * Takes a line that is not blank.
   *
   * @returns For an unterminated line: whether it is whole. One that is not is kept, to be continued by later bytes.
   */
  line(line: ScannedLine): boolean;
  /** Takes note of a line over the bound, of which nothing is kept. */
  overlong(line: { offset: number; length: number; line: number; terminated: boolean }): void;
}

/** The default bound of a line: 256 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 256 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits bytes into lines at 0x0A only, however they are chunked, without I/O.
 *
 * Lines inside a chunk are handed on where they stand; only a line that crosses chunks is copied. One CR before the
 * line break and a byte order mark at the start are left out, blank lines are passed over.
 *
 * @remarks Cost: O(bytes); memory O(longest line).
 */
export class LineScanner {
  readonly #sink: LineSink;
  readonly #maxLineBytes: number;
  /** Pieces of a line whose end has not come yet. */
  #carry: Uint8Array[] = [];
  #carryBytes = 0;
  #lineOffset = 0;
  #line = 1;
  /** The line before was taken without its line break, which may follow now. */
  #breakDue = false;

  constructor(sink: LineSink, options: { maxLineBytes?: number } = {}) {
    this.#sink = sink;
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  /** Number of bytes that were fed. */
  get position(): number {
    return this.#lineOffset + this.#carryBytes;
  }

  /** Number of the line that the next byte belongs to, 1-based. */
  get line(): number {
    return this.#line;
  }

  /** Whether the bytes so far end in the middle of a line, taken or not. */
  get isMidLine(): boolean {
    return this.#carryBytes > 0 || this.#breakDue;
  }

  /** Takes the next bytes of the file; the buffer may be reused afterwards. */
  feed(chunk: Uint8Array): void {
    let start = this.#breakDue ? this.#skipBreak(chunk) : 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      if (end === -1) break;
      if (this.#carryBytes === 0) this.#emit(chunk, start, end, true);
      else this.#emitCarried(chunk.subarray(start, end), true);
      this.#lineOffset += this.#carryBytes + (end + 1 - start);
      this.#line++;
      this.#dropCarry();
      start = end + 1;
    }
    this.#keep(chunk, start);
  }

  /**
   * Says that no more bytes are there for now, and offers an unterminated last line to the sink.
   *
   * May be called again after further bytes.
   */
  end(): void {
    if (this.#carryBytes === 0) return;
    if (!this.#emitCarried(new Uint8Array(0), false)) return;
    this.#lineOffset += this.#carryBytes;
    this.#line++;
    this.#dropCarry();
    this.#breakDue = true;
  }

  /**
   * Passes over bytes that the caller knows to be whole lines, because it wrote them itself.
   *
   * @param bytes - Number of bytes, line breaks included. The scanner must not be in the middle of a line.
   */
  skip(bytes: number, lines: number): void {
    this.#breakDue = false;
    this.#lineOffset += bytes;
    this.#line += lines;
  }

  #skipBreak(chunk: Uint8Array): number {
    if (chunk.length === 0) return 0;
    this.#breakDue = false;
    const length = chunk[0] === LF ? 1 : chunk[0] === CR && chunk[1] === LF ? 2 : 0;
    this.#lineOffset += length;
    return length;
  }

  #keep(chunk: Uint8Array, start: number): void {
    const length = chunk.length - start;
    if (length === 0) return;
    this.#carryBytes += length;
    if (this.#carryBytes > this.#maxLineBytes) this.#carry = [];
    else this.#carry.push(new Uint8Array(chunk.subarray(start)));
  }

  #dropCarry(): void {
    if (this.#carryBytes === 0) return;
    this.#carry = [];
    this.#carryBytes = 0;
  }

  #emitCarried(rest: Uint8Array, terminated: boolean): boolean {
    const length = this.#carryBytes + rest.length;
    if (length > this.#maxLineBytes) {
      this.#sink.overlong({ offset: this.#lineOffset, length, line: this.#line, terminated });
      return false;
    }
    const line = new Uint8Array(length);
    let at = 0;
    for (const piece of this.#carry) {
      line.set(piece, at);
      at += piece.length;
    }
    line.set(rest, at);
    return this.#emit(line, 0, length, terminated);
  }

  #emit(bytes: Uint8Array, from: number, to: number, terminated: boolean): boolean {
    let start = from;
    let end = to;
    let offset = this.#lineOffset;
    if (offset === 0 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) {
      start += 3;
      offset += 3;
    }
    if (terminated && end > start && bytes[end - 1] === CR) end--;
    if (end - start > this.#maxLineBytes) {
      this.#sink.overlong({ offset, length: end - start, line: this.#line, terminated });
      return false;
    }
    if (isBlank(bytes, start, end)) return false;
    return this.#sink.line({ bytes, start, end, offset, line: this.#line, terminated });
  }
}

/** Tells whether a range is spaces, tabs and CRs only; looks at one byte of an ordinary line. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}
