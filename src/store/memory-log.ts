import { SessionIndex } from "../reading/session-index.ts";
import { Blocks } from "./blocks.ts";
import { encodeLines } from "./log-lines.ts";
import type { LogChange, LogLine, SessionLog } from "./session-log.ts";

/**
 * A session whose lines are in memory: the executable specification of a log.
 *
 * @remarks Cost: every call O(bytes concerned).
 */
export class MemoryLog implements SessionLog {
  readonly path = undefined;
  readonly index: SessionIndex;
  onChange: ((change: LogChange) => void) | undefined;
  readonly #blocks = new Blocks();
  #isClosed = false;

  /** @param text - Lines to begin with, the header first. */
  constructor(text: string) {
    this.index = new SessionIndex({ readBytes: (offset, length) => this.#blocks.read(offset, length) });
    this.#blocks.add(new TextEncoder().encode(text));
    this.index.feed(this.#blocks.join());
    this.index.end();
  }

  get readOnlyReason(): "closed" | undefined {
    return this.#isClosed ? "closed" : undefined;
  }

  /** All bytes, as a file would hold them. */
  get bytes(): Uint8Array {
    return this.#blocks.join();
  }

  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void {
    for (const ordinal of ordinals) {
      const { offset, length } = this.index.places.at(ordinal);
      take(ordinal, this.#blocks.read(offset, length));
    }
  }

  append(lines: readonly LogLine[]): number {
    const encoded = encodeLines(lines, this.index.isMidLine);
    const first = encoded.addTo(this.index);
    this.#blocks.add(encoded.bytes);
    this.index.confirmOwn();
    return first;
  }

  refresh(): LogChange | undefined {
    return undefined;
  }

  async flush(): Promise<void> {
    // Nothing here outlives the process, so there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
