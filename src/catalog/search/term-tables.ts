import { toRecord } from "../../core/context/entry-fields.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { getRecordTime } from "../../core/format/timestamps.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { decodeRecord } from "../../core/jsonl/decode.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import {
  closeFile,
  type FileMark,
  openToScan,
  type ScannedFile,
  toFileMark,
} from "../../session/files/file-mark.ts";
import type { Pace } from "../../session/files/time-slices.ts";
import { readInto, realFileSystem } from "../../session/fs/file-system.ts";
import { decodeFoundEntry, readEntries, readSource } from "../list/read-entries.ts";
import { EntrySearch, type SearchPlan, type SelectedText } from "../query/entry-search.ts";
import { makePhraseFinders, WEIGHTS } from "../query/query-matcher.ts";
import { SEARCHED_ROLES } from "../query/search-query.ts";
import { getDateParts, getSearchedText, SEARCHED_TYPES, type SearchedText } from "../query/search-text.ts";
import { type TermTable, TermTableBuilder, WEIGHT_UNIT } from "../query/term-table.ts";

/** Maximum size of a file that is read whole, in bytes. Larger files are read into a tree, line by line. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/** Initial size of the buffer, in bytes. Most session files are smaller. */
const MIN_BUFFER_BYTES = 1024 * 1024;

/** Number of lines read between time checks. */
const LINES_AT_ONCE = 64;

const LF = 0x0a;

const ROLES: ReadonlyMap<string, number> = new Map(SEARCHED_ROLES.map((role, at) => [role, at]));

/** Returns the number of a role in a table; -1 for an unknown role. */
export function getRoleNumber(role: string): number {
  return ROLES.get(role) ?? -1;
}

/** Words in a file, and the file's state when they were read. */
export interface ReadTable {
  readonly mark: FileMark;
  readonly bytes: Uint8Array;
}

/** Reads the words of session files into tables, one file at a time. */
export class TermTableReader {
  readonly #builder = new TermTableBuilder();
  readonly #pace: Pace;
  /** Bytes of the current file; the buffer is reused for the next one. */
  #buffer = Buffer.allocUnsafeSlow(0);

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Returns the words in all entries of a file, and the file's state; undefined if the file is not a session. */
  async readPath(path: string): Promise<ReadTable | undefined> {
    const open = openToScan(path);
    try {
      const table = await this.readFile(open);
      return table && { mark: toFileMark(open), bytes: table.bytes };
    } finally {
      closeFile(open);
    }
  }

  /** Returns the words in all entries of a file; undefined if the file is not a session. */
  async readFile(file: ScannedFile): Promise<TermTable | undefined> {
    if (file.size <= MAX_WHOLE_BYTES && (await this.#addLines(this.#readBytes(file))))
      return this.#builder.build();
    const source = await readSource(file, this.#pace);
    return source && this.readSource(source);
  }

  /**
   * Returns the words in a session's entries. With a plan, includes only entries that pass its filters and contain its
   * phrases.
   */
  async readSource(source: LineSource, plan?: SearchPlan): Promise<TermTable> {
    this.#begin();
    const { tree, header } = source.index;
    const search = plan && new EntrySearch(plan, header?.cwd ?? "");
    const phrases = makePhraseFinders(plan?.query.terms ?? []);
    const hasPhrases = ({ text: { parts } }: SelectedText) =>
      phrases.every((find) => parts.some(({ text }) => find(text).length > 0));
    const ordinals = [...tree.ordinals()].filter((ordinal) => SEARCHED_TYPES.has(tree.typeAt(ordinal)));
    for await (const batch of readEntries(source, ordinals, this.#pace)) {
      const entries = batch.map(({ entry }) => entry);
      const selected = search?.selectTexts(entries).filter(hasPhrases) ?? selectAllTexts(entries);
      for (const { at, entry, text } of selected) this.#add(entry, text, batch[at]?.offset ?? 0);
    }
    return this.#builder.build();
  }

  /** Returns the words in the given entries, which must be in order. Offsets identify the entries. */
  readEntries(
    entries: Iterable<{ readonly offset: number; readonly entry: AnySessionEntry | undefined }>,
  ): TermTable {
    this.#begin();
    for (const { offset, entry } of entries) {
      const text = entry && getSearchedText(entry);
      if (entry !== undefined && text !== undefined) this.#add(entry, text, offset);
    }
    return this.#builder.build();
  }

  #readBytes({ fd, size }: ScannedFile): Buffer {
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(Math.max(size, MIN_BUFFER_BYTES));
    return readInto(realFileSystem, fd, this.#buffer, 0, size);
  }

  /** Adds all lines in a current-version file. Returns false at the first line that is not an ordinary record. */
  async #addLines(buffer: Buffer): Promise<boolean> {
    this.#begin();
    let count = 0;
    for (let start = 0, end = 0; start < buffer.length; start = end + 1) {
      end = buffer.indexOf(LF, start);
      if (end === -1) end = buffer.length;
      const line = buffer.subarray(start, end);
      if (count++ === 0) {
        const { type, version } = decodeRecord(line) ?? {};
        if (type !== "session" || version !== CURRENT_SESSION_VERSION) return false;
        continue;
      }
      const found = decodeFoundEntry(line, start);
      if (found === undefined) return false;
      const text = found.entry && getSearchedText(found.entry);
      if (found.entry !== undefined && text !== undefined) this.#add(found.entry, text, start);
      if (count % LINES_AT_ONCE === 0 && this.#pace.isDue) await this.#pace.rest();
    }
    return count > 0;
  }

  /** Discards the words from an earlier read that failed or found a line out of order. */
  #begin(): void {
    this.#builder.clear();
  }

  #add(entry: AnySessionEntry, { role, parts }: SearchedText, offset: number): void {
    if (parts.length === 0) return;
    const timeMs = getRecordTime(toRecord(entry));
    for (const { kind, text } of [...parts, ...getDateParts(timeMs)])
      this.#builder.addText(text, Math.round(WEIGHTS[kind] * WEIGHT_UNIT));
    this.#builder.endEntry({ offset, timeMs: timeMs ?? Number.NaN, role: getRoleNumber(role) });
  }
}

function selectAllTexts(entries: readonly (AnySessionEntry | undefined)[]) {
  return entries.flatMap((entry, at) => {
    const text = entry && getSearchedText(entry);
    return entry === undefined || text === undefined ? [] : [{ at, entry, text }];
  });
}
