import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { describeValue } from "../../core/format/describe-value.ts";
import { SessionError } from "../../core/format/errors.ts";
import { assertValidSessionId } from "../../core/format/ids.ts";
import { type OptionRules, TEXT } from "../../core/format/options.ts";
import { hashSha256 } from "../fs/digest.ts";
import { callIfPresent, makeFolder, realFileSystem } from "../fs/file-system.ts";

/** Locations of sessions, for programs that store them in different folders than pi does. */
export interface SessionPlaces {
  /**
   * Parent folder of `sessions/`. Default: the value of the environment variable specified by `agentDirVariable`, falling back to
   * `~/.pi/agent`.
   */
  readonly agentDir?: string;
  /** Name of the environment variable for the agent's folder. Default: `PI_CODING_AGENT_DIR`. */
  readonly agentDirVariable?: string;
  /**
   * Name of the environment variable that sets the sessions root. Default: `PI_SESSIONS_DIR`, which pi's Rust port reads but pi
   * does not.
   */
  readonly sessionsDirVariable?: string;
}

/** Validation rules for these options. */
export const PLACES_RULES: OptionRules<SessionPlaces> = {
  agentDir: TEXT,
  agentDirVariable: TEXT,
  sessionsDirVariable: TEXT,
};

/**
 * Converts a path to an absolute path. `~` is the home folder, `file://` URLs are converted to paths, and relative paths are
 * relative to the process's working directory.
 */
export function toAbsolutePath(path: string): string {
  if (typeof path !== "string") throw makePathError(path);
  if (path.startsWith("file://")) return fileURLToPath(path);
  if (path === "~") return homedir();
  return resolve(path.startsWith("~/") || path.startsWith("~\\") ? join(homedir(), path.slice(2)) : path);
}

function makePathError(path: unknown): TypeError {
  return new TypeError(`A path must be a string, but is ${describeValue(path)}.`);
}

/** Returns the folder that contains one folder per project. */
export function getSessionsRoot(places: SessionPlaces = {}): string {
  if (places.agentDir !== undefined) return join(toAbsolutePath(places.agentDir), "sessions");
  const sessionsDir = process.env[places.sessionsDirVariable ?? "PI_SESSIONS_DIR"];
  if (sessionsDir) return toAbsolutePath(sessionsDir);
  const agentDir = process.env[places.agentDirVariable ?? "PI_CODING_AGENT_DIR"];
  return join(toAbsolutePath(agentDir || "~/.pi/agent"), "sessions");
}

/** Maximum length of a file name, in bytes. */
export const MAX_NAME_BYTES = 255;

/** Number of bytes from a long project path that remain readable in the name of its folder. A digest makes the name unique. */
const BEGINNING_BYTES = 180;

const DIGEST_CHARACTERS = 32;

/** Maximum length of a session id in a file name, so that the names of backups also fit. */
const MAX_ID_LENGTH = 200;

/**
 * Returns the folder of a project's sessions without creating it.
 *
 * Different projects can share a folder, because the encoding does not preserve separators. A name that is too long is truncated,
 * and a digest is appended.
 */
export function getProjectFolder(cwd: string, places: SessionPlaces = {}): string {
  return joinProjectFolder(getSessionsRoot(places), cwd);
}

/** Returns the folder of a project's sessions below a folder, as `getProjectFolder` does. */
export function joinProjectFolder(root: string, cwd: string): string {
  const absolute = toAbsolutePath(withoutLongPrefix(cwd));
  const name = `--${absolute.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
  return join(root, Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : shortenName(name, absolute));
}

function shortenName(name: string, cwd: string): string {
  const digest = hashSha256(cwd).slice(0, DIGEST_CHARACTERS);
  // The remainder of a split character would be an invalid character.
  const beginning = Buffer.from(name)
    .subarray(0, BEGINNING_BYTES)
    .toString()
    .replace(/\ufffd+$/, "");
  return `${beginning}-${digest}--`;
}

/**
 * Returns the default folder of a project's sessions, and creates it.
 *
 * @param cwd - The project's working directory.
 * @param agentDir - Default: `PI_CODING_AGENT_DIR`, falling back to `~/.pi/agent`.
 */
export function getDefaultSessionDir(cwd: string, agentDir?: string): string {
  const folder = getProjectFolder(cwd, agentDir === undefined ? {} : { agentDir });
  makeFolder(realFileSystem, folder);
  return folder;
}

/** Returns the file name for a new session. Throws if the id is malformed or too long for a file name. */
export function makeSessionFileName(timestamp: string, id: string): string {
  assertValidSessionId(id);
  if (id.length > MAX_ID_LENGTH) {
    const message = `A session id of ${id.length} characters is too long for a file name; use at most ${MAX_ID_LENGTH}.`;
    throw new SessionError("INVALID_SESSION_ID", message, { details: { id } });
  }
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/**
 * Returns the key of a project: its real path, or its resolved path if the folder is missing or on another machine. Ignores the
 * case of drive letters and the prefix `\\?\`.
 */
export function getProjectKey(cwd: string): string {
  const path = toAbsolutePath(withoutLongPrefix(cwd));
  const real = (isRemotePath(path) ? undefined : callIfPresent(() => realpathSync(path))) ?? path;
  return real.replace(/^[a-z]:/, (drive) => drive.toUpperCase());
}

/**
 * Returns whether accessing a path on Windows would connect to another machine and send it the user's identity. Paths in a
 * session must not cause such a connection.
 */
export function isRemotePath(path: string, platform: string = process.platform): boolean {
  return platform === "win32" && /^[/\\]{2}(?![?.][/\\][a-z]:)/i.test(path);
}

/**
 * Resolves a reference to a session in another session to a path from which it can be read. Relative paths are relative to the
 * folder of the session that contains the reference.
 *
 * @param name - Name as stored in the session: a path, a `file://` URL, or any other string.
 * @param from - Path of the session that contains the reference; undefined if that session has no file.
 * @returns Undefined if the name is not a path or refers to a different machine than the session's own path.
 */
export function findNamedSessionPath(
  name: string,
  from: string | undefined,
  platform: string = process.platform,
): string | undefined {
  const folder = from === undefined ? "" : dirname(from);
  const path = resolvePath(name, folder || "/");
  if (path === undefined || path.includes("\0")) return undefined;
  const remote = [path, name].find((one) => isRemotePath(one, platform));
  return remote === undefined || getShare(remote) === getShare(folder) ? path : undefined;
}

function resolvePath(name: string, folder: string): string | undefined {
  try {
    return /^(?:~(?:[/\\]|$)|file:\/\/)/.test(name) ? toAbsolutePath(name) : resolve(folder, name);
  } catch (error) {
    // The URL does not name a file.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns the drive, or the machine and share, of a Windows path. */
function getShare(path: string): string {
  return win32.parse(win32.normalize(path)).root.toLowerCase();
}

/** Removes the prefix of long Windows paths, which is not part of a project's name. */
function withoutLongPrefix(path: string): string {
  if (typeof path !== "string") throw makePathError(path);
  return path.replace(/^\\\\\?\\(UNC\\)?/i, (_prefix, unc?: string) => (unc === undefined ? "" : "\\\\"));
}
