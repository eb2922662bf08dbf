import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { hashSha256, loadCrypto } from "./digest.ts";
import {
  callIfPresent,
  type FileSystem,
  isKeepingOpenFiles,
  removeQuietly,
  retryWhileHeld,
} from "./file-system.ts";
import { findProcessStart, isStillRunning } from "./process-identity.ts";

/** Time without changes after which a temporary file from another machine is treated as a leftover, in milliseconds. */
const LEFT_OVER_AFTER_MS = 60 * 60 * 1000;

/** Suffixes of the files that SQLite writes next to a database. */
export const BESIDE_DATABASE = ["-wal", "-shm", "-journal"] as const;

/**
 * Matches the name of a temporary file, which contains its owner's machine, process, and start time. The file may be a database
 * or next to one.
 */
const NAME = new RegExp(
  `^\\.([0-9a-f]{8})-(\\d+)-(\\d*)-[0-9a-f]{16}\\.tmp(?:${BESIDE_DATABASE.join("|")})?$`,
);

let machineName: string | undefined;
let ownStart: string | undefined;

/** Files of this process that could not be removed. */
const abandoned = new Set<string>();

/**
 * Returns a new path for a temporary file. Its name identifies the owner.
 *
 * @param folder - Folder of the final file.
 */
export function makeTemporaryPath(folder: string): string {
  // The name is short, because the final name may have the maximum length that the system allows.
  const unique = loadCrypto().randomBytes(8).toString("hex");
  return join(folder, `.${ownerName()}-${unique}.tmp`);
}

/** Returns the part of file names that identifies this process: machine, process, and start time. */
export function ownerName(): string {
  ownStart ??= findProcessStart(process.pid) ?? "";
  return `${getMachine()}-${process.pid}-${ownStart}`;
}

/** Returns whether the process identified by a file's name is this process or has ended. */
export function isOwnOrLeft(fs: FileSystem, path: string, owner: string): boolean {
  const [host = "", pid, startedAt = ""] = owner.split("-");
  return owner === ownerName() || isLeft(fs, path, host, Number(pid), startedAt);
}

/** Returns whether a name belongs to a temporary file, or to a file next to a temporary database. */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}

/** Removes a temporary file. If this fails, it is retried when leftovers are removed. */
export function removeTemporary(fs: FileSystem, path: string): void {
  if (!removeQuietly(fs, path)) abandoned.add(path);
}

/**
 * Removes a file if it exists, so that its name is available immediately.
 *
 * Windows keeps the name of a removed file until the last process closes it, so the file is renamed first.
 */
export function removeFile(fs: FileSystem, path: string): void {
  if (!isKeepingOpenFiles(fs)) {
    callIfPresent(() => fs.unlinkSync(path));
    return;
  }
  const temporary = makeTemporaryPath(dirname(path));
  const isThere = callIfPresent(() => {
    retryWhileHeld(fs, () => fs.renameSync(path, temporary));
    return true;
  });
  if (isThere) removeTemporary(fs, temporary);
}

/**
 * Removes the temporary files of killed processes, which may contain text that has since been redacted.
 *
 * @remarks Cost: O(names in the folder).
 */
export function removeLeftovers(fs: FileSystem, folder: string): void {
  for (const path of abandoned) if (removeQuietly(fs, path)) abandoned.delete(path);
  for (const name of fs.readdirSync(folder)) {
    const [, host, pid, startedAt = ""] = NAME.exec(name) ?? [];
    if (host === undefined) continue;
    const path = join(folder, name);
    if (isLeft(fs, path, host, Number(pid), startedAt)) removeQuietly(fs, path);
  }
}

/**
 * Returns whether the owner of a temporary file has ended. If the system does not report start times, another process may have
 * its number.
 */
function isLeft(fs: FileSystem, path: string, host: string, pid: number, startedAt: string): boolean {
  if (host !== getMachine()) return isOld(fs, path);
  const isRunning = isStillRunning(pid, startedAt);
  return isRunning === "unclear" ? pid !== process.pid && isOld(fs, path) : !isRunning;
}

/** Returns eight characters that identify this machine. */
function getMachine(): string {
  machineName ??= hashSha256(hostname()).slice(0, 8);
  return machineName;
}

function isOld(fs: FileSystem, path: string): boolean {
  const stats = callIfPresent(() => fs.lstatSync(path));
  return stats !== undefined && Date.now() - stats.ctimeMs > LEFT_OVER_AFTER_MS;
}
