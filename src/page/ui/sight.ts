import { useEffect, useState } from "preact/hooks";
import { NONE } from "../model/session-model.ts";

/**
 * The entry that somebody is looking at: the focus, or the first one in sight. Told apart from the page's state, because
 * scrolling changes it many times a second.
 */
export class Sight {
  #ordinal = NONE;
  readonly #listeners = new Set<(ordinal: number) => void>();

  /** The entry; NONE before anything was drawn. */
  get ordinal(): number {
    return this.#ordinal;
  }

  /** Tells that another entry is looked at. */
  move(ordinal: number): void {
    if (ordinal === this.#ordinal) return;
    this.#ordinal = ordinal;
    for (const listener of this.#listeners) listener(ordinal);
  }

  /** Calls a listener for each move; gives the way to stop. */
  listen(listener: (ordinal: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Gives the entry that is looked at, and draws anew when it is another one. */
export function useSight(sight: Sight): number {
  const [ordinal, setOrdinal] = useState(sight.ordinal);
  useEffect(() => {
    setOrdinal(sight.ordinal);
    return sight.listen(setOrdinal);
  }, [sight]);
  return ordinal;
}
