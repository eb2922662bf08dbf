import type { UnknownEntry } from "../format/entry.ts";
import type { EntryHead } from "../format/head.ts";
import type { SessionHeader } from "../format/header.ts";
import type { SessionIssue } from "../format/issue.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import type { EntryTree } from "../tree/entry-tree.ts";
import { IssueLog } from "./issue-log.ts";
import { LineIndex, type SessionIndexOptions } from "./line-index.ts";
import { DEFAULT_MAX_LINE_BYTES } from "./line-scanner.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";
import { OrdinarySession } from "./ordinary-session.ts";

/**
 * What is known of a session's lines: its header, its tree of heads, its line spans and its issues.
 *
 * It has one of two readers. A small session is read as text and stays an `OrdinarySession` as long as nothing in it is odd and
 * only this process writes to it. Everything else is for `LineIndex`, which continues where the ordinary session was:
 * ordinals and spans stay.
 *
 * @remarks Source: docs/format.md#reading
 */
export class SessionIndex {
  readonly #options: SessionIndexOptions;
  #ordinary: OrdinarySession | undefined;
  #lines: LineIndex | undefined;
  #issues: IssueLog | undefined;
  /** The entries that reading has parsed, by ordinal, until they are taken. */
  #parsed: (UnknownEntry | undefined)[] = [];

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /** The tree of heads. Not to be kept: reading more may give another one, with the same ordinals. */
  get tree(): EntryTree {
    return this.#ordinary ?? this.#careful.tree;
  }

  /** The spans of the entries' lines, to be kept no longer than the tree. */
  get spans(): LineSpans {
    return this.#ordinary ?? this.#careful.spans;
  }

  /** Changes whenever known entries get another parent. */
  get revision(): number {
    return this.#ordinary === undefined ? this.#careful.tree.revision : 0;
  }

  /** The header in the current version; undefined if there is none so far. */
  get header(): SessionHeader | undefined {
    return this.#ordinary === undefined ? this.#careful.header : this.#ordinary.header;
  }

  get headerSpan(): LineSpan | undefined {
    if (this.#ordinary === undefined) return this.#careful.headerSpan;
    return { offset: 0, length: this.#ordinary.headerLength, line: 1 };
  }

  /** Version of the file; the current one if nothing in the file says. */
  get version(): number {
    return this.#ordinary === undefined ? this.#careful.version : CURRENT_SESSION_VERSION;
  }

  /** Whether the first records hold no header, so that the file is not a session. */
  get isRejected(): boolean {
    return this.#ordinary === undefined && this.#careful.isRejected;
  }

  /** Whether nothing in the file, not even the header, looks like this format: another program wrote it. */
  get isForeign(): boolean {
    return this.#ordinary === undefined && this.#careful.isForeign;
  }

  /** Whether heads in the file are not as the current version writes them: an append must rewrite the file first. */
  get needsUpgrade(): boolean {
    return this.#ordinary === undefined && this.#careful.needsUpgrade;
  }

  /** Bytes that were read, or written by this session and confirmed. */
  get position(): number {
    return this.#ordinary === undefined ? this.#careful.position : this.#ordinary.confirmedEnd;
  }

  /** End of the file if nobody else writes. */
  get expectedEnd(): number {
    return this.#ordinary === undefined ? this.#careful.expectedEnd : this.#ordinary.end;
  }

  /** Whether the next append must begin with a line break. */
  get isMidLine(): boolean {
    return this.#ordinary === undefined && this.#careful.isMidLine;
  }

  /** Whether nothing is odd in the session: it is of the current version, of this format, and ends in a line break. */
  get isOrdinary(): boolean {
    return this.#ordinary !== undefined;
  }

  /** Whether an append needs no more than its line: no line break before it, and no rewritten file. */
  get isReady(): boolean {
    return this.#ordinary !== undefined || !(this.#careful.isMidLine || this.#careful.needsUpgrade);
  }

  /** Pending writes that were expected in the file and not found. */
  get missingPending(): number[] {
    return this.#careful.missingPending;
  }

  /** The issues so far; a copy. */
  get issues(): SessionIssue[] {
    return this.#ordinary === undefined ? this.#careful.issues : (this.#issues?.list() ?? []);
  }

  /** Adds an issue that was found while a body was read. */
  report(issue: SessionIssue): void {
    this.#issueLog.add(issue);
  }

  /**
   * Reads the bytes of a whole session file in steps; yields the number of bytes read after each, at least once.
   *
   * If nothing in them is odd, they are read as text, which is faster in a process that has just started. Else does what `feed`
   * does.
   *
   * @remarks Cost: O(bytes). For small files: see docs/performance.md#small-sessions
   */
  *readWhole(bytes: Uint8Array, stepBytes: number = bytes.length): Generator<number, void> {
    if (this.#ordinary !== undefined || this.#lines !== undefined)
      throw new TypeError("the index has read something already; use feed");
    let read = 0;
    // A line may be over the bound, which `feed` finds out.
    const { header, decode, maxLineBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    if (bytes.length <= maxLineBytes && header === undefined) {
      const steps = OrdinarySession.read(bytes, stepBytes, decode);
      let step = steps.next();
      for (; !step.done; step = steps.next()) {
        read = step.value;
        yield read;
      }
      this.#ordinary = step.value;
      this.#parsed = step.value?.parsed ?? [];
    }
    while (this.position < bytes.length && !this.isRejected) {
      this.feed(bytes.subarray(this.position, this.position + stepBytes));
      yield Math.max(read, this.position);
    }
    yield this.position;
  }

  /** Whether `takeParsed` returns any entry. */
  get hasParsed(): boolean {
    return this.#parsed.length > 0;
  }

  /** Returns and drops the entries that reading has parsed, by ordinal; they agree with their heads. */
  takeParsed(): (UnknownEntry | undefined)[] {
    const parsed = this.#parsed;
    this.#parsed = [];
    return parsed;
  }

  /** Reads the next bytes. */
  feed(chunk: Uint8Array): void {
    this.#careful.feed(chunk);
  }

  /**
   * Reserves memory for the rest of a file of `bytes`, extrapolating from what was read so far: growing step by step
   * would copy everything twice. A guess too large takes address space for a moment, but no memory.
   */
  reserve(bytes: number): void {
    this.#careful.reserve(bytes);
  }

  /** Offset of the last line that was read, torn or whole. Not of this session's own writes: their places are presumed. */
  get lastLineOffset(): number {
    return this.#ordinary === undefined ? this.#careful.lastLineOffset : this.#ordinary.lastLineOffset;
  }

  /** The place of a last line that is not whole; undefined if there is none. */
  get tornTail(): { readonly offset: number; readonly length: number } | undefined {
    return this.#ordinary === undefined ? this.#careful.tornTail : undefined;
  }

  /** Ends a batch: resolves the last line and missing parents. */
  end(): void {
    if (this.#ordinary === undefined) this.#careful.end();
  }

  /**
   * Adds an entry that this session has just written, assumed to be at the end of the file until `confirmPending`.
   *
   * @param length - Bytes of its line, line break included.
   * @param hasBreak - Whether a line break was written before it, to close a torn line.
   */
  addPending(head: EntryHead, length: number, hasBreak: boolean): number {
    const { size } = this.tree;
    if (this.#ordinary?.addOwn(head, length)) return size;
    return this.#careful.addPending(head, length, hasBreak);
  }

  /** Confirms the assumed positions of the first pending writes, or of all. */
  confirmPending(count?: number): void {
    if (this.#ordinary === undefined) this.#careful.confirmPending(count);
    else this.#ordinary.confirm(count);
  }

  /** Expects pending writes among the next bytes, not at their assumed positions. */
  expectPendingAmongOthers(): void {
    this.#careful.expectPendingAmongOthers();
  }

  /** Assumes that pending writes that were not found follow the lines of others, in the order of writing. */
  presumePendingBehind(): void {
    this.#careful.presumePendingBehind();
  }

  /** Returns the id of the first entry at or after a record number; for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    return this.#ordinary === undefined ? this.#careful.entryIdFrom(recordNumber) : undefined;
  }

  /** The stored leaf: the last entry, or the target of a `leaf` record in the last line. */
  get storedLeaf(): number {
    return this.#ordinary === undefined ? this.#careful.storedLeaf : this.#ordinary.size - 1;
  }

  /** The reader of everything else; continues an ordinary session. */
  get #careful(): LineIndex {
    if (this.#lines !== undefined) return this.#lines;
    const { maxLineBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    this.#lines = new LineIndex({ ...this.#options, maxLineBytes, issues: this.#issueLog });
    if (this.#ordinary !== undefined) this.#lines.continueFrom(this.#ordinary);
    this.#ordinary = undefined;
    return this.#lines;
  }

  get #issueLog(): IssueLog {
    this.#issues ??= new IssueLog();
    return this.#issues;
  }
}
