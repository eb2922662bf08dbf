import type { AnySessionEntry } from "../../core/format/entry.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { LogChange } from "../log/session-log.ts";
import type { SessionEvents } from "./session-events.ts";

/** Returns the ordinals of the entries that a change added. */
export function findAdded(change: LogChange, tree: EntryTree): number[] {
  const start = change.kind === "foreign" ? change.from : 0;
  const ordinals = Array.from({ length: tree.size - start }, (_, i) => start + i);
  if (change.kind === "foreign") return ordinals;
  const { before } = change;
  return ordinals.filter((ordinal) => before.tree.find(tree.idAt(ordinal)) === NONE);
}

/** Returns the ordinal of an entry in a reread tree, or the ordinal of its nearest ancestor if its line was removed. */
export function findPlace(tree: EntryTree, before: EntryTree, leaf: number): number {
  for (let at = leaf; at !== NONE; at = before.parentAt(at)) {
    const now = tree.find(before.idAt(at));
    if (now !== NONE) return now;
  }
  return NONE;
}

/** Queues entries from other processes for delivery to pending calls and listeners. */
export class ForeignEntries {
  /** Ids of the entries that have not been delivered yet. */
  #ids: string[] = [];
  readonly #lists = new Set<AnySessionEntry[]>();

  add(id: string): void {
    this.#ids.push(id);
  }

  /** Returns an array that receives all entries delivered from now on, until `end` is called. */
  collect(): { readonly entries: AnySessionEntry[]; end(): void } {
    const entries: AnySessionEntry[] = [];
    this.#lists.add(entries);
    return { entries, end: () => this.#lists.delete(entries) };
  }

  /**
   * Delivers the entries to all receivers, once. Keeps their ids if the bodies cannot currently be read.
   *
   * @param read - Returns the entries with these ids that still exist.
   */
  deliver(read: (ids: readonly string[]) => AnySessionEntry[], events: SessionEvents | undefined): void {
    const isAwaited = this.#lists.size > 0 || events?.has("foreign_entries") === true;
    if (!isAwaited) this.#ids = [];
    if (this.#ids.length === 0) return;
    try {
      const entries = read(this.#ids);
      this.#ids = [];
      if (entries.length === 0) return;
      for (const list of this.#lists) list.push(...entries);
      events?.emit("foreign_entries", { entries });
    } catch (error) {
      if (!isSessionError(error)) throw error;
    }
  }
}
