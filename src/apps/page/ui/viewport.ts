import { useEffect, useState } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";

/**
 * The viewed entry: the focus, or the first entry in view. Stored apart from the page's state, because scrolling changes it many
 * times a second.
 */
export class Sight {
  #ordinal = NONE;
  #isAtEnd = false;
  readonly #listeners = new Set<() => void>();

  /** Ordinal of the entry; NONE before the first drawing. */
  get ordinal(): number {
    return this.#ordinal;
  }

  /** Whether the end of the conversation is in view while its start is not. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Reports that the viewed entry has changed, or that the end has entered or left the view. */
  move(ordinal: number, isAtEnd: boolean): void {
    if (ordinal === this.#ordinal && isAtEnd === this.#isAtEnd) return;
    this.#ordinal = ordinal;
    this.#isAtEnd = isAtEnd;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener for each move; returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Returns the viewed entry and whether the end is in view; redraws when either changes. */
export function useSight(sight: Sight): Pick<Sight, "ordinal" | "isAtEnd"> {
  const [seen, setSeen] = useState({ ordinal: sight.ordinal, isAtEnd: sight.isAtEnd });
  useEffect(() => {
    const look = () => setSeen({ ordinal: sight.ordinal, isAtEnd: sight.isAtEnd });
    look();
    return sight.listen(look);
  }, [sight]);
  return seen;
}

/** Minimum width for showing the tree next to the conversation; same value as in the style sheet. */
export const WIDE = "(min-width: 900px)";

/** Touch devices, which usually have no keyboard. */
export const TOUCH = "(hover: none) and (pointer: coarse)";
