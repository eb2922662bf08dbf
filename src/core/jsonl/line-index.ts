import type { EntryHead } from "../format/head.ts";
import type { SessionHeader } from "../format/header.ts";
import { toIdKey } from "../format/id-key.ts";
import type { SessionIssue } from "../format/issue.ts";
import { CURRENT_SESSION_VERSION } from "../format/version.ts";
import type { ColumnTree } from "../tree/column-tree.ts";
import { NONE } from "../tree/entry-tree.ts";
import { EntryAdder } from "./entry-adder.ts";
import type { StatedHead } from "./entry-head.ts";
import { type IssueLog, makeIssue } from "./issue-log.ts";
import { LineReader } from "./line-reader.ts";
import { LINE_BREAK, LineScanner } from "./line-scanner.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";
import type { OrdinarySession } from "./ordinary-session.ts";
import { type PendingWrite, PendingWrites } from "./pending-writes.ts";

/** Options for a `SessionIndex`. */
export interface SessionIndexOptions {
  /** Rereads earlier bytes. Called only if two lines have the same id. */
  readonly readBytes: (offset: number, length: number) => Uint8Array;
  /** Faster equivalent of `decodeText`, if available. */
  readonly decode?: ((bytes: Uint8Array) => string) | undefined;
  /** Maximum length of a line, in bytes. Longer lines are reported as issues. Default: 256 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Header to use for a file that has lost its own. */
  readonly header?: SessionHeader | undefined;
}

interface LineIndexOptions extends SessionIndexOptions {
  readonly maxLineBytes: number;
  readonly issues: IssueLog;
}

/** Maximum number of entries to reserve memory for. */
const MAX_RESERVED = 200_000;

/** Safety margin of the estimate. An estimate that is one entry too small would double the memory. */
const MARGIN = 1.03;

/**
 * Reads a session's bytes into a header, a tree of heads, line spans, and issues. Accepts any bytes.
 *
 * Every line is read as the header, an entry, or an issue. A body is parsed only if the head is not at the start of its line, or
 * if the line seems to contain more than one record. Missing ids are derived from the session id and the record number, so that
 * every read produces the same ids.
 *
 * @remarks Cost: O(bytes), about 70 bytes of memory per entry. Source: docs/format.md#reading
 */
export class LineIndex {
  readonly #issues: IssueLog;
  readonly #adder: EntryAdder;
  readonly #scanner: LineScanner;
  readonly #lines: LineReader;
  readonly #pending = new PendingWrites();

  constructor({ readBytes, maxLineBytes, header, issues }: LineIndexOptions) {
    this.#issues = issues;
    this.#adder = new EntryAdder({
      issues,
      readBytes,
      takePending: (ordinal) => this.#pending.take(ordinal),
    });
    this.#lines = new LineReader(this.#adder, issues);
    this.#scanner = new LineScanner(this.#lines, { maxLineBytes });
    if (header === undefined) return;
    const place = { line: 1, offset: 0, length: 0 };
    this.#lines.takeFirst({ ...header }, place);
    issues.put("HEADER_MISSING", place);
  }

  get tree(): ColumnTree {
    return this.#adder.tree;
  }

  get spans(): LineSpans {
    return this.#adder.spans;
  }

  /** Header in the current version; undefined if it has not been read yet. */
  get header(): SessionHeader | undefined {
    return this.#lines.header?.header;
  }

  get headerSpan(): LineSpan | undefined {
    return this.#lines.headerSpan;
  }

  /** Version of the file; the current version if the file does not state one. */
  get version(): number {
    return this.#adder.versionSoFar ?? CURRENT_SESSION_VERSION;
  }

  /** Whether the file is not a session because its first records contain no header. */
  get isRejected(): boolean {
    return this.#lines.isRejected;
  }

  /** Whether another program wrote the file, because no part of it, including the header, resembles this format. */
  get isForeign(): boolean {
    const { strangers } = this.#adder;
    return strangers > 0 && strangers === this.tree.size && this.header?.timestamp === "";
  }

  /** Whether the file contains heads in an older form, so that an append must rewrite the file first. */
  get needsUpgrade(): boolean {
    return this.version < CURRENT_SESSION_VERSION || this.#adder.unwritten > 0;
  }

  /** Number of bytes that were read, or that were written by this session and confirmed. */
  get position(): number {
    return this.#scanner.position;
  }

  /** Expected end of the file if no other process writes to it. */
  get expectedEnd(): number {
    return this.position + this.#pending.bytes;
  }

  /** Whether the next append must begin with a line break. */
  get isMidLine(): boolean {
    return this.#pending.isEmpty && this.#scanner.isMidLine;
  }

  /** Pending writes that were expected in the file but not found. */
  get missingPending(): number[] {
    return this.#pending.ordinals;
  }

  /** Copy of the issues found so far. */
  get issues(): SessionIssue[] {
    const issues = this.#issues.list();
    const { headerSpan } = this;
    if (this.isForeign && headerSpan !== undefined) issues.unshift(makeIssue("FOREIGN_FORMAT", headerSpan));
    return issues;
  }

  /** Adopts the state of a session that has had no anomalies, including its own unconfirmed entries. */
  continueFrom(session: OrdinarySession): void {
    const { size, confirmed } = session;
    const place = { offset: 0, length: session.headerLength, line: 1 };
    this.#lines.takeOrdinary(session.headerRecord, place, session.isMixed);
    this.#scanner.skip(session.confirmedEnd, confirmed + 1);
    this.tree.reserve(size);
    this.#adder.spans.reserve(size);
    for (let ordinal = 0; ordinal < size; ordinal++) {
      const head = session.headAt(ordinal);
      const [offset, length] = [session.offsetAt(ordinal), session.lengthAt(ordinal)];
      if (ordinal >= confirmed) this.addPending(head, length + 1, false);
      else this.#adder.addHead(toStatedHead(head), offset, length, ordinal + 2);
    }
  }

  /** Reads the next bytes. */
  feed(chunk: Uint8Array): void {
    this.#issues.tail = undefined;
    this.#scanner.feed(chunk);
  }

  /**
   * Reserves memory for the remaining `bytes` of a file, extrapolating from the part already read. Growing step by step would
   * copy everything twice. An estimate that is too large temporarily uses address space but no memory.
   */
  reserve(bytes: number): void {
    const { size } = this.tree;
    const guess = Math.ceil((MARGIN * size * bytes) / Math.max(1, this.position));
    const expected = Math.min(guess, size + MAX_RESERVED);
    this.tree.reserve(expected);
    this.#adder.spans.reserve(expected);
  }

  /**
   * Offset of the last line that was read, whether torn or complete. Excludes this session's own writes, because their positions
   * are assumed.
   */
  get lastLineOffset(): number {
    const torn = this.tornTail;
    if (torn !== undefined) return torn.offset;
    const { tree, spans } = this;
    for (let ordinal = tree.size - 1; ordinal >= 0; ordinal--) {
      const offset = spans.offsetAt(ordinal);
      if (offset < this.position) return offset;
    }
    return this.headerSpan?.offset ?? 0;
  }

  /** Position of the last line if it is incomplete; otherwise, undefined. */
  get tornTail(): { readonly offset: number; readonly length: number } | undefined {
    const last = this.isMidLine ? this.issues.at(-1) : undefined;
    if (last?.code !== "TAIL_TORN") return undefined;
    return { offset: last.offset, length: this.position - last.offset };
  }

  /** Ends a batch. Resolves the last line and missing parents. */
  end(): void {
    this.#issues.tail = undefined;
    this.#scanner.end();
    this.#adder.resolveParents();
  }

  /**
   * Adds an entry that this session has just written. It is assumed to be at the end of the file until `confirmPending` is
   * called.
   *
   * @param length - Number of bytes in its line, including the line break.
   * @param hasBreak - Whether a line break was written before it, to close a torn line.
   */
  addPending(head: EntryHead, length: number, hasBreak: boolean): void {
    const { type, id, parent, timestampMs } = toStatedHead(head);
    const added = this.tree.add(type, id, parent, timestampMs);
    // If an entry is copied to another file and written again, it is the same entry.
    const ordinal = added === NONE ? this.tree.findKey(id) : added;
    this.#presume({ ordinal, length, hasBreak });
    this.#lines.forgetLeafRecord();
  }

  #presume(own: PendingWrite): void {
    const { ordinal, length, hasBreak } = own;
    const offset = this.expectedEnd + (hasBreak ? 1 : 0);
    const line = this.#scanner.line + this.#pending.breaks + (hasBreak ? 1 : 0);
    this.#adder.spans.set(ordinal, offset, length - 1, line);
    this.#pending.add(own);
  }

  /** Confirms the assumed positions of the first `count` pending writes, or of all of them. */
  confirmPending(count?: number): void {
    if (this.#pending.isEmpty) return;
    for (const { ordinal, length, hasBreak } of this.#pending.drain(count)) {
      if (hasBreak) this.feed(LINE_BREAK);
      this.#scanner.skip(length, 1);
      this.#adder.placePending(ordinal);
    }
    // Closing a torn line may have added entries with unresolved parents.
    this.#adder.resolveParents();
  }

  /** Expects pending writes among the next bytes instead of at their assumed positions. */
  expectPendingAmongOthers(): void {
    this.#pending.disperse();
  }

  /**
   * Assumes that pending writes that were not found follow the lines of other processes, in the order in which they were written.
   */
  presumePendingBehind(): void {
    for (const { ordinal, length } of this.#pending.drain()) {
      // Only the first write can follow a torn line, because `isMidLine` is false while any write is pending.
      this.#presume({ ordinal, length, hasBreak: this.isMidLine });
    }
  }

  /** Returns the id of the first entry at or after a record number. Used for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    return this.#adder.entryIdFrom(recordNumber);
  }

  /** Stored leaf: the last entry, or the target of a `leaf` record in the last line. */
  get storedLeaf(): number {
    const targetId = this.#lines.leafRecord?.["targetId"];
    const target = typeof targetId === "string" ? this.tree.find(targetId) : NONE;
    return target === NONE ? this.tree.size - 1 : target;
  }
}

function toStatedHead({ type, id, parentId, timestampMs }: EntryHead): StatedHead {
  return { type, id: toIdKey(id), parent: parentId === null ? null : toIdKey(parentId), timestampMs };
}
