/** Line that this process wrote. */
export interface PendingWrite {
  readonly ordinal: number;
  /** Number of bytes, including the line break. */
  readonly length: number;
  /** Whether a line break was written before it, to close a torn line. */
  readonly hasBreak: boolean;
}

/** Lines that this process has written but not yet located in the file. */
export class PendingWrites {
  /** In the order in which they were written, which is ascending by ordinal. */
  #lines: PendingWrite[] = [];
  #bytes = 0;
  #breaks = 0;

  /** Number of bytes that these lines add to the file if no other process writes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of line breaks in those bytes. */
  get breaks(): number {
    return this.#breaks;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Ordinals of the entries of these lines. */
  get ordinals(): number[] {
    return this.#lines.map(({ ordinal }) => ordinal);
  }

  add(line: PendingWrite): void {
    this.#lines.push(line);
    this.#bytes += line.length + (line.hasBreak ? 1 : 0);
    this.#breaks += line.hasBreak ? 2 : 1;
  }

  /** Removes a line that was located. Returns false if it was not pending. */
  take(ordinal: number): boolean {
    const at = this.#lines.findIndex((line) => line.ordinal === ordinal);
    if (at !== -1) this.#lines.splice(at, 1);
    return at !== -1;
  }

  /** Records that the lines are among other processes' lines instead of directly at the end. */
  disperse(): void {
    this.#bytes = 0;
    this.#breaks = 0;
  }

  /** Removes and returns the first `count` lines (default: all), in the order in which they were written. */
  drain(count = this.#lines.length): PendingWrite[] {
    const lines = this.#lines;
    this.#lines = lines.splice(count);
    if (this.isEmpty) {
      this.disperse();
      return lines;
    }
    for (const { length, hasBreak } of lines) {
      this.#bytes -= length + (hasBreak ? 1 : 0);
      this.#breaks -= hasBreak ? 2 : 1;
    }
    return lines;
  }
}
