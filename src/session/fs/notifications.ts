/** Notifies one consumer. Notifications while it is busy count as one. */
export class WakeUps {
  #wake: () => void = () => undefined;
  #isDue = true;

  /** Notifies the consumer of a change or of the end. Bound, so that it can be passed as a callback. */
  readonly note = (): void => {
    this.#isDue = true;
    this.#wake();
  };

  /**
   * Yields immediately and after each `note`. To end it, make `isOver` return true and call `note`, because it may be waiting.
   */
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
