import { SessionIndex } from "../reading/session-index.ts";
import type { LogChange, LogLine, SessionLog } from "./session-log.ts";

/**
 * A session whose lines are in memory: the executable specification of a log.
 *
 * @remarks Cost: every call O(bytes concerned).
 */
export class MemoryLog implements SessionLog {
  readonly path = undefined;
  readonly index: SessionIndex;
  /** The bytes of each write, by the offset at which they begin. */
  readonly #blocks: { offset: number; bytes: Uint8Array }[] = [];
  #isClosed = false;

  /** @param text - Lines to begin with, the header first. */
  constructor(text: string) {
    this.index = new SessionIndex({ readBytes: (offset, length) => this.#read(offset, length) });
    const bytes = new TextEncoder().encode(text);
    this.#blocks.push({ offset: 0, bytes });
    this.index.feed(bytes);
    this.index.end();
  }

  get readOnlyReason(): "closed" | undefined {
    return this.#isClosed ? "closed" : undefined;
  }

  /** All bytes, as a file would hold them. */
  get bytes(): Uint8Array {
    const all = new Uint8Array(this.index.position);
    for (const { offset, bytes } of this.#blocks) all.set(bytes, offset);
    return all;
  }

  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void {
    for (const ordinal of ordinals) {
      const { offset, length } = this.index.places.at(ordinal);
      take(ordinal, this.#read(offset, length));
    }
  }

  append(lines: readonly LogLine[]): number {
    const first = this.index.tree.size;
    const hasBreak = this.index.isMidLine;
    const encoded = lines.map(({ text }) => new TextEncoder().encode(`${text}\n`));
    if (hasBreak) this.#blocks.push({ offset: this.index.position, bytes: new Uint8Array([0x0a]) });
    for (const [i, { head }] of lines.entries()) {
      const bytes = encoded[i] ?? new Uint8Array(0);
      const ordinal = this.index.addOwn(head, bytes.length, hasBreak && i === 0);
      this.#blocks.push({ offset: this.index.places.offsetAt(ordinal), bytes });
    }
    this.index.confirmOwn();
    return first;
  }

  refresh(): LogChange | undefined {
    return undefined;
  }

  async flush(): Promise<void> {}

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Finds a range by binary search over the blocks; a line never crosses two of them. */
  #read(offset: number, length: number): Uint8Array {
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#blocks[middle]?.offset ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const block = this.#blocks[low];
    const start = offset - (block?.offset ?? 0);
    return block?.bytes.subarray(start, start + length) ?? new Uint8Array(0);
  }
}
