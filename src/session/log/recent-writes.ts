import { decodeText } from "../../core/jsonl/decode.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { FileSystem } from "../fs/file-system.ts";
import { readLinesOf } from "./read-lines.ts";
import { missingFrom } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";

/** Characters of lines that are kept at least: more than can be written between two checks of a file. */
const KEPT_CHARACTERS = 256 * 1024;

/** Lines of the previous file that a file lacks. */
export interface MissingLines {
  /** Recent lines of this session, in order. The parent of each is in the file, or among the lines before it. */
  readonly own: readonly LogLine[];
  /** Whether more recent lines of this session are missing, together with a parent. */
  readonly isOwnStuck: boolean;
  /** Whether other lines are missing: old ones, or those of others. */
  readonly areOthers: boolean;
}

/**
 * The latest appended lines, to append again if the file is cut or replaced by one that lacks them.
 *
 * This library copies all lines when it replaces a file. Other programs do not, such as an editor that saves.
 *
 * @remarks Cost: O(1) per added line, O(entries) for a look-up, which is rare.
 */
export class RecentWrites {
  #lines: LogLine[] = [];
  #characters = 0;
  /** The lines before those, of as many characters; they are dropped together. */
  #older: LogLine[] = [];

  /** Adds a line, unless it would take all the room alone. */
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

  /** Returns the lines that are in a file exactly as written, because a redacted one must not come back. */
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

  /** Drops all lines but those of these entries. */
  keepOnly(ids: ReadonlySet<string>): void {
    const isKept = ({ head }: LogLine) => ids.has(head.id);
    this.#older = this.#older.filter(isKept);
    this.#lines = this.#lines.filter(isKept);
  }

  /**
   * Finds what a file lacks after it was replaced or cut.
   *
   * @param newest - Ordinal from which on lines of others may be missing: a writer cuts off its line if the write
   *   fails.
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
