/** Makes ids distinct by appending numbers: `id`, `id_2`, `id_3`. Cost of n ids: O(n). */
export class DistinctIds {
  readonly #taken = new Set<string>();
  /** Number of the latest repetition of each id. */
  readonly #numbers = new Map<string, number>();

  /** Returns the id, with a number appended if it is already taken. */
  take(id: string): string {
    let number = this.#numbers.get(id) ?? 1;
    let distinct = id;
    while (this.#taken.has(distinct)) distinct = `${id}_${++number}`;
    this.#numbers.set(id, number);
    this.#taken.add(distinct);
    return distinct;
  }
}
