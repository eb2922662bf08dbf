import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { toRecord } from "../../core/context/entry-fields.ts";
import { callQuietly, SessionError } from "../../core/format/errors.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import { parseJson } from "../../core/jsonl/decode.ts";
import { getMonotonicMs, sleepFor } from "../fs/clock.ts";
import { loadCrypto } from "../fs/digest.ts";
import {
  callIfPresent,
  closeQuietly,
  createFile,
  type FileSystem,
  hasErrorCode,
  NotAPlainFileError,
  readRange,
  removeQuietly,
  withOpenFile,
  writeFully,
} from "../fs/file-system.ts";
import { findProcessStart, getThread, hasStartedSince, isStillRunning } from "../fs/process-identity.ts";
import { makeTemporaryPath, removeFile, removeLeftovers, removeTemporary } from "../fs/temporary-files.ts";
import { tryLink } from "../fs/write-whole.ts";

/** Owner of a lease. */
export interface LeaseOwner {
  readonly pid: number;
  /** Thread of the process: 0 for the main thread, or -1 if the system does not report threads. */
  readonly thread: number;
  readonly host: string;
  /** Start time of the thread, in the system's units. Distinguishes it from a later thread with the same number. */
  readonly startedAt: string;
  /** Unique for each lease. */
  readonly token: string;
}

/** Interval at which an owner renews its heartbeat, in milliseconds. */
const HEARTBEAT_MS = 5_000;

/** Time without a heartbeat after which an owner on another machine is considered dead, in milliseconds. */
const DEAD_AFTER_MS = 30_000;

/** Time without a heartbeat, in milliseconds, after which an owner checks that it still holds the lease before it writes. */
const UNSURE_AFTER_MS = 2 * HEARTBEAT_MS;

const POLL_MS = 25;

const MAX_LEASE_BYTES = 4096;

const TOKEN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Token to use if a file has no token because it is damaged or is not a lease. */
const NO_TOKEN = "unknown";

/** Name of the guard file for a dead owner's lease. It remains if a process is killed while removing that lease. */
const GUARD = /^\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.lease$/;

/** Leases of this thread, released when it ends. */
const held = new Set<Lease>();

/** Tokens of leases that this process has released although their files could not be removed. */
const givenUp = new Set<string>();

/** Results of `isLater` by token: whether the owner of a lease has ended although a process has its number. */
const later = new Map<string, boolean>();

/**
 * Exclusive right of one process to write to a session, stored as a small file next to it.
 *
 * A lease is advisory: only processes that request it respect it. On the same machine, a dead owner is distinguished from a slow
 * one by its process, its thread, and their start times; on other machines, by its heartbeat. If another process takes the lease
 * of a slow owner, the owner detects this at its next heartbeat or before its next write, whichever comes first.
 */
export class Lease {
  readonly path: string;
  readonly #fs: FileSystem;
  readonly #owner: LeaseOwner;
  readonly #heart: NodeJS.Timeout;
  readonly #onTaken: () => void;
  #taker: LeaseOwner | undefined;
  #sureAt = Date.now();

  private constructor(fs: FileSystem, path: string, owner: LeaseOwner, onTaken: () => void) {
    this.#fs = fs;
    this.path = path;
    this.#owner = owner;
    this.#onTaken = onTaken;
    this.#heart = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
    if (held.size === 0) process.on("exit", releaseAll);
    held.add(this);
  }

  /**
   * Acquires the lease of a session file.
   *
   * @param waitMs - Maximum time to wait for another owner, in milliseconds; 0 means a single attempt. Blocks the thread.
   * @param onTaken - Called when another owner has taken the lease.
   * @throws {SessionError} `LEASE_HELD`, with the owner in its details.
   */
  static take(fs: FileSystem, sessionPath: string, waitMs: number, onTaken: () => void): Lease {
    const path = `${sessionPath}.lease`;
    const deadline = getMonotonicMs() + waitMs;
    for (;;) {
      const owner = getOwner();
      const holder = tryTake(fs, path, owner);
      if (holder === undefined) {
        const lease = new Lease(fs, path, owner, onTaken);
        removeDeadLeases(fs, dirname(path), owner);
        return lease;
      }
      if (getMonotonicMs() >= deadline) throw makeLeaseHeldError(sessionPath, holder);
      sleepFor(POLL_MS);
    }
  }

  /**
   * Returns the owner that has taken the lease from this one, or undefined while it is still held. Checks the file if the last
   * heartbeat is old.
   */
  get taker(): LeaseOwner | undefined {
    const isUnsure = Math.abs(Date.now() - this.#sureAt) >= UNSURE_AFTER_MS;
    if (isUnsure && held.has(this)) this.#beat();
    return this.#taker;
  }

  /** Releases the lease. Idempotent. */
  release(): void {
    if (this.#stop()) giveUp(this.#fs, this.path, this.#owner);
  }

  /** Stops the heartbeat. Returns false if it was already stopped. */
  #stop(): boolean {
    if (!held.delete(this)) return false;
    clearInterval(this.#heart);
    if (held.size === 0) process.off("exit", releaseAll);
    return true;
  }

  #beat(): void {
    const now = new Date();
    try {
      const holder = callIfPresent(() => readOwner(this.#fs, this.path));
      if (holder?.token === this.#owner.token) this.#fs.utimesSync(this.path, now, now);
      // A removed lease is restored, because no other process holds it.
      else if (holder !== undefined || !tryCreate(this.#fs, this.path, this.#owner)) {
        this.#taker = holder ?? readOwner(this.#fs, this.path);
      }
      this.#sureAt = now.getTime();
    } catch (error) {
      // On this machine, the running process proves that the owner is alive, so a failed heartbeat must not end it.
      if (!(error instanceof Error)) throw error;
    }
    if (this.#taker === undefined) return;
    this.#stop();
    this.#onTaken();
  }
}

function releaseAll(): void {
  for (const lease of [...held]) lease.release();
}

function getOwner(): LeaseOwner {
  const { pid } = process;
  const thread = getThread();
  return {
    pid,
    thread,
    host: hostname(),
    startedAt: findProcessStart(pid, thread) ?? "",
    token: loadCrypto().randomUUID(),
  };
}

/** Acquires a lease, or returns the current owner if it is alive. */
function tryTake(fs: FileSystem, path: string, owner: LeaseOwner): LeaseOwner | undefined {
  for (;;) {
    if (tryCreate(fs, path, owner)) return undefined;
    const holder = callIfPresent(() => readOwner(fs, path));
    if (holder === undefined) continue;
    if (isAlive(fs, path, holder)) return holder;
    const other = removeDead(fs, path, holder, owner);
    if (other !== undefined) return other;
  }
}

/**
 * Removes the lease of a dead owner.
 *
 * The removing process first acquires a lease on the dead lease, so that no process removes a new lease by mistake. That guard
 * is an ordinary lease, so the death of its owner is detected in the same way.
 *
 * @returns The competing owner that is removing the lease; undefined if there is none.
 */
function removeDead(
  fs: FileSystem,
  path: string,
  dead: LeaseOwner,
  owner: LeaseOwner,
): LeaseOwner | undefined {
  const guard = join(dirname(path), `.${dead.token}.lease`);
  if (guard === path) {
    removeQuietly(fs, path);
    return undefined;
  }
  const other = tryTake(fs, guard, owner);
  if (other !== undefined) return other;
  try {
    const holder = callIfPresent(() => readOwner(fs, path));
    if (holder?.token === dead.token) removeFile(fs, path);
    return undefined;
  } finally {
    giveUp(fs, guard, owner);
  }
}

/**
 * Removes a lease if the owner still holds it. A lease that cannot be removed is treated as a dead owner's lease from then on.
 */
function giveUp(fs: FileSystem, path: string, { token }: LeaseOwner): void {
  givenUp.add(token);
  callQuietly(() => {
    const holder = callIfPresent(() => readOwner(fs, path));
    if (holder?.token === token) removeFile(fs, path);
    givenUp.delete(token);
  });
}

function isAlive(fs: FileSystem, path: string, { host, pid, thread, startedAt, token }: LeaseOwner): boolean {
  if (givenUp.has(token)) return false;
  if (host === hostname() && pid > 0) {
    const isRunning = isStillRunning(pid, startedAt, thread);
    if (isRunning !== "unclear") return isRunning;
  }
  const beatAt = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (beatAt === undefined) return false;
  // A heartbeat in the future comes from a wrong clock, and would be considered current forever.
  if (Math.abs(Date.now() - beatAt) < DEAD_AFTER_MS) return true;
  // Another process may have been assigned the owner's number. If the system does not report threads, a running process proves
  // nothing.
  return host === hostname() && pid > 0 && thread !== -1 && !isLater(token, pid, beatAt);
}

/** Returns whether the process with an owner's number started later. Checks once per lease, because the check is slow. */
function isLater(token: string, pid: number, beatAt: number): boolean {
  return getOrAdd(later, token, () => hasStartedSince(pid, beatAt));
}

/** Removes files that dead processes abandoned while acquiring leases. Failures are harmless. */
function removeDeadLeases(fs: FileSystem, folder: string, owner: LeaseOwner): void {
  callQuietly(() => {
    removeLeftovers(fs, folder);
    for (const name of fs.readdirSync(folder)) {
      if (!GUARD.test(name)) continue;
      const path = join(folder, name);
      const holder = callIfPresent(() => readOwner(fs, path));
      if (holder === undefined || isAlive(fs, path, holder)) continue;
      removeDead(fs, path, holder, owner);
    }
  });
}

function tryCreate(fs: FileSystem, path: string, owner: LeaseOwner): boolean {
  // The file is written under a temporary name and then linked, so that readers never see a lease without an owner.
  const own = makeTemporaryPath(dirname(path));
  try {
    writeOwner(fs, own, owner);
    // Without links, a reader may see such a lease. It is considered alive because its file is recent.
    if (!tryLink(fs, own, path)) writeOwner(fs, path, owner);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    removeTemporary(fs, own);
  }
}

function writeOwner(fs: FileSystem, path: string, owner: LeaseOwner): void {
  const fd = createFile(fs, path);
  try {
    writeFully(fs, fd, Buffer.from(JSON.stringify(owner)));
  } catch (error) {
    removeQuietly(fs, path);
    throw error;
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Reads the owner of a lease. An invalid lease is treated as held by a dead owner. */
function readOwner(fs: FileSystem, path: string): LeaseOwner {
  if (!fs.lstatSync(path).isFile()) throw new NotAPlainFileError(`${path} is not a plain file`);
  const bytes = withOpenFile(fs, path, (fd) =>
    readRange(fs, fd, 0, Math.min(MAX_LEASE_BYTES, fs.fstatSync(fd).size)),
  );
  const { pid, thread, host, startedAt, token } = toRecord(parseJson(bytes.toString())?.value);
  return {
    pid: typeof pid === "number" ? pid : 0,
    thread: typeof thread === "number" ? thread : 0,
    host: typeof host === "string" ? host : "",
    startedAt: typeof startedAt === "string" ? startedAt : "",
    // The token is used in a file name.
    token: typeof token === "string" && TOKEN.test(token) ? token : NO_TOKEN,
  };
}

/** Creates the error for a lease that another owner took from this one. */
export function makeLeaseTakenError(path: string, { pid, host }: LeaseOwner): SessionError {
  const message = `Process ${pid} on ${host} has taken the lease of ${path}, because this one's heartbeat expired. Open the session again.`;
  return new SessionError("LEASE_HELD", message, { details: { path, pid, host } });
}

function makeLeaseHeldError(path: string, { pid, host }: LeaseOwner): SessionError {
  const message = `Process ${pid} on ${host} holds the lease of ${path}. Wait until it closes the session, or open it read-only.`;
  return new SessionError("LEASE_HELD", message, { details: { path, pid, host } });
}
