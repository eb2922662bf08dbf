import { SessionError } from "../../../core/format/errors.ts";
import { checkpointKey, type ThreadState } from "./thread-state.ts";

/** Where a checkpoint is, in its thread. */
export type CheckpointPlace = readonly [ns: string, id: string];

/** Checkpoints that are remembered at most: about two megabytes. */
const MAX_CHECKPOINTS = 20_000;

/**
 * The checkpoints of threads that were deleted while they were open, the latest ones, so that a run of such a thread writes
 * nothing to the next one of its id.
 */
export class DeletedThreads {
  readonly #keys = new Set<string>();

  note({ thread, places }: ThreadState): void {
    if (thread === undefined) return;
    for (const place of places) this.#keys.add(checkpointKey(thread.id, ...place));
    for (const oldest of this.#keys) {
      if (this.#keys.size <= MAX_CHECKPOINTS) return;
      this.#keys.delete(oldest);
    }
  }

  /**
   * Tells whether one of these checkpoints was in a deleted thread, and is not in the one that has its id now. Checkpoints
   * that no thread has had are not refused: a run may put them late.
   */
  held(threadId: string, state: ThreadState | undefined, places: readonly CheckpointPlace[]): boolean {
    return places.some(
      (place) => state?.find(...place) === undefined && this.#keys.has(checkpointKey(threadId, ...place)),
    );
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
