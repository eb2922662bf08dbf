import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { NameMatch } from "../../catalog/list/resolve-session.ts";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { SessionError } from "../../core/format/errors.ts";
import { findOpenClaw } from "../../interop/history/openclaw.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { isFolder } from "../../session/fs/file-system.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { quoteForShell } from "../text/shell-quoting.ts";
import type { CliIo } from "./io.ts";
import { argumentOr } from "./parameters.ts";
import { UsageError } from "./usage-error.ts";

/** Part of a call that determines the location of sessions. */
export interface SessionPlace {
  readonly io: CliIo;
  readonly dir: string | undefined;
}

/** Environment variable that specifies a single flat folder for the sessions of all projects. */
const FOLDER_VARIABLE = "PI_CODING_AGENT_SESSION_DIR";

/** Name of the session that `list` shows first. */
export const LATEST = "@last";

/** Argument that names a session; default: the latest session of the project. */
export const SESSION_OR_LATEST = argumentOr("[session]", `the session; default: ${LATEST}`, LATEST);

/** Matches names that are paths rather than ids: with a separator or a session file suffix, in the home folder, or for stdin. */
const LOOKS_LIKE_PATH = /[/\\]|\.jsonl$|^~|^-$/;

/**
 * Returns the scope of the sessions for a command.
 *
 * A given folder is used as a whole; otherwise, the scope is the project in the current folder, or all projects, and includes
 * sessions imported from other programs.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND` if the folder does not exist.
 */
export function getScope({ io, dir }: SessionPlace, isAll: boolean): CatalogScope {
  if (dir !== undefined) {
    const sessionDir = resolvePath(io.cwd, dir);
    // A mistyped folder must not look empty.
    if (isFolder(sessionDir)) return { sessionDir };
    throw new SessionError("SESSION_NOT_FOUND", `The folder ${sessionDir} does not exist.`);
  }
  const folder = io.env[FOLDER_VARIABLE];
  return {
    ...(!isAll && { cwd: io.cwd }),
    ...(folder && { sessionDir: resolvePath(io.cwd, folder) }),
    includeImported: true,
  };
}

/**
 * Finds the session that a user names: by path, by id or name, the beginning of either, words of its name or first message, or
 * `@last`.
 *
 * Existing files have priority over ids, and a name that matches exactly one session of this project refers to that session,
 * even if others match.
 *
 * @returns Absolute path; the path of a missing file if the name looks like a path.
 */
export async function findSession(name: string, place: SessionPlace, match?: NameMatch): Promise<string> {
  if (name === LATEST) return findLatest(place);
  const path = resolvePath(place.io.cwd, name);
  // If only a whole name matches, the argument may be a phrase, and a file or folder could have that name by chance.
  const atPath = match === "whole" ? undefined : statSync(path, { throwIfNoEntry: false });
  if (isLikePath(name) || atPath?.isFile()) return path;
  // A file name requires no list of sessions, so the code for lists is loaded only now.
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const { findByName: fittingName, getOnlyOne: onlyOne } = await import(
    "../../catalog/list/resolve-session.ts"
  );
  const known = await listSessions(getScope(place, true));
  const found = fittingName(known, name.trim(), match);
  // The name is that of a folder, not of a session; the code that reads it reports the error.
  if (found.length === 0 && atPath !== undefined) return path;
  const ofProject = found.length > 1 ? await listSessions(getScope(place, false)) : [];
  const here = new Set(ofProject.map((session) => session.path));
  const notFound = `No session ${JSON.stringify(name)}. "sessiontree list --all" lists all sessions.`;
  return onlyOne(found, name, { known, isHere: (one) => here.has(one.path), notFound }).path;
}

async function findLatest(place: SessionPlace): Promise<string> {
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const [latest] = await listSessions(getScope(place, false));
  if (latest !== undefined) return latest.path;
  const message = 'This project has no sessions yet. "sessiontree list --all" lists those of other projects.';
  throw new SessionError("SESSION_NOT_FOUND", message);
}

/** Returns whether a word can only be a session name, not a word to search for. */
export function isSessionName(text: string): boolean {
  return text === LATEST || isLikePath(text);
}

/** Returns the command that lists the failures of a session, using the name that the user gave. */
export function makeFailuresCommand(name: string): string {
  const word = quoteForShell(toPlainLine(name));
  return `sessiontree search --failed ${isSessionName(name) ? "" : '"" '}${word}`;
}

/** Returns whether the name of a session is a path, regardless of whether a file exists there. */
export function isLikePath(name: string): boolean {
  return LOOKS_LIKE_PATH.test(name);
}

/**
 * Returns the absolute path of a new file to write.
 *
 * @throws {UsageError} If its folder does not exist.
 */
export function makeFilePath(cwd: string, file: string): string {
  const path = resolvePath(cwd, file);
  const folder = dirname(path);
  if (isFolder(folder)) return path;
  throw new UsageError(`The folder ${folder} does not exist; create it first.`);
}

/** Converts a user's path to an absolute path, relative to the working directory of the command line. */
export function resolvePath(cwd: string, path: string): string {
  return /^(?:~|file:\/\/)/.test(path) ? toAbsolutePath(path) : resolve(cwd, path);
}

/** Lists all sessions that can be found: the sessions of all projects, and sessions next to given files. */
export async function listKnownSessions(call: SessionPlace, paths: readonly string[]): Promise<FileRow[]> {
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const found = new Map<string, FileRow>();
  const folders = new Set(paths.map((path) => dirname(path)));
  // The folder of `--dir` may not contain all sessions.
  const usual = getScope({ io: call.io, dir: undefined }, true);
  const scopes = [usual, getScope(call, true), ...[...folders].map((sessionDir) => ({ sessionDir }))];
  for (const scope of scopes) {
    for (const session of await listSessions(scope)) found.set(session.path, session);
  }
  return [...found.values()];
}

/** Name of the program that writes sessions in this format to its own folders. */
export const OPENCLAW = "openclaw";

/** Returns the folders where other programs store sessions in this format; empty if the call specifies a folder. */
export function listOtherFolders(place: SessionPlace): readonly string[] {
  const isNamed = getScope(place, true).includeImported !== true;
  return isNamed ? [] : findOpenClaw(place.io.env).folders;
}
