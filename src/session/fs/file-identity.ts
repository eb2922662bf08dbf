import type { BigIntStats } from "node:fs";
import type { FileSystem } from "./file-system.ts";

/** Identifies a file, whatever its name and size. Numbers of files have 64 bits, more than a `number` holds. */
export interface FileIdentity {
  readonly dev: bigint;
  /** The system gives the number of a file that is gone to the next one. */
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** The state of a file at one moment. */
export interface FileState extends FileIdentity {
  readonly size: number;
  readonly mtimeNs: bigint;
}

/** Returns the state of an open file. */
export function getOpenState(fs: FileSystem, fd: number): FileState {
  return toFileState(fs.fstatSync(fd, BIGINT));
}

/** Returns the state of the file at a path, of a link itself; undefined if nothing is there. */
export function findFileState(fs: FileSystem, path: string): FileState | undefined {
  const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && toFileState(stats);
}

/** Tells whether two identities are of one file, even if it has grown in between. */
export function isSameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  if (a === undefined || b === undefined || a.ino !== b.ino) return false;
  // Windows does not always tell the volume of an open file.
  if (IS_WINDOWS) return a.dev === b.dev || a.dev === 0n || b.dev === 0n;
  return a.dev === b.dev && (a.birthtimeNs === b.birthtimeNs || (isUnclear(a) && isUnclear(b)));
}

/**
 * Returns whether two states are of one file that was not written to in between.
 *
 * The change time counts as well, since a program can restore the modification time after it has rewritten a file in place.
 */
export function isSameState(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined || !isSameFile(a, b)) return false;
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** Returns the state that the system's answer describes. */
export function toFileState({ dev, ino, birthtimeNs, ctimeNs, mtimeNs, size }: BigIntStats): FileState {
  return { dev, ino, birthtimeNs, ctimeNs, mtimeNs, size: Number(size) };
}

const BIGINT = { bigint: true } as const;

/** It gives no number twice, but gives a new file the time of an earlier one of the same name. */
const IS_WINDOWS = process.platform === "win32";

/** Whether a system that does not know when a file was made may have told the time of its last change instead. */
function isUnclear({ birthtimeNs, ctimeNs }: FileIdentity): boolean {
  return birthtimeNs === ctimeNs;
}
