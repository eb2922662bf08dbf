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
export function stateOfOpen(fs: FileSystem, fd: number): FileState {
  return stateOf(fs.fstatSync(fd, BIGINT));
}

/** Returns the state of the file at a path, of a link itself; undefined if nothing is there. */
export function stateAt(fs: FileSystem, path: string): FileState | undefined {
  const stats = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && stateOf(stats);
}

/** Tells whether two identities are of one file, even if it has grown in between. */
export function isSameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  if (a === undefined || b === undefined || a.ino !== b.ino) return false;
  // Windows does not always tell the volume of an open file.
  if (IS_WINDOWS) return a.dev === b.dev || a.dev === 0n || b.dev === 0n;
  return a.dev === b.dev && (a.birthtimeNs === b.birthtimeNs || (isUnclear(a) && isUnclear(b)));
}

/** Returns the state that the system's answer describes. */
export function stateOf({ dev, ino, birthtimeNs, ctimeNs, mtimeNs, size }: BigIntStats): FileState {
  return { dev, ino, birthtimeNs, ctimeNs, mtimeNs, size: Number(size) };
}

const BIGINT = { bigint: true } as const;

/** It gives no number twice, but gives a new file the time of an earlier one of the same name. */
const IS_WINDOWS = process.platform === "win32";

/** Whether a system that does not know when a file was made may have told the time of its last change instead. */
function isUnclear({ birthtimeNs, ctimeNs }: FileIdentity): boolean {
  return birthtimeNs === ctimeNs;
}
