import { refuseAborted } from "../../core/format/abort.ts";
import { getMonotonicMs, waitForTurn } from "../fs/clock.ts";

/** Maximum time for which a run may block the event loop, in milliseconds. */
const SLICE_MS = 8;

/**
 * Prevents a long run of short synchronous steps from blocking the event loop, and stops it when the caller aborts.
 *
 * Files are read synchronously, because passing each small read to another thread costs several times as much as the read itself.
 * The event loop runs between steps.
 */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = getMonotonicMs();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the run has blocked the event loop for several milliseconds and should pause. */
  get isDue(): boolean {
    return getMonotonicMs() - this.#since > SLICE_MS;
  }

  async rest(): Promise<void> {
    this.check();
    await waitForTurn();
    this.#since = getMonotonicMs();
    this.check();
  }

  /** Throws an `ABORTED` error if the caller has aborted the run. */
  check(): void {
    refuseAborted(this.#signal);
  }
}
