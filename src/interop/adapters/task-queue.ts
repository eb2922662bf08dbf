/** Runs tasks with the same name one after the other, in order. */
export class Turns {
  readonly #latest = new Map<string, Promise<unknown>>();

  /** Runs a task after all earlier ones of its name, whether they succeeded or not. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#latest.get(name) ?? Promise.resolve()).then(work, work);
    this.#latest.set(name, mine);
    const leave = () => {
      if (this.#latest.get(name) === mine) this.#latest.delete(name);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** Tells whether a task of a name is waiting or running. */
  isTaken(name: string): boolean {
    return this.#latest.has(name);
  }
}
