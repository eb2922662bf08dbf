import { isSessionError } from "../../core/format/errors.ts";
import { Pace } from "../../session/files/time-slices.ts";

/** Time that a call has: until its client cancels it, and of a part of it for some milliseconds. */
export class CallTime {
  readonly signal: AbortSignal | undefined;
  readonly #limit: AbortSignal | undefined;
  readonly #pace: Pace;

  /** @param limit - Aborts when the time of the part is over; `signal` aborts then, too. */
  constructor(signal?: AbortSignal, limit?: AbortSignal) {
    this.signal = signal;
    this.#limit = limit;
    this.#pace = new Pace(signal);
  }

  within(milliseconds: number): CallTime {
    const limit = AbortSignal.timeout(milliseconds);
    return new CallTime(this.signal === undefined ? limit : AbortSignal.any([this.signal, limit]), limit);
  }

  /**
   * Gives other calls their turn, if this one has worked for some milliseconds.
   *
   * @throws {SessionError} `ABORTED` if the time is over.
   */
  async rest(): Promise<void> {
    if (this.#pace.isDue) await this.#pace.rest();
    else this.#pace.check();
  }

  /** Returns whether work has ended with this error because the time of the part is over, not because the call was canceled. */
  hasEnded(error: unknown): boolean {
    return this.#limit?.aborted === true && isSessionError(error, "ABORTED");
  }
}
