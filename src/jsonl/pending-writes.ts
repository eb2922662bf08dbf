/** One line that this process wrote. */
export interface PendingWrite {
  readonly ordinal: number;
  /** Bytes, line break included. */
  readonly length: number;
  /** Whether a line break was written before it, to close a torn line. */
  readonly hasBreak: boolean;
}

/** The lines that this process wrote since it last knew where the file ends. */
export class PendingWrites {
  /** In the order of writing, so that ordinals ascend. */
  #lines: PendingWrite[] = [];
  #bytes = 0;
  #breaks = 0;

  /** How many bytes they add to the file, if nobody else writes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many line breaks are in those bytes. */
  get breaks(): number {
    return this.#breaks;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Ordinals of their entries. */
  get ordinals(): number[] {
    return this.#lines.map(({ ordinal }) => ordinal);
  }

  add(line: PendingWrite): void {
    this.#lines.push(line);
    this.#bytes += line.length + (line.hasBreak ? 1 : 0);
    this.#breaks += line.hasBreak ? 2 : 1;
  }

  /** Takes a line off the list, since it was found; false if it is not on it. */
  take(ordinal: number): boolean {
    const at = this.#lines.findIndex((line) => line.ordinal === ordinal);
    if (at !== -1) this.#lines.splice(at, 1);
    return at !== -1;
  }

  /** Says that the lines stand among others, so that their bytes are not the next ones. */
  disperse(): void {
    this.#bytes = 0;
    this.#breaks = 0;
  }

  /** Takes the first lines off the list, by default all, and gives them in the order of writing. */
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
