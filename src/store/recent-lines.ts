import type { LogLine } from "./session-log.ts";

/** Characters of lines that are kept; more than can be written between two looks at a file. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * The lines that were appended last, to be appended again should the file be replaced by one that lacks them.
 *
 * Another process that upgrades or redacts a file reads it, writes its copy, and renames it: what is appended between
 * its last look and the rename would be lost.
 */
export class RecentLines {
  readonly #lines = new Map<string, LogLine>();
  #characters = 0;

  add(line: LogLine): void {
    if (this.#lines.has(line.head.id)) return;
    this.#lines.set(line.head.id, line);
    this.#characters += line.text.length;
    if (this.#characters > MAX_CHARACTERS) this.#trim();
  }

  /** Gives the line of an entry; undefined if it was not appended here, or long ago. */
  find(id: string): LogLine | undefined {
    return this.#lines.get(id);
  }

  #trim(): void {
    for (const [id, { text }] of this.#lines) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#lines.delete(id);
      this.#characters -= text.length;
    }
  }
}
