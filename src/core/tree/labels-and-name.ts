import type { AnySessionEntry } from "../format/entry.ts";
import { findSessionName, isNameType, toSessionName } from "../format/session-name.ts";
import type { EntryTree } from "./entry-tree.ts";

/** Current label of an entry, with its time. */
export interface LabelMark {
  readonly label: string;
  /** Time of the label entry, as stated in that entry (ISO 8601). */
  readonly timestamp: string;
  /** Id of the label entry. */
  readonly entryId: string;
}

/**
 * The latest labels and name, in file order. Reads only the bodies of label and name entries.
 *
 * @remarks Cost per call: O(entries added since the last call) head reads, plus one body read for each new label or name.
 */
export class LabelsAndName {
  readonly #index: { readonly tree: EntryTree };
  readonly #entryAt: (ordinal: number) => AnySessionEntry | undefined;
  readonly #inFileOrder: (ordinals: number[]) => Iterable<number>;
  readonly #labels = new Map<string, LabelMark>();
  #name: string | undefined;
  #seen = 0;

  /**
   * @param index - Provides the tree, which may be a different object after more entries are read.
   * @param entryAt - Returns an entry, or undefined if its body is damaged.
   * @param inFileOrder - Sorts ordinals in file order.
   * @param title - Name to use until an entry sets one.
   */
  constructor(
    index: { readonly tree: EntryTree },
    entryAt: (ordinal: number) => AnySessionEntry | undefined,
    inFileOrder: (ordinals: number[]) => Iterable<number> = (ordinals) => ordinals,
    title?: string,
  ) {
    this.#index = index;
    this.#entryAt = entryAt;
    this.#inFileOrder = inFileOrder;
    this.#name = toSessionName(title);
  }

  /** Returns the current labels, keyed by the id of the labeled entry, as a live view. */
  labels(): ReadonlyMap<string, LabelMark> {
    this.#catchUp();
    return this.#labels;
  }

  /** Returns the session's display name, or undefined if there is none. */
  name(): string | undefined {
    this.#catchUp();
    return this.#name;
  }

  #catchUp(): void {
    const { tree } = this.#index;
    const { size } = tree;
    const marks: number[] = [];
    for (let ordinal = this.#seen; ordinal < size; ordinal++) {
      const type = tree.typeAt(ordinal);
      if (type === "label" || isNameType(type)) marks.push(ordinal);
    }
    // Reads all entries before applying any, so that an unreadable entry is not skipped permanently.
    const entries = marks.length === 0 ? [] : Array.from(this.#inFileOrder(marks), this.#entryAt);
    for (const entry of entries) if (entry !== undefined) this.#note(entry);
    this.#seen = size;
  }

  #note(entry: AnySessionEntry): void {
    if (isNameType(entry.type)) {
      this.#name = findSessionName({ ...entry });
      return;
    }
    const targetId = "targetId" in entry ? entry.targetId : undefined;
    const label = "label" in entry ? entry.label : undefined;
    if (typeof targetId !== "string") return;
    if (typeof label !== "string" || label === "") this.#labels.delete(targetId);
    else this.#labels.set(targetId, { label, timestamp: entry.timestamp, entryId: entry.id });
  }
}
