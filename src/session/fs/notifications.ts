/** Notifies one consumer. Notifications while the consumer is busy are combined. */
export class WakeUps {
  #wake: () => void = () => undefined;
  #isDue = true;

  /** Notifies the consumer of a change or of the end. This is a bound function, so that it can be passed as a callback. */
  readonly note = (): void => {
    this.#isDue = true;
    this.#wake();
  };

  /**
   * Yields immediately and after each call to `note`. To end the iteration, make `isOver` return true and call `note`, because
   * the iteration may be waiting.
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
