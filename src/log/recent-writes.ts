import { decodeText } from "../jsonl/decode.ts";
import type { SessionIndex } from "../jsonl/session-index.ts";
import { NONE } from "../tree/entry-tree.ts";
import type { FileSystem } from "./file-system.ts";
import { readLinesOf } from "./read-lines.ts";
import { missingFrom } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";

/** Characters of lines that are kept at least; more than can be written between two looks at a file. */
const KEPT_CHARACTERS = 256 * 1024;

/** What a file lacks that stood in the one before. */
export interface MissingLines {
  /** Lines that were appended here lately, in their order; the parent of each is there, or among those before it. */
  readonly own: readonly LogLine[];
  /** Whether there are more such lines, of which a parent is missing. */
  readonly isOwnStuck: boolean;
  /** Whether lines are missing that were not appended here, or long ago. */
  readonly areOthers: boolean;
}

/**
 * The lines that were appended last, to be appended again should the file be cut or replaced by one that lacks them.
 *
 * This library's own replacements take all lines along. Other programs do not: an editor that saves, a copy that is
 * moved over the file.
 *
 * @remarks Cost: O(1) for a line added, O(entries) for a look-up, which is rare.
 */
export class RecentWrites {
  #lines: LogLine[] = [];
  #characters = 0;
  /** The lines before those, as many characters again: all of them are dropped together. */
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

  get ids(): string[] {
    return [...this.#older, ...this.#lines].map(({ head }) => head.id);
  }

  find(id: string): LogLine | undefined {
    const isIt = ({ head }: LogLine) => head.id === id;
    return this.#lines.findLast(isIt) ?? this.#older.findLast(isIt);
  }

  /** Finds the lines that a file holds as they were written here: one that was redacted must not come back. */
  unalteredIn(fs: FileSystem, fd: number, { tree, spans }: SessionIndex): Set<string> {
    const unaltered = new Set<string>();
    const ordinals = this.ids.map((id) => tree.find(id)).filter((ordinal) => ordinal !== NONE);
    readLinesOf(
      fs,
      fd,
      spans,
      ordinals.sort((a, b) => a - b),
      (ordinal, bytes) => {
        const id = tree.idAt(ordinal);
        if (this.find(id)?.text === decodeText(bytes)) unaltered.add(id);
      },
    );
    return unaltered;
  }

  /** Forgets all lines but those of these entries. */
  keepOnly(ids: ReadonlySet<string>): void {
    const isKept = ({ head }: LogLine) => ids.has(head.id);
    this.#older = this.#older.filter(isKept);
    this.#lines = this.#lines.filter(isKept);
  }

  /**
   * Finds what a file lacks after it was replaced or cut.
   *
   * @param newest - Ordinal from which on others' last lines may be missing: if a writer's write failed after all, it
   *   has cut its line off.
   */
  missingFrom(index: SessionIndex, before: SessionIndex, newest: number): MissingLines {
    const own: LogLine[] = [];
    const ids = new Set<string>();
    let [isOwnStuck, areOthers] = [false, false];
    for (const ordinal of missingFrom(index, before)) {
      const line = this.find(before.tree.idAt(ordinal));
      if (line === undefined) {
        areOthers ||= ordinal < newest || !before.tree.isLeaf(ordinal);
        continue;
      }
      const { id, parentId } = line.head;
      if (parentId === null || ids.has(parentId) || index.tree.find(parentId) !== NONE) {
        ids.add(id);
        own.push(line);
      } else isOwnStuck = true;
    }
    return { own, isOwnStuck, areOthers };
  }
}
