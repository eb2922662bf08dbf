import { isFromSource } from "../../catalog/list/deleted-imports.ts";
import { isSubagentEntry } from "../../catalog/list/session-calls.ts";
import { getMessageFields, toRecord } from "../../core/context/entry-fields.ts";
import { findNewestTips, sortParentsFirst } from "../../core/facts/ancestry.ts";
import { getExcerpt } from "../../core/facts/excerpt.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import type { ViewSource } from "../../core/facts/tool-calls.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError, SessionError } from "../../core/format/errors.ts";
import { FRONT_ENTRIES, findImportOrigin } from "../../core/format/import-origin.ts";
import { splitRuns } from "../../core/jsonl/byte-runs.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionView } from "../../session/manager/session-view.ts";
import type { CallTime } from "./call-time.ts";
import type { Cleaner } from "./cleaner.ts";
import { withoutRecalled } from "./echo.ts";

/** Maximum number of cached entries. */
const KEPT = 200;

/** Number of entries cleaned, or read in stored form, per batch. */
const BATCH = 64;

/** Session whose entries are cleaned, and whose abandoned branches are distinguished from the active branch. */
export class RecalledSession implements ViewSource {
  readonly row: SessionRow;
  readonly view: SessionView;
  readonly cleaner: Cleaner;
  readonly #time: CallTime;
  readonly #known = new Map<number, AnySessionEntry | undefined>();
  #active: ReadonlySet<number> | undefined;
  #tips: Int32Array | undefined;

  constructor(
    row: SessionRow,
    view: SessionView,
    { cleaner, time }: { readonly cleaner: Cleaner; readonly time: CallTime },
  ) {
    this.row = row;
    this.view = view;
    this.cleaner = cleaner;
    this.#time = time;
  }

  get tree(): EntryTree {
    return this.view.tree;
  }

  entryAt(ordinal: number): AnySessionEntry | undefined {
    if (!this.#known.has(ordinal)) {
      if (this.#known.size >= KEPT) this.#known.clear();
      this.readEntries([ordinal], (_, entry) => this.#known.set(ordinal, entry));
    }
    return this.#known.get(ordinal);
  }

  readEntries(
    ordinals: Iterable<number>,
    take: (ordinal: number, entry: AnySessionEntry | undefined) => void,
  ): void {
    for (const batch of splitRuns(ordinals, BATCH)) {
      const stored: (AnySessionEntry | undefined)[] = [];
      this.view.readEntries(batch, (_, entry) => stored.push(entry));
      const clean = this.cleaner.cleanEntries(stored.filter((entry) => entry !== undefined)).values();
      for (const [i, ordinal] of batch.entries()) take(ordinal, stored[i] && clean.next().value);
    }
  }

  /**
   * Yields entries in stored form, to decide which to show. Never show these entries, because they have not been cleaned.
   *
   * @throws {SessionError} `ABORTED` between two batches, once the call's time is up.
   */
  async *readStored(
    ordinals: Iterable<number>,
  ): AsyncGenerator<readonly [ordinal: number, entry: AnySessionEntry | undefined], void, undefined> {
    for (const batch of splitRuns(ordinals, BATCH)) {
      await this.#time.rest();
      const read: [number, AnySessionEntry | undefined][] = [];
      this.view.readEntries(batch, (ordinal, entry) => read.push([ordinal, entry]));
      yield* read;
    }
  }

  /** Whether the session is a subagent's, as recorded in its first entries by the import. */
  get isOfSubagent(): boolean {
    const front = [...this.tree.ordinals()].slice(0, FRONT_ENTRIES);
    return front.some((ordinal) => isSubagentEntry(toRecord(this.view.entryAt(ordinal))));
  }

  /** Returns whether the session was imported from a program; `any` matches all programs. */
  isFrom(source: string): boolean {
    const [first = NONE] = this.tree.ordinals();
    const entry = first === NONE ? undefined : this.view.entryAt(first);
    // A fork created here begins later than its first entry.
    const isOwn = entry?.timestamp === this.view.header?.timestamp;
    return isOwn && isFromSource(findImportOrigin(entry), source);
  }

  /** Entries on the path to the leaf. */
  get active(): ReadonlySet<number> {
    this.#active ??= new Set(this.tree.path(this.view.leaf));
    return this.#active;
  }

  /** Returns a mark for an entry on an abandoned branch; empty if the entry is on the path to the leaf. */
  branchMark(ordinal: number): string {
    return this.active.has(ordinal) ? "" : "left branch";
  }

  /** Returns the path from the root through an entry: to the leaf if the leaf is below it, otherwise to the newest tip. */
  pathThrough(ordinal: number): number[] {
    const { tree, active } = this;
    this.#tips ??= findNewestTips(tree, sortParentsFirst(tree));
    return [...tree.path(active.has(ordinal) ? this.view.leaf : (this.#tips[ordinal] ?? ordinal))];
  }

  findOrdinal(name: string): number {
    try {
      return this.tree.find(this.view.findEntry(name));
    } catch (error) {
      if (!isSessionError(error, "ENTRY_NOT_FOUND")) throw error;
      const message = `No single entry matches ${name} in ${this.row.id}. Use an id from search_sessions or read_entries.`;
      throw new SessionError("ENTRY_NOT_FOUND", message, { details: { entryId: name }, cause: error });
    }
  }

  /** Returns the user's last request above an entry, on one line; empty if there is no request above it. */
  askedAbove(ordinal: number, longest: number): string {
    for (let at = ordinal; at !== NONE; at = this.tree.parentAt(at)) {
      if (this.tree.typeAt(at) !== "message") continue;
      const entry = this.entryAt(at);
      if (getMessageFields(entry)["role"] !== "user") continue;
      const text = withoutRecalled(getExcerpt(entry).text);
      if (text !== "") return toShortLine(text, longest);
    }
    return "";
  }
}
