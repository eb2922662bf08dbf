import { dirname, join } from "node:path";
import { repairSession, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import type { FileSystem } from "./faulty-fs.ts";

/** Name of an operation that replaces a file. */
export type ReplacementName = "redact" | "upgrade" | "repair" | "merge";

/** Operations that replace a file. A redaction requires an entry `0000000a`; a merge, a file `copy` next to it. */
export const REPLACEMENTS: { readonly [name in ReplacementName]: (path: string, fs: FileSystem) => unknown } =
  {
    redact: (path, fs) => SessionManager.open(path, { fs }).redactEntry("0000000a"),
    upgrade: (path, fs) => SessionManager.open(path, { fs }).upgrade(),
    repair: (path, fs) => repairSession(path, { fs }),
    merge: (path, fs) => mergeSessions(path, join(dirname(path), "copy"), { inPlace: true, fs }),
  };
