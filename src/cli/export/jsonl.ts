import { copyLines, wholeCopy } from "../../log/canonical-copy.ts";
import { branchLines, planBranch } from "../../manager/fork.ts";
import { openLog } from "../../manager/open-session.ts";
import { SessionCore } from "../../manager/session-core.ts";
import { coreOptions } from "../../manager/session-options.ts";
import type { ExportSource } from "./source.ts";

/**
 * Writes a session file: a branch under the header of its session, or all branches.
 *
 * @throws {SessionError} `VERSION_TOO_NEW`
 * @remarks Cost: O(bytes copied).
 */
export function* jsonl({ session, leaf, isFull }: ExportSource): Generator<string | Uint8Array, void> {
  const log = openLog(session.path, { mode: "read-only" });
  const unpin = log.pin();
  try {
    const whole = wholeCopy(log.index);
    if (isFull) {
      yield* copyLines(log, whole);
      return;
    }
    const core = new SessionCore(log, coreOptions({}));
    yield* branchLines(core, planBranch(core, leaf, whole.header));
  } finally {
    unpin();
  }
}
