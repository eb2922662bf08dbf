import { monotonicMs } from "../log/monotonic.ts";
import { nextTurn } from "../log/next-turn.ts";
import { refuseAborted } from "../schema/abort.ts";

/** Milliseconds for which a run may hold the event loop. */
const SLICE_MS = 8;

/**
 * Keeps a long run of short synchronous steps from holding the event loop, and ends it when nobody wants it any more.
 *
 * Files are read synchronously, because handing each small read to another thread costs several times what the read
 * does; between the steps this lets others have their turn.
 */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = monotonicMs();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the run has held the event loop for some milliseconds, and should rest. */
  get isDue(): boolean {
    return monotonicMs() - this.#since > SLICE_MS;
  }

  /**
   * Resolves after others had their turn.
   *
   * @throws {SessionError} `ABORTED`
   */
  async rest(): Promise<void> {
    this.check();
    await nextTurn();
    this.#since = monotonicMs();
    this.check();
  }

  /**
   * Ends the run if its caller has given up.
   *
   * @throws {SessionError} `ABORTED`, with the signal's reason as its cause.
   */
  check(): void {
    refuseAborted(this.#signal);
  }
}
