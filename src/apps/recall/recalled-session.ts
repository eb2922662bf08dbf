import { messageFieldsOf } from "../../core/context/entry-fields.ts";
import { newestTips, parentsFirst } from "../../core/facts/ancestry.ts";
import type { ViewSource } from "../../core/facts/entry-source.ts";
import { excerptOf } from "../../core/facts/excerpt.ts";
import { beginningOf } from "../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError, SessionError } from "../../core/format/errors.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SessionView } from "../../session/manager/session-view.ts";
import { cleanEntry, cleanText, type HideSecrets } from "./clean.ts";

/** Entries that are kept for the next question. */
const KEPT = 200;

/** A session whose entries are clean, and which tells what was left from what was continued. */
export class RecalledSession implements ViewSource {
  readonly row: SessionRow;
  readonly view: SessionView;
  readonly #hide: HideSecrets;
  readonly #known = new Map<number, AnySessionEntry | undefined>();
  #active: ReadonlySet<number> | undefined;
  #tips: Int32Array | undefined;

  constructor(row: SessionRow, view: SessionView, hide: HideSecrets) {
    this.row = row;
    this.view = view;
    this.#hide = hide;
  }

  get tree(): EntryTree {
    return this.view.tree;
  }

  clean(text: string): string {
    return cleanText(text, this.#hide);
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
    this.view.readEntries(ordinals, (ordinal, entry) =>
      take(ordinal, entry && cleanEntry(entry, this.#hide)),
    );
  }

  /** The entries on the path to the leaf. */
  get active(): ReadonlySet<number> {
    this.#active ??= new Set(this.tree.path(this.view.leaf));
    return this.#active;
  }

  /** Says that an entry is on a branch that was left; empty if it is on the path to the leaf. */
  branchMark(ordinal: number): string {
    return this.active.has(ordinal) ? "" : "left branch";
  }

  /** Returns the path from the root through an entry: to the leaf if that is below it, else to the newest tip. */
  pathThrough(ordinal: number): number[] {
    const { tree, active } = this;
    this.#tips ??= newestTips(tree, parentsFirst(tree));
    return [...tree.path(active.has(ordinal) ? this.view.leaf : (this.#tips[ordinal] ?? ordinal))];
  }

  ordinalOf(name: string): number {
    try {
      return this.tree.find(this.view.findEntry(name));
    } catch (error) {
      if (!isSessionError(error, "ENTRY_NOT_FOUND")) throw error;
      const message = `There is no one entry ${name} in ${this.row.id}. Take an id as search_sessions or read_entries writes it.`;
      throw new SessionError("ENTRY_NOT_FOUND", message, { details: { entryId: name }, cause: error });
    }
  }

  /** Returns what a person last asked above an entry, in one line; empty if nothing. */
  askedAbove(ordinal: number, longest: number): string {
    for (let at = ordinal; at !== NONE; at = this.tree.parentAt(at)) {
      if (this.tree.typeAt(at) !== "message") continue;
      const entry = this.entryAt(at);
      if (messageFieldsOf(entry)["role"] === "user") return beginningOf(excerptOf(entry).text, longest);
    }
    return "";
  }
}
