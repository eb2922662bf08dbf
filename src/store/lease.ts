import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { SessionError } from "../errors.ts";
import { parseJson } from "../jsonl/decode.ts";
import { isJsonRecord } from "../schema/json.ts";
import { FILE_MODE, type FileSystem, ifPresent, openForReading, readRange } from "./file-system.ts";
import { hasErrorCode } from "./system-error.ts";

/** What to do if another process holds the lease of a session: nothing, throw, only read, or wait for it. */
export type LeaseMode = "none" | "fail" | "read-only" | "wait";

/** Who holds a lease. */
export interface LeaseOwner {
  readonly pid: number;
  readonly host: string;
  /** When the process started, as its system counts; tells a process from a later one with its number. */
  readonly startedAt: string;
  /** Unique for each lease. */
  readonly token: string;
}

/** How often an owner says that it is there. */
const HEARTBEAT_MS = 5_000;

/** After this long without a heartbeat, an owner on another machine counts as dead. */
const DEAD_AFTER_MS = 30_000;

const POLL_MS = 25;

/** Leases of this process, to be given up when it ends. */
const held = new Set<Lease>();

/**
 * The right of one process to write to a session, kept as a small file beside it.
 *
 * A lease binds only those who ask for one. An owner that died is told from one that is slow: on the same machine by
 * its process and when that started, from elsewhere by its heartbeat.
 */
export class Lease {
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #owner: LeaseOwner;
  readonly #heart: NodeJS.Timeout;

  private constructor(fs: FileSystem, path: string, owner: LeaseOwner) {
    this.#fs = fs;
    this.path = path;
    this.#owner = owner;
    this.#heart = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    if (held.size === 0) process.on("exit", releaseAll);
    held.add(this);
  }

  /**
   * Takes the lease of a session file.
   *
   * @param waitMs - How long to wait for another owner; 0 asks once. Blocks the thread meanwhile.
   * @throws {SessionError} `LEASE_HELD`, with the owner in its details.
   */
  static take(fs: FileSystem, sessionPath: string, waitMs: number): Lease {
    const path = `${sessionPath}.lease`;
    const deadline = performance.now() + waitMs;
    for (;;) {
      const owner = thisProcess();
      if (tryCreate(fs, path, owner)) return new Lease(fs, path, owner);
      const holder = ifPresent(() => readOwner(fs, path));
      if (holder !== undefined && !isAlive(fs, path, holder)) {
        removeDead(fs, path, holder);
        continue;
      }
      if (holder !== undefined && performance.now() >= deadline) throw leaseHeld(sessionPath, holder);
      if (holder !== undefined) sleep(POLL_MS);
    }
  }

  /** Gives the lease up. Idempotent. */
  release(): void {
    if (!held.delete(this)) return;
    clearInterval(this.#heart);
    if (held.size === 0) process.off("exit", releaseAll);
    const holder = ifPresent(() => readOwner(this.#fs, this.path));
    if (holder?.token === this.#owner.token) ifPresent(() => this.#fs.unlinkSync(this.path));
  }

  #beat(): void {
    const now = new Date();
    ifPresent(() => this.#fs.utimesSync(this.path, now, now));
  }
}

function releaseAll(): void {
  for (const lease of [...held]) lease.release();
}

function thisProcess(): LeaseOwner {
  const { pid } = process;
  return { pid, host: hostname(), startedAt: startOf(pid) ?? "", token: randomUUID() };
}

/** When a process of this machine started; undefined if it is gone, "" if the system does not tell. */
function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return isRunning(pid) ? "" : undefined;
  const stat = ifPresent(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // Behind the name in parentheses, which may hold anything, the start time is the twentieth field.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}

function isAlive(fs: FileSystem, path: string, { host, pid, startedAt }: LeaseOwner): boolean {
  if (host === hostname() && pid > 0) return startOf(pid) === startedAt;
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs < DEAD_AFTER_MS;
}

function tryCreate(fs: FileSystem, path: string, owner: LeaseOwner): boolean {
  // Written under a name of its own and then linked, so that nobody ever sees a lease without its owner.
  const own = `${path}.${owner.token}`;
  const fd = fs.openSync(own, "wx", FILE_MODE);
  try {
    fs.writeSync(fd, Buffer.from(JSON.stringify(owner)));
  } finally {
    fs.closeSync(fd);
  }
  try {
    fs.linkSync(own, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    fs.unlinkSync(own);
  }
}

/** Reads who holds a lease; what is no lease counts as held by nobody who is alive here. */
function readOwner(fs: FileSystem, path: string): LeaseOwner {
  const fd = openForReading(fs, path);
  try {
    const text = readRange(fs, fd, 0, Math.min(4096, fs.fstatSync(fd).size)).toString();
    const value = parseJson(text)?.value;
    const record = isJsonRecord(value) ? value : {};
    const { pid, host, startedAt, token } = record;
    return {
      pid: typeof pid === "number" ? pid : 0,
      host: typeof host === "string" ? host : "",
      startedAt: typeof startedAt === "string" ? startedAt : "",
      token: typeof token === "string" ? token : "",
    };
  } finally {
    fs.closeSync(fd);
  }
}

/** Takes away the lease of a dead owner, unless somebody else has done so and taken the lease. */
function removeDead(fs: FileSystem, path: string, dead: LeaseOwner): void {
  const aside = `${path}.${randomUUID()}`;
  ifPresent(() => fs.renameSync(path, aside));
  const moved = ifPresent(() => readOwner(fs, aside));
  if (moved === undefined) return;
  if (moved.token !== dead.token) restore(fs, aside, path);
  fs.unlinkSync(aside);
}

/** Gives a lease that was moved by mistake its name back, unless the next one has it already. */
function restore(fs: FileSystem, aside: string, path: string): void {
  try {
    fs.linkSync(aside, path);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

function leaseHeld(path: string, { pid, host }: LeaseOwner): SessionError {
  return new SessionError(
    "LEASE_HELD",
    `Process ${pid} on ${host} has the lease of ${path}. Wait until it closes the session, or open it read-only.`,
    { details: { path, pid, host } },
  );
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
