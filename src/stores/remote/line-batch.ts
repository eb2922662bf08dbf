import type { LogLine } from "../../session/log/session-log.ts";
import type { Job } from "./retry-queue.ts";

/** The most lines that are written together. */
const MAX_LINES = 500;

/** The most characters of lines that are written together, unless one call appends more. */
const MAX_CHARACTERS = 1024 * 1024;

/** Counts the characters of lines. */
export function charactersOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0);
}

/** Writes lines; `isRepeated` if they were sent before, and so may be stored already. */
type WriteLines = (lines: readonly LogLine[], isRepeated: boolean) => Promise<void>;

/**
 * Lines on their way, written together.
 *
 * It grows until it is first sent, and then stays the same, so that sending it again adds nothing.
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

  /** Adds the lines of one call; false if there is no room, and then none is added. */
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
