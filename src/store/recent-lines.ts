import type { SessionIndex } from "../reading/session-index.ts";
import { missingFrom } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";

/** Characters of lines that are kept; more than can be written between two looks at a file. */
const MAX_CHARACTERS = 256 * 1024;

/** So many forgotten lines are let go of together. */
const MAX_FORGOTTEN = 1024;

/**
 * The lines that were appended last, to be appended again should the file be replaced by one that lacks them.
 *
 * Another process that upgrades or redacts a file reads it, writes its copy, and renames it: what is appended between
 * its last look and the rename would be lost.
 *
 * @remarks Cost: O(1) for a line added, O(lines kept) for a look-up, which is rare.
 */
export class RecentLines {
  #lines: LogLine[] = [];
  #forgotten = 0;
  #characters = 0;

  add(line: LogLine): void {
    this.#lines.push(line);
    this.#characters += line.text.length;
    while (this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#lines[this.#forgotten++]?.text.length ?? 0;
    }
    if (this.#forgotten < MAX_FORGOTTEN) return;
    this.#lines = this.#lines.slice(this.#forgotten);
    this.#forgotten = 0;
  }

  /**
   * Gives the lines that a file lacks after it was replaced or cut.
   *
   * @param newest - Ordinal from which on others' last lines may be missing: if a writer's write failed after all, it
   *   has cut its line off.
   * @returns Undefined if it lacks others, which were not appended here, or long ago.
   */
  missingFrom(index: SessionIndex, before: SessionIndex, newest: number): LogLine[] | undefined {
    const lines: LogLine[] = [];
    for (const ordinal of missingFrom(index, before)) {
      const line = this.#find(before.tree.idAt(ordinal));
      if (line !== undefined) lines.push(line);
      else if (ordinal < newest || !before.tree.isLeaf(ordinal)) return undefined;
    }
    return lines;
  }

  #find(id: string): LogLine | undefined {
    return this.#lines.slice(this.#forgotten).findLast(({ head }) => head.id === id);
  }
}
