import { readFileSync, readlinkSync } from "node:fs";
import { ifPresent } from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/**
 * When a thread of a process of this machine started, as its system counts.
 *
 * @param thread - 0 for the main thread.
 * @returns Undefined if it is gone, "" if the system does not tell more than that the process runs.
 */
export function startOf(pid: number, thread = 0): string | undefined {
  if (process.platform !== "linux") return isRunning(pid) ? "" : undefined;
  const path = `/proc/${pid}/task/${thread || pid}/stat`;
  try {
    const stat = ifPresent(() => readFileSync(path, "utf8"));
    // Behind the name in parentheses, which may hold anything, the start time is the twentieth field.
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    // A zombie writes no more.
    return state === "Z" ? undefined : fields[18];
  } catch (error) {
    // It ended while it was asked for.
    if (hasErrorCode(error, "ESRCH")) return undefined;
    throw error;
  }
}

/** The system's number of the thread that asks: 0 for the main thread; -1 if the system does not tell. */
export function thisThread(): number {
  // Loaded here, since only sessions with a lease ask.
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
