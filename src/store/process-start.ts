import { readFileSync } from "node:fs";
import { ifPresent } from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/** When a process of this machine started, as its system counts; undefined if it is gone, "" if the system does not tell. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return isRunning(pid) ? "" : undefined;
  try {
    const stat = ifPresent(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}
