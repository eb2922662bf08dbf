import { linesInMemory } from "../jsonl/line-spans.ts";
import { SessionIndex } from "../jsonl/session-index.ts";
import { Blocks } from "../log/blocks.ts";
import { addLines, bytesOf, encodeLines } from "../log/log-lines.ts";
import type { LogLine } from "../log/session-log.ts";
import { NONE } from "../tree/entry-tree.ts";
import { joinLines, LINE_BREAK } from "./line-codec.ts";
import type { StoredLine } from "./session-backend.ts";

/**
 * The lines of a session whose place is far away, in memory: those that are known to be there, in the order of that
 * place, and behind them the own ones on their way.
 */
export class RemoteLines {
  readonly index: SessionIndex;
  readonly #blocks = new Blocks();
  /** Own lines whose place is not known yet, with the ordinals of their entries. */
  #pending: { readonly line: LogLine; readonly ordinal: number }[] = [];
  /** Whether the last line that is there has no line break. */
  #isOpen = false;

  constructor() {
    this.index = new SessionIndex({ readBytes: (offset, length) => this.#blocks.read(offset, length) });
  }

  /** All bytes, as a file would hold them. */
  get bytes(): Uint8Array {
    return this.#blocks.join();
  }

  /** Own lines on their way, in order. */
  get pending(): LogLine[] {
    return this.#pending.map(({ line }) => line);
  }

  /** Takes bytes as lines that are there. */
  take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#isOpen) this.#feed(LINE_BREAK);
    this.#feed(bytes);
    this.#isOpen = bytes[bytes.length - 1] !== LINE_BREAK[0];
  }

  /** Says that the lines taken so far are all that there are for now. */
  end(): void {
    this.index.end();
  }

  /** Adds own entries behind everything; returns the ordinal of the first. */
  appendOwn(lines: readonly LogLine[]): number {
    const encoded = encodeLines(lines, this.index.isMidLine);
    const first = addLines(this.index, encoded);
    this.#blocks.add(bytesOf(encoded));
    for (const [i, line] of lines.entries()) this.#pending.push({ line, ordinal: first + i });
    return first;
  }

  /** Tells whether these are the first pending writes, so that they can be confirmed. */
  awaits(lines: readonly LogLine[]): boolean {
    return lines.every((line, i) => this.#pending[i]?.line === line);
  }

  /** Says that the first own entries on their way have arrived right behind what was there. */
  confirm(count: number): void {
    if (count === 0) return;
    this.index.confirmPending(count);
    this.#pending.splice(0, count);
    this.#isOpen = false;
  }

  /**
   * Takes the next lines that are there: of others, and own ones among them.
   *
   * @param isEnd - Whether nothing stands behind them.
   * @returns `from`: the ordinal from which on entries are new, undefined if none is. `isTaken`: whether another entry
   *   has the id of an own one, so that all must be read anew.
   */
  merge(
    lines: readonly StoredLine[],
    isEnd: boolean,
  ): { readonly from: number | undefined; readonly isTaken: boolean } {
    const { index } = this;
    const from = index.tree.size;
    index.expectPendingAmongOthers();
    this.#blocks.cut(index.position);
    this.take(joinLines(lines, isEnd));
    index.end();
    const missing = new Set(index.missingPending);
    const isTaken = this.#pending.some((one) => !missing.has(one.ordinal) && !this.#isThere(one));
    this.#pending = this.#pending.filter(({ ordinal }) => missing.has(ordinal));
    this.#presumePending();
    return { from: from < index.tree.size ? from : undefined, isTaken };
  }

  /** Adds those of the pending writes that are not there; one whose id another entry has comes when it is read. */
  adopt(lines: readonly LogLine[]): void {
    const { tree } = this.index;
    for (const line of lines) if (tree.find(line.head.id) === NONE) this.appendOwn([line]);
  }

  /** Reads the lines of entries; see `SessionLog`. */
  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void {
    linesInMemory((offset, length) => this.#blocks.read(offset, length), this.index.spans, ordinals, take);
  }

  /** Whether it is the pending write that stands where its entry was found. */
  #isThere({ line, ordinal }: { readonly line: LogLine; readonly ordinal: number }): boolean {
    const { offset, length } = this.index.spans.at(ordinal);
    return Buffer.compare(this.#blocks.read(offset, length), Buffer.from(line.text)) === 0;
  }

  /** Puts pending writes behind what is there now. */
  #presumePending(): void {
    let hasBreak = this.#isOpen;
    for (const { line } of this.#pending) {
      this.#blocks.add(bytesOf(encodeLines([line], hasBreak)));
      hasBreak = false;
    }
    this.index.presumePendingBehind();
  }

  #feed(bytes: Uint8Array): void {
    this.#blocks.add(bytes);
    this.index.feed(bytes);
  }
}
