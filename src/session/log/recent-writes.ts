import type { EntryHead } from "../../core/format/head.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { FileSystem } from "../fs/file-system.ts";
import { readEntryLines } from "./read-lines.ts";
import { findMissing } from "./read-session-file.ts";
import type { LogLine } from "./session-log.ts";

/** Minimum total size of lines to keep, in bytes. More than can be written between two checks of a file. */
const KEPT_BYTES = 256 * 1024;

/** Initial capacity for lines, in bytes. */
const FIRST_BYTES = 16 * 1024;

/** Lines of the previous file that a file lacks. */
export interface MissingLines {
  /** Recent lines of this session, in order. The parent of each line is in the file, or in an earlier line of the array. */
  readonly own: readonly LogLine[];
  /** Whether further recent lines of this session are missing, together with a parent. */
  readonly isOwnStuck: boolean;
  /** Whether other lines are missing: old lines, or lines from other processes. */
  readonly areOthers: boolean;
}

/** Lines stored as bytes, because longer-lived strings cost more in garbage collection than the rest of an append. */
class LineBuffer {
  readonly heads: EntryHead[] = [];
  /** End of each line in the bytes. */
  readonly #ends: number[] = [];
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  /** Adds a line. Returns false if it may not fit. */
  add({ head, text }: LogLine): boolean {
    // Each UTF-16 unit takes at most three bytes.
    const needed = this.#length + text.length * 3;
    if (needed > this.#bytes.length && !this.#makeRoom(this.#length + Buffer.byteLength(text))) return false;
    this.#length += this.#bytes.write(text, this.#length);
    this.heads.push(head);
    this.#ends.push(this.#length);
    return true;
  }

  /** Returns the latest line of an entry. */
  find(id: string): LogLine | undefined {
    const at = this.heads.findLastIndex((head) => head.id === id);
    const head = this.heads[at];
    return head && { head, text: this.#bytes.toString("utf8", this.#ends[at - 1] ?? 0, this.#ends[at]) };
  }

  #makeRoom(needed: number): boolean {
    if (needed <= this.#bytes.length) return true;
    if (needed > KEPT_BYTES) return false;
    const larger = Buffer.allocUnsafeSlow(Math.min(KEPT_BYTES, Math.max(needed, this.#bytes.length * 4)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    return true;
  }
}

/**
 * Keeps the latest appended lines, to append them again if the file is truncated or replaced by a file that lacks them.
 *
 * This library copies all lines when it replaces a file. Other programs, such as editors, do not.
 *
 * @remarks Cost: O(bytes) per added line, and O(entries) for a lookup, which is rare.
 */
export class RecentWrites {
  #lines = new LineBuffer();
  /** Earlier lines, of the same total size. They are dropped together. */
  #older: LineBuffer | undefined;

  /** Adds a line, unless the line by itself exceeds the entire capacity. */
  add(line: LogLine): void {
    if (this.#lines.add(line) || Buffer.byteLength(line.text) > KEPT_BYTES) return;
    this.#older = this.#lines;
    this.#lines = new LineBuffer();
    this.#lines.add(line);
  }

  get ids(): string[] {
    return [...(this.#older?.heads ?? []), ...this.#lines.heads].map(({ id }) => id);
  }

  find(id: string): LogLine | undefined {
    return this.#lines.find(id) ?? this.#older?.find(id);
  }

  /** Returns the ids of lines that are in a file exactly as written, because a redacted line must not be restored. */
  findUnaltered(fs: FileSystem, fd: number, { tree, spans }: SessionIndex): Set<string> {
    const unaltered = new Set<string>();
    const ordinals = this.ids.map((id) => tree.find(id)).filter((ordinal) => ordinal !== NONE);
    readEntryLines(
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

  /** Drops all lines except those of these entries. */
  keepOnly(ids: ReadonlySet<string>): void {
    const kept = this.ids.filter((id) => ids.has(id)).map((id) => this.find(id));
    this.#older = undefined;
    this.#lines = new LineBuffer();
    for (const line of kept) if (line !== undefined) this.add(line);
  }

  /**
   * Finds the lines that a file lacks after it was replaced or truncated.
   *
   * @param newest - Ordinal at and after which other processes' lines may be missing, because a writer removes its line if the
   *   write fails.
   */
  missingFrom(index: SessionIndex, before: SessionIndex, newest: number): MissingLines {
    const own: LogLine[] = [];
    const ids = new Set<string>();
    let [isOwnStuck, areOthers] = [false, false];
    for (const ordinal of findMissing(index, before)) {
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
