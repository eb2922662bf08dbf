import type { Stats } from "node:fs";

/** Identifies a file, whatever its name and size. */
export interface FileIdentity {
  readonly dev: number;
  /** The system gives the number of a file that is gone to the next one. */
  readonly ino: number;
  readonly birthtimeMs: number;
  readonly ctimeMs: number;
}

/** Returns the identity of a file. */
export function identityOf({ dev, ino, birthtimeMs, ctimeMs }: Stats): FileIdentity {
  return { dev, ino, birthtimeMs, ctimeMs };
}

/** Tells whether two identities are of one file, even if it has grown in between. */
export function isSameFile(a: FileIdentity | undefined, b: FileIdentity): boolean {
  if (a?.ino !== b.ino || a.dev !== b.dev) return false;
  return a.birthtimeMs === b.birthtimeMs || (isUnclear(a) && isUnclear(b));
}

/** Whether a system that does not know when a file was made may have told the time of its last change instead. */
function isUnclear({ birthtimeMs, ctimeMs }: FileIdentity): boolean {
  return birthtimeMs === ctimeMs;
}
