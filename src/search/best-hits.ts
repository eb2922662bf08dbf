import type { EntryHit } from "./entry-search.ts";

/** Orders hits: the best first, of equals the latest. */
function compareHits(a: EntryHit, b: EntryHit): number {
  return b.score - a.score || (b.time?.getTime() ?? 0) - (a.time?.getTime() ?? 0);
}

/** The best of many hits, with no more of them in memory than twice as many as are wanted. */
export class BestHits<Hit extends EntryHit> {
  readonly #most: number;
  #hits: Hit[] = [];

  /** @param most - It keeps so many; of equal hits, those that were added first. */
  constructor(most: number) {
    this.#most = most;
  }

  add(hit: Hit): void {
    this.#hits.push(hit);
    if (this.#hits.length >= 2 * this.#most) this.#hits = this.best;
  }

  get best(): Hit[] {
    // Sorting keeps the order of equals.
    return this.#hits.toSorted(compareHits).slice(0, this.#most);
  }
}
