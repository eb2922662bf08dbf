import { isSessionError } from "../../core/format/errors.ts";
import { Pace } from "../../session/files/time-slices.ts";

/** Time limit of a call: until its client cancels it, and optionally some milliseconds for a part of it. */
export class CallTime {
  readonly signal: AbortSignal | undefined;
  readonly #limit: AbortSignal | undefined;
  readonly #pace: Pace;

  /**
   * @param limit - Aborts when the time of the part is over; `signal` then aborts as well.
   */
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
   * Yields to other calls if this one has worked for some milliseconds.
   *
   * @throws {SessionError} `ABORTED` if time runs out.
   */
  async rest(): Promise<void> {
    if (this.#pace.isDue) await this.#pace.rest();
    else this.#pace.check();
  }

  /** Returns whether an error means that the time of the part is over, rather than that the call was canceled. */
  hasEnded(error: unknown): boolean {
    return this.#limit?.aborted === true && isSessionError(error, "ABORTED");
  }
}
