import { callUnless } from "../../core/format/errors.ts";
import { decodeText } from "../../core/jsonl/decode.ts";
import { LINE_BREAK } from "../../core/jsonl/line-scanner.ts";
import { SessionIndex } from "../../core/jsonl/session-index.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import { Blocks } from "../../session/log/blocks.ts";
import { encodeLines, getBytes, indexWritten } from "../../session/log/log-lines.ts";
import type { LogLine, TakeLine } from "../../session/log/session-log.ts";
import { parseEntryFacts } from "../contract/line-facts.ts";
import type { LinePage, SessionBackend, StoredLine } from "../contract/session-backend.ts";
import { joinLines } from "./line-codec.ts";

/** Lines of a remote session in memory: the lines known to be stored, in the backend's order, followed by the pending writes. */
export class RemoteLines {
  readonly index: SessionIndex;
  readonly #blocks = new Blocks();
  /** Pending writes, with the ordinals of their entries. */
  #pending: { readonly line: LogLine; readonly ordinal: number }[] = [];
  /** Whether the last stored line has no line break. */
  #isOpen = false;

  constructor() {
    this.index = new SessionIndex({ readBytes: (offset, length) => this.#blocks.read(offset, length) });
  }

  /** All bytes, as a file would contain them. */
  get bytes(): Uint8Array {
    return this.#blocks.join();
  }

  get storedBytes(): Uint8Array {
    return this.bytes.subarray(0, this.index.position);
  }

  /** Id of the entry on the last stored line; undefined if that line might not contain an entry with an id. */
  get lastEntryId(): string | undefined {
    const { tree, spans, position } = this.index;
    // Entries of this process may have lower ordinals than preceding entries of other processes.
    for (let ordinal = tree.size - 1; ordinal >= 0; ordinal--) {
      const { offset, length } = spans.at(ordinal);
      if (offset >= position || offset + length + LINE_BREAK.length < position) continue;
      return parseEntryFacts(decodeText(this.#blocks.read(offset, length)), false)?.id;
    }
    return undefined;
  }

  /** Pending writes, in order. */
  get pending(): LogLine[] {
    return this.#pending.map(({ line }) => line);
  }

  /** Adds bytes as stored lines. */
  take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#isOpen) this.#feed(LINE_BREAK);
    this.#feed(bytes);
    this.#isOpen = bytes[bytes.length - 1] !== LINE_BREAK[0];
  }

  /** Marks the lines added so far as currently complete. */
  end(): void {
    this.index.end();
  }

  /** Adds pending writes after all lines, and returns the ordinal of the first entry. */
  appendOwn(lines: readonly LogLine[]): number {
    const encoded = encodeLines(lines, this.index.isMidLine);
    const first = this.index.tree.size;
    indexWritten(this.index, encoded);
    this.#blocks.add(getBytes(encoded));
    for (const [i, line] of lines.entries()) this.#pending.push({ line, ordinal: first + i });
    return first;
  }

  /** Returns whether these lines are the first pending writes and can therefore be confirmed. */
  awaits(lines: readonly LogLine[]): boolean {
    return lines.every((line, i) => this.#pending[i]?.line === line);
  }

  /** Confirms that the first pending writes are stored directly after the known lines. */
  confirm(count: number): void {
    if (count === 0) return;
    this.index.confirmPending(count);
    this.#pending.splice(0, count);
    this.#isOpen = false;
  }

  /**
   * Adds the next stored lines, from this and other processes.
   *
   * @param isEnd - Whether these are the session's last lines.
   * @returns `from`: ordinal of the first new entry; undefined if there are no new entries. `isTaken`: whether another entry has
   *   the id of a pending entry, so that all lines must be read again.
   */
  merge(
    lines: readonly StoredLine[],
    isEnd: boolean,
  ): { readonly from: number | undefined; readonly isTaken: boolean } {
    const { index } = this;
    const from = index.tree.size;
    index.expectPendingAmongOthers();
    this.#blocks.cut(index.position);
    this.take(joinLines(lines, isEnd));
    index.end();
    const missing = new Set(index.missingPending);
    const isTaken = this.#pending.some((one) => !missing.has(one.ordinal) && !this.#isThere(one));
    this.#pending = this.#pending.filter(({ ordinal }) => missing.has(ordinal));
    this.#presumePending();
    return { from: from < index.tree.size ? from : undefined, isTaken };
  }

  /** Adds missing pending writes. A write whose id is already in use is added when it is read from the backend. */
  adopt(lines: readonly LogLine[]): void {
    const { tree } = this.index;
    for (const line of lines) if (tree.find(line.head.id) === NONE) this.appendOwn([line]);
  }

  /** Returns whether any of these lines are pending. */
  isPending(lines: readonly LogLine[]): boolean {
    const wanted = new Set(lines);
    return this.#pending.some(({ line }) => wanted.has(line));
  }

  /** Returns whether exactly this line is stored. */
  isStored(line: LogLine): boolean {
    const ordinal = this.index.tree.find(line.head.id);
    return ordinal !== NONE && !this.isPending([line]) && this.#isThere({ line, ordinal });
  }

  /** Reads the lines of entries; see `SessionLog`. */
  readLines(ordinals: Iterable<number>, take: TakeLine): void {
    this.#blocks.readLines(this.index.spans, ordinals, take);
  }

  /** Returns whether the line at a pending entry's position is the pending write itself. */
  #isThere({ line, ordinal }: { readonly line: LogLine; readonly ordinal: number }): boolean {
    const { offset, length } = this.index.spans.at(ordinal);
    return Buffer.compare(this.#blocks.read(offset, length), Buffer.from(line.text)) === 0;
  }

  /** Moves pending writes after all known lines. */
  #presumePending(): void {
    let hasBreak = this.#isOpen;
    for (const { line } of this.#pending) {
      this.#blocks.add(getBytes(encodeLines([line], hasBreak)));
      hasBreak = false;
    }
    this.index.presumePendingBehind();
  }

  #feed(bytes: Uint8Array): void {
    this.#blocks.add(bytes);
    this.index.feed(bytes);
  }
}

/** Number of lines requested at a time. */
export const PAGE_LINES = 1_000;

/** All lines of a session, both as stored and as parsed. */
export interface WholeSession {
  readonly lines: readonly StoredLine[];
  readonly known: RemoteLines;
  readonly revision: number;
}

/**
 * Reads all lines of a session at one revision.
 *
 * @throws An error that permits a retry, if lines were lost while they were being read.
 */
export async function readAllLines(
  backend: SessionBackend,
  id: string,
  onAnswer?: () => void,
): Promise<WholeSession> {
  let [lines, known]: [StoredLine[], RemoteLines] = [[], new RemoteLines()];
  for (let revision: number | undefined; ; ) {
    const page = await readNext(backend, id, lines.at(-1)?.seq ?? 0, known.lastEntryId);
    onAnswer?.();
    if (page === undefined) throw new Error("the store lost lines while they were read");
    if (revision !== undefined && page.revision !== revision) {
      [lines, known, revision] = [[], new RemoteLines(), undefined];
      continue;
    }
    revision = page.revision;
    lines.push(...page.lines);
    known.take(joinLines(page.lines, page.isEnd));
    if (!page.isEnd) continue;
    known.end();
    return { lines, known, revision };
  }
}

/** Reads the page of lines after a line; undefined if that line is lost. */
export function readNext(
  backend: SessionBackend,
  id: string,
  afterSeq: number,
  afterEntryId: string | undefined,
): Promise<LinePage | undefined> {
  return callUnless("WRITES_LOST", () => backend.read(id, afterSeq, PAGE_LINES, afterEntryId));
}

/** Parses all stored lines of a session. */
export function toRemoteLines(stored: readonly StoredLine[]): RemoteLines {
  const lines = new RemoteLines();
  lines.take(joinLines(stored, true));
  lines.end();
  return lines;
}
