import { basename, dirname, join } from "node:path";
import { hashSha256 } from "../fs/digest.ts";
import { isTemporaryName } from "../fs/temporary-files.ts";
import { MAX_NAME_BYTES } from "./session-paths.ts";

/** Maximum number of files that can be set aside in one replacement. */
export const MAX_STRAYS = 9;

/**
 * Maximum length of a name, in bytes, that leaves room for a dot before it and `.lease` or `.old.9` after it.
 */
const MAX_KEY_BYTES = MAX_NAME_BYTES - ".".length - ".lease".length;

const KEY_DIGITS = 16;

/** Matches the digest that replaces a session file name that is too long. */
const KEY = new RegExp(`^[0-9a-f]{${KEY_DIGITS}}$`);

/** Matches the name of a session file with a suffix for a backup or the side file of a repair, and an optional number. */
const BACKUP = /^(.+?)(?:\.v\d+)?\.(?:bak|damaged)(?:\.\d+)?$/;

/** Matches the name of a session file, followed by the process that saves a partial answer next to it, and a number. */
const PARTIAL = /^(.+)\.([0-9a-f]{8}-\d+-\d*)-\d+\.partial$/;

/** Maximum number of bytes that follow the session file name in the name of a partial answer. */
const PARTIAL_BYTES = 64;

/** Matches the hidden name of an old file or of a file that was set aside. */
const OLD = new RegExp(`^\\.(.+)\\.old(?:\\.[1-${MAX_STRAYS}])?$`);

/**
 * Type of a file that is next to sessions and contains text from them, derived from its name.
 *
 * `backup`: a backup of an upgrade, a repair, or a merge in place, or the side file of a repair; `old`: a file that was moved
 * away until its replacement is complete; `partial`: a partial answer; `temporary`: a file that is being written.
 */
export interface WrittenName {
  readonly kind: "backup" | "old" | "partial" | "temporary";
  /** Name of the session file; undefined if the name does not contain it. */
  readonly session?: string | undefined;
  /** Process that saves a partial answer; see `isOwnOrLeft`. */
  readonly owner?: string | undefined;
}

/**
 * Returns the type of a file next to sessions, derived from its name. Returns undefined if this library does not write such
 * files.
 *
 * This is the only list of these names. All code that searches for, removes, or sweeps such files uses it.
 *
 * @param isSession - Returns whether a name can be the name of a session file.
 */
export function parseWrittenName(
  name: string,
  isSession: (name: string) => boolean = (one) => one.endsWith(".jsonl"),
): WrittenName | undefined {
  if (isTemporaryName(name)) return { kind: "temporary" };
  const [, kept] = BACKUP.exec(name) ?? [];
  if (kept !== undefined && isSession(kept)) return { kind: "backup", session: kept };
  const [, answered = "", owner] = PARTIAL.exec(name) ?? [];
  if (owner !== undefined && isSession(answered)) return { kind: "partial", session: answered, owner };
  if (owner !== undefined) return KEY.test(answered) ? { kind: "partial", owner } : undefined;
  const [, replaced] = OLD.exec(name) ?? [];
  if (replaced === undefined) return undefined;
  if (isSession(replaced)) return { kind: "old", session: replaced };
  return KEY.test(replaced) ? { kind: "old" } : undefined;
}

/** Returns the name for a backup of a session's file. `version` is the version before an upgrade. */
export function makeBackupName(path: string, version?: number): string {
  return `${basename(path)}${version === undefined ? "" : `.v${version}`}.bak`;
}

/** Returns the path for bytes that a repair removes from a session's file. */
export function makeSideFilePath(path: string): string {
  return `${path}.damaged`;
}

/** Returns the path for a partial answer. */
export function partialAnswerPath(path: string, owner: string, number: number): string {
  const key = makeFileKey(path, MAX_NAME_BYTES - PARTIAL_BYTES);
  return join(dirname(path), `${key}.${owner}-${number}.partial`);
}

/** Returns whether a partial answer belongs to the session's file next to it, based on their names. */
export function isPartialAnswerName(name: string, path: string): boolean {
  return PARTIAL.test(name) && name.startsWith(`${makeFileKey(path, MAX_NAME_BYTES - PARTIAL_BYTES)}.`);
}

/** Returns the path of the lock of a replacement, whose lease is next to it. */
export function lockPath(path: string): string {
  return join(dirname(path), `.${makeFileKey(path)}`);
}

/** Returns the hidden path of an old file while its last lines are copied. */
export function makeOldFilePath(path: string): string {
  return join(dirname(path), `.${makeFileKey(path)}.old`);
}

/** Returns the hidden path for a file that another program created at the path while no file was there. */
export function makeStrayPath(path: string, number: number): string {
  return `${makeOldFilePath(path)}.${number}`;
}

/** Returns the name of the session whose old file has this hidden name; undefined for any other name. */
export function findOldFileName(hidden: string): string | undefined {
  const { kind, session } = parseWrittenName(hidden) ?? {};
  return kind === "old" && hidden.endsWith(".old") ? session : undefined;
}

/** Returns a file's name, or its digest if the name leaves no room for a prefix and a suffix. */
function makeFileKey(path: string, maxBytes = MAX_KEY_BYTES): string {
  const name = basename(path);
  return Buffer.byteLength(name) <= maxBytes ? name : hashSha256(name).slice(0, KEY_DIGITS);
}
