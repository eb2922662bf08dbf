import { readFileSync, readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { callIfPresent, hasErrorCode, NOT_PERMITTED } from "./file-system.ts";

/**
 * Returns whether a thread of a process on this machine is still running.
 *
 * @param startedAt - Start time, as returned by `findProcessStart`.
 * @returns `"unclear"` if a process has the number but its start time is unknown, either now or when `startedAt` was determined.
 */
export function isStillRunning(pid: number, startedAt: string, thread = 0): boolean | "unclear" {
  const start = findProcessStart(pid, thread);
  if (start === undefined) return false;
  return start === "" || startedAt === "" ? "unclear" : start === startedAt;
}

/**
 * Returns the start time of a thread of a process on this machine, in the system's units.
 *
 * @param thread - 0 for the main thread, -1 if its number is unknown.
 * @returns Undefined if the thread has ended; `""` if the system reports only that the process is running.
 */
export function findProcessStart(pid: number, thread = 0): string | undefined {
  if (process.platform !== "linux" || thread < 0) return isRunning(pid) ? "" : undefined;
  const path = `/proc/${pid}/task/${thread || pid}/stat`;
  try {
    const stat = callIfPresent(() => readFileSync(path, "utf8"));
    // After the name in parentheses, which may contain any characters, the start time is the twentieth field.
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    // A zombie no longer writes.
    return state === "Z" ? undefined : fields[18];
  } catch (error) {
    // The process ended in the meantime.
    if (hasErrorCode(error, "ESRCH")) return undefined;
    // Some processes are not permitted to read this file.
    if (hasErrorCode(error, "EACCES", "EPERM", NOT_PERMITTED)) return isRunning(pid) ? "" : undefined;
    throw error;
  }
}

/**
 * Returns whether a process on this machine started after a given time, in which case it has reused the number of an earlier
 * process.
 *
 * @param timeMs - Milliseconds since 1970.
 * @returns False if the system does not report the age of processes.
 * @remarks Starts a process, unless the machine itself started after that time.
 */
export function hasStartedSince(pid: number, timeMs: number, platform: string = process.platform): boolean {
  if (Date.now() - uptime() * 1000 > timeMs + TOLERANCE_MS) return true;
  const ageMs = findProcessAge(pid, platform);
  return ageMs !== undefined && Date.now() - ageMs > timeMs + TOLERANCE_MS;
}

/** Maximum difference between the clocks of a file system and the process table, in milliseconds. */
const TOLERANCE_MS = 2_000;

/** Time limit for the process that determines the age of another process, in milliseconds. */
const ASKING_MS = 10_000;

/** Returns how long a process has been running, in milliseconds; undefined if the system does not report it. */
function findProcessAge(pid: number, platform: string): number | undefined {
  const [program, args] =
    platform === "win32"
      ? ([
          "powershell",
          [
            "-NoProfile",
            "-NonInteractive",
            "-Command",
            `((Get-Date) - (Get-Process -Id ${pid}).StartTime).ToString("d\\-hh\\:mm\\:ss")`,
          ],
        ] as const)
      : (["ps", ["-o", "etime=", "-p", String(pid)]] as const);
  // Loaded on demand, because it is rarely required.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync(program, args, { encoding: "utf8", timeout: ASKING_MS, windowsHide: true });
  return parseAge(stdout ?? "");
}

/** Parses a duration in the form `[[days-]hours:]minutes:seconds`, and returns it in milliseconds. */
export function parseAge(text: string): number | undefined {
  const parts = /^\s*(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)\s*$/.exec(text);
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part = "0") => Number(part));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** Returns the system's number for the calling thread: 0 for the main thread, or -1 if the system does not report it. */
export function getThread(): number {
  // Loaded on demand, because only sessions with a lease require it.
  if (process.getBuiltinModule("node:worker_threads").isMainThread) return 0;
  if (process.platform !== "linux") return -1;
  try {
    return Number(/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1] ?? -1);
  } catch (error) {
    if (hasErrorCode(error, "EACCES", "EPERM", NOT_PERMITTED)) return -1;
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
