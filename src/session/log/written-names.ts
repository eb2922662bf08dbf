import { basename, dirname, join } from "node:path";
import { hashSha256 } from "../fs/digest.ts";
import { isTemporaryName } from "../fs/temporary-files.ts";
import { MAX_NAME_BYTES } from "./session-paths.ts";

/** Files that are set aside in one replacement at most. */
export const MAX_STRAYS = 9;

/** Bytes of a name that leave room for a dot before it and `.lease` or `.old.9` after it, as file systems count. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - ".".length - ".lease".length;

const KEY_DIGITS = 16;

/** What stands for the name of a session's file that is too long. */
const KEY = new RegExp(`^[0-9a-f]{${KEY_DIGITS}}$`);

/** Name of a session's file, with what is added to it for a backup or the side file of a repair, and a number. */
const BACKUP = /^(.+?)(?:\.v\d+)?\.(?:bak|damaged)(?:\.\d+)?$/;

/** Name of a session's file, with the process that saves a partial answer next to it, and a number. */
const PARTIAL = /^(.+)\.([0-9a-f]{8}-\d+-\d*)-\d+\.partial$/;

/** Bytes that follow the name of a session's file in that of a partial answer, at most. */
const PARTIAL_BYTES = 64;

/** The hidden name of an old file, or of one that was set aside. */
const OLD = new RegExp(`^\\.(.+)\\.old(?:\\.[1-${MAX_STRAYS}])?$`);

/**
 * A file next to sessions that holds text of them, by its name.
 *
 * `backup`: what an upgrade, a repair or a merge in place keeps, and the side file of a repair; `old`: what a replacement moves
 * away until it is done; `partial`: what had arrived of an answer; `temporary`: what is being written.
 */
export interface WrittenName {
  readonly kind: "backup" | "old" | "partial" | "temporary";
  /** Name of the session's file; undefined if the name does not say it. */
  readonly session?: string | undefined;
  /** Process that saves a partial answer; see `isOwnOrLeft`. */
  readonly owner?: string | undefined;
}

/**
 * Returns what a file next to sessions is, by its name; undefined if this library writes no such file.
 *
 * The only list of these names: whatever searches, removes or sweeps such files asks here.
 *
 * @param isSession - Returns whether a session's file may have a name.
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

/** Returns the name for a backup of a session's file; the version is that before an upgrade. */
export function makeBackupName(path: string, version?: number): string {
  return `${basename(path)}${version === undefined ? "" : `.v${version}`}.bak`;
}

/** Returns the path for bytes that a repair takes out of a session's file. */
export function makeSideFilePath(path: string): string {
  return `${path}.damaged`;
}

/** Returns the path for what has arrived of an answer. */
export function partialAnswerPath(path: string, owner: string, number: number): string {
  const key = makeFileKey(path, MAX_NAME_BYTES - PARTIAL_BYTES);
  return join(dirname(path), `${key}.${owner}-${number}.partial`);
}

/** Tells whether a partial answer is next to its session's file, by their names. */
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

/** Returns the hidden path of a file that another program made at the path while no file was there. */
export function makeStrayPath(path: string, number: number): string {
  return `${makeOldFilePath(path)}.${number}`;
}

/** Returns the name of the session whose old file has this hidden name; undefined if it is not such a name. */
export function findOldFileName(hidden: string): string | undefined {
  const { kind, session } = parseWrittenName(hidden) ?? {};
  return kind === "old" && hidden.endsWith(".old") ? session : undefined;
}

/** A file's name, or its digest where the name leaves no room for what is put around it. */
function makeFileKey(path: string, maxBytes = MAX_KEY_BYTES): string {
  const name = basename(path);
  return Buffer.byteLength(name) <= maxBytes ? name : hashSha256(name).slice(0, KEY_DIGITS);
}
