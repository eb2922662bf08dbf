import type { BigIntStats } from "node:fs";
import type { FileSystem } from "./file-system.ts";

/** Identity of a file, regardless of its name and size. File numbers have 64 bits, which a `number` cannot represent. */
export interface FileIdentity {
  readonly dev: bigint;
  /** The system may reuse the number of a removed file. */
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** State of a file at a point in time. */
export interface FileState extends FileIdentity {
  readonly size: number;
  readonly mtimeNs: bigint;
}

/** Returns the state of an open file. */
export function getOpenState(fs: FileSystem, fd: number): FileState {
  return toFileState(fs.fstatSync(fd, BIGINT));
}

/** Returns the state of the file at a path, without following symbolic links; undefined if there is no file. */
export function findFileState(fs: FileSystem, path: string): FileState | undefined {
  const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && toFileState(stats);
}

/** Returns whether two identities belong to the same file, even if it has grown in the meantime. */
export function isSameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  if (a === undefined || b === undefined || a.ino !== b.ino) return false;
  // Windows does not always report the volume of an open file.
  if (IS_WINDOWS) return a.dev === b.dev || a.dev === 0n || b.dev === 0n;
  return a.dev === b.dev && (a.birthtimeNs === b.birthtimeNs || (isUnclear(a) && isUnclear(b)));
}

/**
 * Returns whether two states belong to the same file and the file was not modified in the meantime.
 *
 * The change time is also compared, because a program can restore the modification time after rewriting a file in place.
 */
export function isSameState(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined || !isSameFile(a, b)) return false;
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}

/** Converts the system's file statistics to a state. */
export function toFileState({ dev, ino, birthtimeNs, ctimeNs, mtimeNs, size }: BigIntStats): FileState {
  return { dev, ino, birthtimeNs, ctimeNs, mtimeNs, size: Number(size) };
}

const BIGINT = { bigint: true } as const;

/** Windows never reuses a number, but reports the birth time of an earlier file with the same name for a new file. */
const IS_WINDOWS = process.platform === "win32";

/** Returns whether a system that does not record birth times may have reported the time of the last change instead. */
function isUnclear({ birthtimeNs, ctimeNs }: FileIdentity): boolean {
  return birthtimeNs === ctimeNs;
}
