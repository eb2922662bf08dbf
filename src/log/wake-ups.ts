/** Wakes one consumer when there is something to look at; calls that come while it is busy are told as one. */
export class WakeUps {
  #wake: () => void = () => undefined;
  #isDue = true;

  /** Takes note that there is something to look at, or that it is over. May be handed on as it is. */
  readonly note = (): void => {
    this.#isDue = true;
    this.#wake();
  };

  /** Yields at once, and then after each note. Whoever ends it calls `note`, too, since it may be waiting. */
  async *until(isOver: () => boolean): AsyncGenerator<void, void> {
    while (!isOver()) {
      if (this.#isDue) {
        this.#isDue = false;
        yield;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
