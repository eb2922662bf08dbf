import { refuseAborted } from "../../core/format/abort.ts";
import { getMonotonicMs, waitForTurn } from "../fs/clock.ts";

/** Milliseconds for which a run may block the event loop. */
const SLICE_MS = 8;

/**
 * Keeps a long run of short synchronous steps from blocking the event loop, and ends it when its caller gives up.
 *
 * Files are read synchronously, because handing each small read to another thread costs several times as much as the
 * read; between steps, the event loop gets its turn.
 */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = getMonotonicMs();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the run has blocked the event loop for some milliseconds, and should rest. */
  get isDue(): boolean {
    return getMonotonicMs() - this.#since > SLICE_MS;
  }

  async rest(): Promise<void> {
    this.check();
    await waitForTurn();
    this.#since = getMonotonicMs();
    this.check();
  }

  /** Ends the run with `ABORTED` if its caller has given up. */
  check(): void {
    refuseAborted(this.#signal);
  }
}
