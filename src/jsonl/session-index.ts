import { LineScanner } from "../jsonl/line-scanner.ts";
import type { EntryHead } from "../schema/head.ts";
import type { SessionHeader } from "../schema/header.ts";
import { idKeyOf } from "../schema/id-key.ts";
import type { SessionIssue } from "../schema/issue.ts";
import type { JsonRecord } from "../schema/json.ts";
import { CURRENT_SESSION_VERSION } from "../schema/version.ts";
import { type EntryTree, NONE } from "../tree/entry-tree.ts";
import { EntryAdder } from "./entry-adder.ts";
import { IssueLog, makeIssue } from "./issue-log.ts";
import { LineReader } from "./line-reader.ts";
import type { LineSpan, LineSpans } from "./line-spans.ts";
import { type PendingWrite, PendingWrites } from "./pending-writes.ts";

/** What a `SessionIndex` is made with. */
export interface SessionIndexOptions {
  /** Returns bytes that were fed before; asked for only when two lines have the same id. */
  readonly readBytes: (offset: number, length: number) => Uint8Array;
  /** Bytes; longer lines are an issue. Default 256 MiB. */
  readonly maxLineBytes?: number;
  /** A header to go by, for a file that has lost its own. */
  readonly header?: SessionHeader;
}

/** Entries that room is made for before they come. */
const MAX_RESERVED = 200_000;

const LINE_BREAK = new Uint8Array([0x0a]);

/**
 * Reads a session's bytes into its header, its tree of heads and its issues, and knows where each line stands.
 *
 * Every line becomes the header, an entry or an issue. Bodies are parsed only where a head is not at the front of its
 * line, or where the line looks as if it held more than one record. Ids that the file does not give are derived from
 * the session id and the record's number, so that every reading finds the same ones.
 *
 * @remarks Cost: O(bytes), about 70 bytes of memory per entry. Source: docs/format.md#reading
 */
export class SessionIndex {
  readonly #issues = new IssueLog();
  readonly #adder: EntryAdder;
  readonly #scanner: LineScanner;
  readonly #lines: LineReader;
  readonly #pending = new PendingWrites();

  constructor(options: SessionIndexOptions) {
    const { readBytes, maxLineBytes, header } = options;
    this.#adder = new EntryAdder({
      issues: this.#issues,
      readBytes,
      takePending: (ordinal) => this.#pending.take(ordinal),
    });
    this.#lines = new LineReader(this.#adder, this.#issues);
    this.#scanner = new LineScanner(this.#lines, maxLineBytes === undefined ? {} : { maxLineBytes });
    if (header === undefined) return;
    const place = { line: 1, offset: 0, length: 0 };
    this.#lines.takeFirst({ ...header }, place);
    this.#issues.put("HEADER_MISSING", place);
  }

  get tree(): EntryTree {
    return this.#adder.tree;
  }

  get spans(): LineSpans {
    return this.#adder.spans;
  }

  /** The header in today's version; undefined if none has come. */
  get header(): SessionHeader | undefined {
    return this.#lines.header?.header;
  }

  get headerSpan(): LineSpan | undefined {
    return this.#lines.headerSpan;
  }

  /** Version of the file; that of today where nothing tells. */
  get version(): number {
    return this.#adder.versionSoFar ?? CURRENT_SESSION_VERSION;
  }

  /** Whether the first records hold no header, so that this is no session. */
  get isRejected(): boolean {
    return this.#lines.isRejected;
  }

  /** Whether this is a session of pi's version 4, which is rejected. */
  get isLaneSession(): boolean {
    return this.#lines.isLaneSession;
  }

  /** Whether no record, the header included, has what this format asks for, so that the file is another program's. */
  get isForeign(): boolean {
    const { strangers } = this.#adder;
    return strangers > 0 && strangers === this.tree.size && this.header?.timestamp === "";
  }

  /** Whether the heads of the file are not as the current version writes them: it must be rewritten before it grows. */
  get needsUpgrade(): boolean {
    return this.version < CURRENT_SESSION_VERSION || this.#adder.unwritten > 0;
  }

  /** Bytes that were read or are known to stand there. */
  get position(): number {
    return this.#scanner.position;
  }

  /** Where the file ends if nobody else writes. */
  get expectedEnd(): number {
    return this.position + this.#pending.bytes;
  }

  /** Whether the next line must begin with a line break. */
  get isMidLine(): boolean {
    return this.#pending.isEmpty && this.#scanner.isMidLine;
  }

  /** Own entries that the file was expected to hold and that were not found in it. */
  get missingPending(): number[] {
    return this.#pending.ordinals;
  }

  /** What was odd so far; a copy. */
  get issues(): SessionIssue[] {
    const issues = this.#issues.list();
    const { headerSpan } = this;
    if (this.isForeign && headerSpan !== undefined) issues.unshift(makeIssue("FOREIGN_FORMAT", headerSpan));
    return issues;
  }

  /** Adds an issue that was found while a body was read. */
  report(issue: SessionIssue): void {
    this.#issues.add(issue);
  }

  /**
   * Parses every line that is fed from now on, and keeps the records until they are taken; or does so no more.
   *
   * A process that has just started parses a small file sooner than it finds the heads in it, and needs the bodies next.
   */
  keepRecords(isKept: boolean): void {
    this.#lines.isKeeping = isKept;
    this.#scanner.isDecoding = isKept;
  }

  /** Whether records are kept that were not taken yet. */
  get hasRecords(): boolean {
    return this.#lines.records.size > 0;
  }

  /** Hands over the record of an entry, once; undefined if it is not kept. */
  takeRecord(ordinal: number): JsonRecord | undefined {
    const { records } = this.#lines;
    const record = records.get(ordinal);
    if (record !== undefined) records.delete(ordinal);
    return record;
  }

  /** Takes the next bytes. */
  feed(chunk: Uint8Array): void {
    this.#issues.tail = undefined;
    this.#scanner.feed(chunk);
  }

  /**
   * Makes room for what is still to come of so many bytes, if it is like what has come: to grow step by step would copy
   * everything twice. A file that turns out to be another takes address space, but no memory, for a moment.
   */
  reserve(bytes: number): void {
    const { size } = this.tree;
    const expected = Math.min(Math.ceil((size * bytes) / Math.max(1, this.position)), size + MAX_RESERVED);
    this.tree.reserve(expected);
    this.spans.reserve(expected);
  }

  /** Ends a batch of bytes: decides about the last line and about parents that were not there. */
  end(): void {
    this.#issues.tail = undefined;
    this.#scanner.end();
    this.#adder.resolveParents();
  }

  /**
   * Adds an entry that is about to stand behind all others, and presumes its place until `confirmOwn`.
   *
   * @param length - Bytes of its line, line break included.
   * @param hasBreak - Whether a line break was written before it, to close a torn line.
   */
  addPending(head: EntryHead, length: number, hasBreak: boolean): number {
    const parent = head.parentId === null ? null : idKeyOf(head.parentId);
    const id = idKeyOf(head.id);
    const added = this.tree.add(head.type, id, parent, head.timestampMs);
    // What somebody took along to another file and is written once more is the same entry.
    const ordinal = added === NONE ? this.tree.findKey(id) : added;
    this.#presume({ ordinal, length, hasBreak });
    this.#lines.forgetLeafRecord();
    return ordinal;
  }

  #presume(own: PendingWrite): void {
    const { ordinal, length, hasBreak } = own;
    const offset = this.expectedEnd + (hasBreak ? 1 : 0);
    const line = this.#scanner.line + this.#pending.breaks + (hasBreak ? 1 : 0);
    this.spans.set(ordinal, offset, length - 1, line);
    this.#pending.add(own);
  }

  /**
   * Says that own entries stand where they were presumed to.
   *
   * @param count - Only the first so many of them. Default: all.
   */
  confirmPending(count?: number): void {
    if (this.#pending.isEmpty) return;
    for (const { ordinal, length, hasBreak } of this.#pending.drain(count)) {
      if (hasBreak) this.feed(LINE_BREAK);
      this.#scanner.skip(length, 1);
      this.#adder.placePending(ordinal);
    }
    // What stood on a torn line that was closed may name parents.
    this.#adder.resolveParents();
  }

  /** Says that own entries stand somewhere among the bytes that will be fed next, and not where they were presumed to. */
  expectPendingAmongOthers(): void {
    this.#pending.disperse();
  }

  /** Presumes the pending writes that were not found among others' lines behind them, in the order of writing. */
  presumePendingBehind(): void {
    for (const { ordinal, length } of this.#pending.drain()) {
      this.#presume({ ordinal, length, hasBreak: this.isMidLine });
    }
  }

  /** Returns the id of the first entry at or after a record number; for version 1. */
  entryIdFrom(recordNumber: number): string | undefined {
    return this.#adder.entryIdFrom(recordNumber);
  }

  /** Where the file says that the leaf is: at its last entry, or at the target of a `leaf` record that is its last line. */
  get storedLeaf(): number {
    const targetId = this.#lines.leafRecord?.["targetId"];
    const target = typeof targetId === "string" ? this.tree.find(targetId) : NONE;
    return target === NONE ? this.tree.size - 1 : target;
  }
}
