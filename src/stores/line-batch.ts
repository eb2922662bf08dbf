import type { LogLine } from "../log/session-log.ts";
import type { Job } from "./retry-queue.ts";

/** Lines that are written together, at most. */
const MAX_LINES = 500;

/** Characters of lines that are written together, at most, unless one call appends more. */
const MAX_CHARACTERS = 1024 * 1024;

/** Counts the characters of lines. */
export function charactersOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0);
}

/** Writes lines; `isRepeated` if they may be there, since they were sent before. */
type WriteLines = (lines: readonly LogLine[], isRepeated: boolean) => Promise<void>;

/**
 * Lines on their way, written together.
 *
 * It grows until it is sent for the first time; from then on it stays the same, so that sending it again adds nothing.
 */
export class LineBatch implements Job {
  readonly isOptional = false;
  readonly #lines: LogLine[];
  readonly #write: WriteLines;
  #characters: number;
  #isSent = false;

  constructor(lines: readonly LogLine[], write: WriteLines) {
    this.#lines = [...lines];
    this.#write = write;
    this.#characters = charactersOf(lines);
  }

  /** Takes the lines of one call along; false if it cannot, and then none of them. */
  add(lines: readonly LogLine[]): boolean {
    const characters = this.#characters + charactersOf(lines);
    const fits = this.#lines.length + lines.length <= MAX_LINES && characters <= MAX_CHARACTERS;
    if (this.#isSent || !fits) return false;
    this.#lines.push(...lines);
    this.#characters = characters;
    return true;
  }

  async run(): Promise<void> {
    const isRepeated = this.#isSent;
    this.#isSent = true;
    await this.#write(this.#lines, isRepeated);
  }
}
