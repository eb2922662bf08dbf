import { readFileSync, readlinkSync } from "node:fs";
import { hasErrorCode, ifPresent } from "./file-system.ts";

/**
 * Returns when a thread of a process on this machine started, in the system's units.
 *
 * @param thread - 0 for the main thread.
 * @returns Undefined if it is gone, "" if the system only reports that the process runs.
 */
export function startOf(pid: number, thread = 0): string | undefined {
  if (process.platform !== "linux") return isRunning(pid) ? "" : undefined;
  const path = `/proc/${pid}/task/${thread || pid}/stat`;
  try {
    const stat = ifPresent(() => readFileSync(path, "utf8"));
    // Behind the name in parentheses, which may hold anything, the start time is the twentieth field.
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    // A zombie no longer writes.
    return state === "Z" ? undefined : fields[18];
  } catch (error) {
    // It ended meanwhile.
    if (hasErrorCode(error, "ESRCH")) return undefined;
    throw error;
  }
}

/** The system's number of the calling thread: 0 for the main thread; -1 if the system does not report it. */
export function thisThread(): number {
  // Loaded late, since only sessions with a lease need it.
  if (process.getBuiltinModule("node:worker_threads").isMainThread) return 0;
  if (process.platform !== "linux") return -1;
  return Number(/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? -1);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}
