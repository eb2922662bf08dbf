/** Lets pieces of work with the same name wait for one another, in the order in which they were asked for. */
export class Turns {
  readonly #latest = new Map<string, Promise<unknown>>();

  /** Does a piece of work after all others of its name, whether these went well or not. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#latest.get(name) ?? Promise.resolve()).then(work, work);
    this.#latest.set(name, mine);
    const leave = () => {
      if (this.#latest.get(name) === mine) this.#latest.delete(name);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** Whether work of a name is waiting or under way. */
  isTaken(name: string): boolean {
    return this.#latest.has(name);
  }
}
