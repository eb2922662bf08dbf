import { decodeText } from "./decode.ts";

/** One line of a file, as a range of a buffer; the object and the buffer are valid only during the call. */
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
  /** Whether this is the rest of a line whose front was taken when it seemed whole. */
  readonly continued: boolean;
  /** What the line's bytes decode to, if the scanner was told to decode and the line stood in one chunk. */
  readonly text: string | undefined;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What a scanner calls with what it finds. */
export interface LineSink {
  /**
   * Takes a line that is not blank.
   *
   * @returns For an unterminated line: whether it is whole, or how many of its bytes are. The rest is kept, to be
   *   continued by later bytes.
   */
  line(line: ScannedLine): boolean | number;
  /** Takes note of a line over the bound, of which nothing is kept. */
  overlong(line: { offset: number; length: number; line: number; terminated: boolean }): void;
}

/** The default bound of a line: 256 MiB. */
export const DEFAULT_MAX_LINE_BYTES = 256 * 1024 * 1024;

/** No line beyond this can become a string, whatever bound is asked for: it is the most that engines promise. */
const LONGEST_TEXT_BYTES = 2 ** 29 - 24;

const NO_BYTES = new Uint8Array(0);

const LF = 0x0a;
const CR = 0x0d;
const OPEN_BRACE = 0x7b;

/** The fewest bytes that room is made for. */
const CARRY_BYTES = 4096;

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
  /** The beginning of a line whose end has not come yet; room for more behind it. */
  #carry = new Uint8Array(0);
  #carryBytes = 0;
  #lineOffset = 0;
  #line = 1;
  /** The front of the line was taken without its line break, which may follow now. */
  #isTaken = false;
  /** Whether chunks are decoded as they come, which costs less than to decode each line for itself. */
  isDecoding = false;
  /** The line that is handed on: one object for all, since a file has many. It holds no bytes after `end`. */
  readonly #scanned: Mutable<ScannedLine> = {
    bytes: NO_BYTES,
    start: 0,
    end: 0,
    offset: 0,
    line: 0,
    terminated: false,
    continued: false,
    text: undefined,
  };

  constructor(sink: LineSink, options: { maxLineBytes?: number } = {}) {
    this.#sink = sink;
    this.#maxLineBytes = Math.min(options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES, LONGEST_TEXT_BYTES);
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
    return this.#carryBytes > 0 || this.#isTaken;
  }

  /** Takes the next bytes of the file; the buffer may be reused afterwards. */
  feed(chunk: Uint8Array): void {
    // What takes lines sees one kind of array only, which is what engines are fast with; a Buffer is another kind.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    const text = this.isDecoding ? decodeText(bytes) : undefined;
    let start = 0;
    let textStart = 0;
    for (;;) {
      const end = chunk.indexOf(LF, start);
      if (end === -1) break;
      // Whatever the bytes are, each line break among them becomes one in the text.
      const textEnd = text?.indexOf("\n", textStart);
      if (this.#carryBytes === 0) this.#emit(bytes, start, end, true, text?.slice(textStart, textEnd));
      else {
        this.#keep(chunk, start, end);
        this.#emit(this.#carry, 0, this.#carryBytes, true);
      }
      this.#lineOffset += (this.#carryBytes || end - start) + 1;
      this.#line++;
      this.#isTaken = false;
      this.#dropCarry();
      start = end + 1;
      textStart = (textEnd ?? 0) + 1;
    }
    this.#keep(chunk, start, chunk.length);
  }

  /**
   * Says that no more bytes are there for now, and offers an unterminated last line to the sink.
   *
   * May be called again after further bytes.
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

  /**
   * Passes over bytes that the caller knows to be whole lines, because it wrote them itself.
   *
   * @param bytes - Number of bytes, line breaks included. The scanner must not be in the middle of a line.
   */
  skip(bytes: number, lines: number): void {
    this.#lineOffset += bytes;
    this.#line += lines;
  }

  /** Keeps `chunk[start, end)` behind what is kept, unless the line is over the bound: then nothing but its length. */
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
    // What one large line took is not kept for ever.
    if (this.#carry.length > 16 * CARRY_BYTES) this.#carry = new Uint8Array(0);
  }

  /** Hands a line on; returns how many bytes of it were taken. */
  #emit(bytes: Uint8Array, from: number, to: number, terminated: boolean, text?: string): number {
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
    if (bytes[start] !== OPEN_BRACE && isBlank(bytes, start, end)) return 0;
    const scanned = this.#scanned;
    scanned.bytes = bytes;
    scanned.start = start;
    scanned.end = end;
    scanned.offset = offset;
    scanned.line = line;
    scanned.terminated = terminated;
    scanned.continued = this.#isTaken;
    scanned.text = start === from && end === to ? text : undefined;
    const taken = this.#sink.line(scanned);
    if (typeof taken === "number") return taken === 0 ? 0 : start - from + taken;
    return taken ? length : 0;
  }
}

/** Tells whether a range is spaces, tabs and CRs only. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}
