import { isSessionError } from "../../core/format/errors.ts";
import { Pace } from "../../session/files/time-slices.ts";

/**
 * Time available to a call, which ends when the client cancels the call. Part of a call can have a time limit, in milliseconds.
 */
export class CallTime {
  readonly signal: AbortSignal | undefined;
  readonly #limit: AbortSignal | undefined;
  readonly #pace: Pace;

  /** @param limit - Aborts when the time for part of the call is up; `signal` then aborts as well. */
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
   * Yields to other calls if this call has run for several milliseconds.
   *
   * @throws {SessionError} `ABORTED` if time runs out.
   */
  async rest(): Promise<void> {
    if (this.#pace.isDue) await this.#pace.rest();
    else this.#pace.check();
  }

  /** Returns whether an error means that the time for part of the call is up, rather than that the call was canceled. */
  hasEnded(error: unknown): boolean {
    return this.#limit?.aborted === true && isSessionError(error, "ABORTED");
  }
}
