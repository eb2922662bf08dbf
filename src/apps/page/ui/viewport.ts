import { useEffect, useState } from "preact/hooks";
import { NONE } from "../../../core/tree/entry-tree.ts";

/**
 * The entry that the reader looks at: the focus, or the first one in sight. Told apart from the page's state, because
 * scrolling changes it many times a second.
 */
export class Sight {
  #ordinal = NONE;
  #isAtEnd = false;
  readonly #listeners = new Set<() => void>();

  /** The entry; NONE before anything was drawn. */
  get ordinal(): number {
    return this.#ordinal;
  }

  /** Whether the end of the conversation is in sight, which has more before it than the screen shows. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Tells that another entry is looked at, or that the end came into sight or left it. */
  move(ordinal: number, isAtEnd: boolean): void {
    if (ordinal === this.#ordinal && isAtEnd === this.#isAtEnd) return;
    this.#ordinal = ordinal;
    this.#isAtEnd = isAtEnd;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener for each move; gives the way to stop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Returns the entry that is looked at and whether the end is in sight, and draws anew when either changes. */
export function useSight(sight: Sight): Pick<Sight, "ordinal" | "isAtEnd"> {
  const [seen, setSeen] = useState({ ordinal: sight.ordinal, isAtEnd: sight.isAtEnd });
  useEffect(() => {
    const look = () => setSeen({ ordinal: sight.ordinal, isAtEnd: sight.isAtEnd });
    look();
    return sight.listen(look);
  }, [sight]);
  return seen;
}
