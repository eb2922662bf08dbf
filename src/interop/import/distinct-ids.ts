/** Makes ids distinct by numbers: `id`, `id_2`, `id_3`. Cost of n ids: O(n). */
export class DistinctIds {
  readonly #taken = new Set<string>();
  /** For each id, the number of its latest repetition. */
  readonly #numbers = new Map<string, number>();

  /** Returns the id, with a number if it is taken. */
  take(id: string): string {
    let number = this.#numbers.get(id) ?? 1;
    let distinct = id;
    while (this.#taken.has(distinct)) distinct = `${id}_${++number}`;
    this.#numbers.set(id, number);
    this.#taken.add(distinct);
    return distinct;
  }
}
