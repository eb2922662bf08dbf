import type { SessionIndex } from "../reading/session-index.ts";
import { missingFrom } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";

/** Characters of lines that are kept at least; more than can be written between two looks at a file. */
const KEPT_CHARACTERS = 256 * 1024;

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
  #characters = 0;
  /** The lines before those, as many characters again: all of them are let go of together. */
  #older: LogLine[] = [];

  /** Adds a line, unless it is so long that it would take all the room alone. */
  add(line: LogLine): void {
    const { length } = line.text;
    if (length > KEPT_CHARACTERS) return;
    this.#characters += length;
    if (this.#characters > KEPT_CHARACTERS) {
      this.#older = this.#lines;
      this.#lines = [];
      this.#characters = length;
    }
    this.#lines.push(line);
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
    const isIt = ({ head }: LogLine) => head.id === id;
    return this.#lines.findLast(isIt) ?? this.#older.findLast(isIt);
  }
}
