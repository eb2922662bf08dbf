import { copyLines, wholeCopy } from "../../../session/log/canonical-copy.ts";
import { branchLines, planBranch } from "../../../session/manager/fork.ts";
import { SessionState } from "../../../session/manager/session-state.ts";
import type { ExportSource } from "./source.ts";

/**
 * Writes a session file: a branch under the header of its session, or all branches.
 *
 * @throws {SessionError} `VERSION_TOO_NEW`
 * @remarks Cost: O(bytes copied).
 */
export function* jsonl({ session, leaf, isFull }: ExportSource): Generator<string | Uint8Array, void> {
  const { log } = session;
  const whole = wholeCopy(log.index);
  if (isFull) {
    yield* copyLines(log, whole);
    return;
  }
  const state = new SessionState(log, {});
  yield* branchLines(state, planBranch(state, leaf, whole.header));
}
