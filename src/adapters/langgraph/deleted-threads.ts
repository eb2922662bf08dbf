import { SessionError } from "../../schema/errors.ts";
import { checkpointKey, type ThreadState } from "./thread-state.ts";

/** Where a checkpoint is, in its thread. */
export type CheckpointPlace = readonly [ns: string, id: string];

/** Deleted threads of which a run may still be working, at most. */
const MAX_THREADS = 100;

/** The latest threads that were deleted while they were open, so that a run of one writes nothing to the next of its id. */
export class DeletedThreads {
  /** By thread, the checkpoints that it had. */
  readonly #checkpoints = new Map<string, ReadonlySet<string>>();

  note(state: ThreadState): void {
    if (state.thread === undefined) return;
    this.#checkpoints.delete(state.thread.id);
    this.#checkpoints.set(state.thread.id, state.checkpointKeys);
    const [oldest] = this.#checkpoints.keys();
    if (this.#checkpoints.size > MAX_THREADS && oldest !== undefined) this.#checkpoints.delete(oldest);
  }

  /** Whether one of these checkpoints was in the deleted thread. */
  held(threadId: string, places: readonly CheckpointPlace[]): boolean {
    const checkpoints = this.#checkpoints.get(threadId);
    return places.some((place) => checkpoints?.has(checkpointKey(...place)) === true);
  }

  /**
   * Refuses a write that belongs to checkpoints of the deleted thread. Those that no thread has had may still come: a run
   * puts them late.
   *
   * @throws {SessionError} `SESSION_NOT_FOUND`
   */
  assertNoneHeld(threadId: string, state: ThreadState, places: readonly CheckpointPlace[]): void {
    const unknown = places.filter((place) => state.find(...place) === undefined);
    if (this.held(threadId, unknown)) throw threadDeleted(threadId);
  }
}

/** Makes the error for a write to a thread that is gone. */
export function threadDeleted(threadId: string): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    "The thread was deleted while the graph ran, or the checkpoint was never stored here. Run the graph again without a checkpoint_id to begin it anew.",
    { details: { threadId } },
  );
}
