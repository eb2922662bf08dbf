import { readFileSync, readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { callIfPresent, hasErrorCode, NOT_PERMITTED } from "./file-system.ts";

/**
 * Tells whether a thread of a process on this machine still runs.
 *
 * @param startedAt - When it started, as `findProcessStart` told it.
 * @returns "unclear" if a process has the number, and the system does not tell this process, or did not tell that one, when it
 *   started.
 */
export function isStillRunning(pid: number, startedAt: string, thread = 0): boolean | "unclear" {
  const start = findProcessStart(pid, thread);
  if (start === undefined) return false;
  return start === "" || startedAt === "" ? "unclear" : start === startedAt;
}

/**
 * Returns when a thread of a process on this machine started, in the system's units.
 *
 * @param thread - 0 for the main thread, -1 if its number is not known.
 * @returns Undefined if it is gone, "" if the system only reports that the process runs.
 */
export function findProcessStart(pid: number, thread = 0): string | undefined {
  if (process.platform !== "linux" || thread < 0) return isRunning(pid) ? "" : undefined;
  const path = `/proc/${pid}/task/${thread || pid}/stat`;
  try {
    const stat = callIfPresent(() => readFileSync(path, "utf8"));
    // Behind the name in parentheses, which may hold anything, the start time is the twentieth field.
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    // A zombie no longer writes.
    return state === "Z" ? undefined : fields[18];
  } catch (error) {
    // It ended meanwhile.
    if (hasErrorCode(error, "ESRCH")) return undefined;
    // Some processes may not read that.
    if (hasErrorCode(error, "EACCES", "EPERM", NOT_PERMITTED)) return isRunning(pid) ? "" : undefined;
    throw error;
  }
}

/**
 * Tells whether a process that runs on this machine started after a moment: then it only has the number of an earlier one.
 *
 * @param timeMs - Milliseconds since 1970.
 * @returns False if the system does not tell.
 * @remarks Starts a process, unless the machine itself started after that moment.
 */
export function hasStartedSince(pid: number, timeMs: number, platform: string = process.platform): boolean {
  if (Date.now() - uptime() * 1000 > timeMs + TOLERANCE_MS) return true;
  const ageMs = findProcessAge(pid, platform);
  return ageMs !== undefined && Date.now() - ageMs > timeMs + TOLERANCE_MS;
}

/** Clocks of a file system and of the system's table of processes differ by less. */
const TOLERANCE_MS = 2_000;

/** How long a process may take that asks for the age of another one. */
const ASKING_MS = 10_000;

/** Returns how many milliseconds a process has been running; undefined if the system does not tell. */
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
  // Loaded late, since hardly any program needs it.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { stdout } = spawnSync(program, args, { encoding: "utf8", timeout: ASKING_MS, windowsHide: true });
  return parseAge(stdout ?? "");
}

/** Parses `[[days-]hours:]minutes:seconds` into milliseconds. */
export function parseAge(text: string): number | undefined {
  const parts = /^\s*(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)\s*$/.exec(text);
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map((part = "0") => Number(part));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
}

/** The system's number of the calling thread: 0 for the main thread; -1 if the system does not report it. */
export function getThread(): number {
  // Loaded late, since only sessions with a lease need it.
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
