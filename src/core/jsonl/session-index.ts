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
 * Index of a session's lines: its header, its tree of heads, its line spans, and its issues.
 *
 * Uses one of two readers. A small session is read as text and remains an `OrdinarySession` as long as it has no anomalies and
 * only this process writes to it. `LineIndex` reads all other sessions, and takes over an ordinary session after an anomaly
 * without changing ordinals or spans.
 *
 * @remarks Source: docs/format.md#reading
 */
export class SessionIndex {
  readonly #options: SessionIndexOptions;
  #ordinary: OrdinarySession | undefined;
  #lines: LineIndex | undefined;
  #issues: IssueLog | undefined;
  /** Entries parsed during reading, by ordinal, until `takeParsed` is called. */
  #parsed: (UnknownEntry | undefined)[] = [];

  constructor(options: SessionIndexOptions) {
    this.#options = options;
  }

  /** Tree of heads. Do not keep a reference, because reading more may replace it with another tree with the same ordinals. */
  get tree(): EntryTree {
    return this.#ordinary ?? this.#careful.tree;
  }

  /** Spans of the entries' lines. Do not keep a reference, as with the tree. */
  get spans(): LineSpans {
    return this.#ordinary ?? this.#careful.spans;
  }

  /** Changes whenever an existing entry is given a different parent. */
  get revision(): number {
    return this.#ordinary === undefined ? this.#careful.tree.revision : 0;
  }

  /** Header in the current version; undefined if it has not been read yet. */
  get header(): SessionHeader | undefined {
    return this.#ordinary === undefined ? this.#careful.header : this.#ordinary.header;
  }

  get headerSpan(): LineSpan | undefined {
    if (this.#ordinary === undefined) return this.#careful.headerSpan;
    return { offset: 0, length: this.#ordinary.headerLength, line: 1 };
  }

  /** Version of the file; the current version if the file does not state one. */
  get version(): number {
    return this.#ordinary === undefined ? this.#careful.version : CURRENT_SESSION_VERSION;
  }

  /** Whether the file is not a session because its first records contain no header. */
  get isRejected(): boolean {
    return this.#ordinary === undefined && this.#careful.isRejected;
  }

  /** Whether another program wrote the file, because no part of it, including the header, resembles this format. */
  get isForeign(): boolean {
    return this.#ordinary === undefined && this.#careful.isForeign;
  }

  /** Whether the file contains heads in an older form, so that an append must rewrite the file first. */
  get needsUpgrade(): boolean {
    return this.#ordinary === undefined && this.#careful.needsUpgrade;
  }

  /** Number of bytes that were read, or that were written by this session and confirmed. */
  get position(): number {
    return this.#ordinary === undefined ? this.#careful.position : this.#ordinary.confirmedEnd;
  }

  /** Expected end of the file if no other process writes to it. */
  get expectedEnd(): number {
    return this.#ordinary === undefined ? this.#careful.expectedEnd : this.#ordinary.end;
  }

  /** Whether the next append must begin with a line break. */
  get isMidLine(): boolean {
    return this.#ordinary === undefined && this.#careful.isMidLine;
  }

  /** Whether the session has no anomalies. If so, it is in the current version of this format and ends with a line break. */
  get isOrdinary(): boolean {
    return this.#ordinary !== undefined;
  }

  /** Whether an append can write just its line, without a preceding line break and without rewriting the file. */
  get isReady(): boolean {
    return this.#ordinary !== undefined || !(this.#careful.isMidLine || this.#careful.needsUpgrade);
  }

  /** Pending writes that were expected in the file but not found. */
  get missingPending(): number[] {
    return this.#careful.missingPending;
  }

  /** Copy of the issues found so far. */
  get issues(): SessionIssue[] {
    return this.#ordinary === undefined ? this.#careful.issues : (this.#issues?.list() ?? []);
  }

  /** Adds an issue that was found while reading a body. */
  report(issue: SessionIssue): void {
    this.#issueLog.add(issue);
  }

  /**
   * Reads the bytes of a whole session file in steps. Yields the number of bytes read after each step, at least once.
   *
   * Bytes without anomalies are read as text, which is faster in a process that has just started. Otherwise, they are read as
   * `feed` does.
   *
   * @remarks Cost: O(bytes). For small files: see docs/performance.md#small-sessions
   */
  *readWhole(bytes: Uint8Array, stepBytes: number = bytes.length): Generator<number, void> {
    if (this.#ordinary !== undefined || this.#lines !== undefined)
      throw new TypeError("the index has read something already; use feed");
    let read = 0;
    // A line may exceed the limit, which `feed` detects.
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

  /** Whether `takeParsed` returns any entries. */
  get hasParsed(): boolean {
    return this.#parsed.length > 0;
  }

  /** Returns and removes the entries parsed during reading, by ordinal. They match their heads. */
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
   * Reserves memory for the remaining `bytes` of a file, extrapolating from the part already read. Growing step by step would
   * copy everything twice. An estimate that is too large temporarily uses address space but no memory.
   */
  reserve(bytes: number): void {
    this.#careful.reserve(bytes);
  }

  /**
   * Offset of the last line that was read, whether torn or complete. Excludes this session's own writes, because their positions
   * are assumed.
   */
  get lastLineOffset(): number {
    return this.#ordinary === undefined ? this.#careful.lastLineOffset : this.#ordinary.lastLineOffset;
  }

  /** Position of the last line if it is incomplete; otherwise, undefined. */
  get tornTail(): { readonly offset: number; readonly length: number } | undefined {
    return this.#ordinary === undefined ? this.#careful.tornTail : undefined;
  }

  /** Ends a batch. Resolves the last line and missing parents. */
  end(): void {
    if (this.#ordinary === undefined) this.#careful.end();
  }

  /**
   * Adds an entry that this session has just written. It is assumed to be at the end of the file until `confirmPending` is
   * called.
   *
   * @param length - Number of bytes in its line, including the line break.
   * @param hasBreak - Whether a line break was written before it, to close a torn line.
   */
  addPending(head: EntryHead, length: number, hasBreak: boolean): void {
    if (this.#ordinary?.addOwn(head, length) !== true) this.#careful.addPending(head, length, hasBreak);
  }

  /** Confirms the assumed positions of the first `count` pending writes, or of all of them. */
  confirmPending(count?: number): void {
    if (this.#ordinary === undefined) this.#careful.confirmPending(count);
    else this.#ordinary.confirm(count);
  }

  /** Expects pending writes among the next bytes instead of at their assumed positions. */
  expectPendingAmongOthers(): void {
    this.#careful.expectPendingAmongOthers();
  }

  /**
   * Assumes that pending writes that were not found follow the lines of other processes, in the order in which they were written.
   */
  presumePendingBehind(): void {
    this.#careful.presumePendingBehind();
  }

  /** Returns the id of the first entry at or after a record number. Used for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    return this.#ordinary === undefined ? this.#careful.entryIdFrom(recordNumber) : undefined;
  }

  /** Stored leaf: the last entry, or the target of a `leaf` record in the last line. */
  get storedLeaf(): number {
    return this.#ordinary === undefined ? this.#careful.storedLeaf : this.#ordinary.size - 1;
  }

  /** Reader for sessions with anomalies. Takes over an ordinary session. */
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
