import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { NameMatch } from "../../catalog/list/resolve-session.ts";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { SessionError } from "../../core/format/errors.ts";
import { findOpenClaw } from "../../interop/history/openclaw.ts";
import type { CatalogScope } from "../../session/files/session-files.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { quoteForShell } from "../text/shell-quoting.ts";
import type { CliIo } from "./io.ts";
import { argumentOr } from "./parameters.ts";
import { UsageError } from "./usage-error.ts";

/** What a call says about where sessions are. */
export interface SessionPlace {
  readonly io: CliIo;
  readonly dir: string | undefined;
}

/** The variable that names one flat folder for the sessions of all projects. */
const FOLDER_VARIABLE = "PI_CODING_AGENT_SESSION_DIR";

/** Stands for the session that `list` shows first. */
export const LATEST = "@last";

/** The argument that names a session, and the latest one of the project if it is left out. */
export const SESSION_OR_LATEST = argumentOr("[session]", `the session; default: ${LATEST}`, LATEST);

/** What is a path and no id: it has a separator or the suffix of session files, starts in the home folder, or is stdin. */
const LOOKS_LIKE_PATH = /[/\\]|\.jsonl$|^~|^-$/;

/**
 * Tells which sessions a command is about.
 *
 * A folder that was given is meant as a whole; else it is the project in the current folder, or all, with what was imported from
 * other programs.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND` if there is no such folder.
 */
export function getScope({ io, dir }: SessionPlace, isAll: boolean): CatalogScope {
  if (dir !== undefined) {
    const sessionDir = resolvePath(io.cwd, dir);
    // What was mistyped must not look empty.
    if (isFolder(sessionDir)) return { sessionDir };
    throw new SessionError("SESSION_NOT_FOUND", `There is no folder ${sessionDir}.`);
  }
  const folder = io.env[FOLDER_VARIABLE];
  return {
    ...(!isAll && { cwd: io.cwd }),
    ...(folder && { sessionDir: resolvePath(io.cwd, folder) }),
    includeImported: true,
  };
}

/**
 * Finds the session that a person names: by path, by id or name, the beginning of either, words of its name or first message, or
 * `@last`.
 *
 * Existing files win over ids, and a name that fits one session of this project means that one, whatever else it fits.
 *
 * @returns Absolute path; that of a missing file if the name looks like a path.
 */
export async function findSession(name: string, place: SessionPlace, match?: NameMatch): Promise<string> {
  if (name === LATEST) return findLatest(place);
  const path = resolvePath(place.io.cwd, name);
  const atPath = statSync(path, { throwIfNoEntry: false });
  if (isLikePath(name) || atPath?.isFile()) return path;
  // Whoever names a file needs no list of sessions: what makes one is loaded only now.
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const { findByName: fittingName, getOnlyOne: onlyOne } = await import(
    "../../catalog/list/resolve-session.ts"
  );
  const known = await listSessions(getScope(place, true));
  const found = fittingName(known, name.trim(), match);
  // A folder may be called as a session is; what is wrong with it is said by what reads it.
  if (found.length === 0 && atPath !== undefined) return path;
  const ofProject = found.length > 1 ? await listSessions(getScope(place, false)) : [];
  const here = new Set(ofProject.map((session) => session.path));
  const notFound = `No session ${JSON.stringify(name)}. "sessiontree list --all" shows the sessions that there are.`;
  return onlyOne(found, name, { known, isHere: (one) => here.has(one.path), notFound }).path;
}

async function findLatest(place: SessionPlace): Promise<string> {
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const [latest] = await listSessions(getScope(place, false));
  if (latest !== undefined) return latest.path;
  const message = 'There is no session of this project yet. "sessiontree list --all" lists those of others.';
  throw new SessionError("SESSION_NOT_FOUND", message);
}

/** Tells whether a text names a session in a way in which nobody writes a word to search for. */
export function isSessionName(text: string): boolean {
  return text === LATEST || isLikePath(text);
}

/** Returns the command that lists the failures of a session, by the name that a person gave it. */
export function makeFailuresCommand(name: string): string {
  const word = quoteForShell(toPlainLine(name));
  return `sessiontree search --failed ${isSessionName(name) ? "" : '"" '}${word}`;
}

/** Tells whether what names a session is a path, whether anything stands there or not. */
export function isLikePath(name: string): boolean {
  return LOOKS_LIKE_PATH.test(name);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
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
  throw new UsageError(`There is no folder ${folder} to write to; make it first.`);
}

/** Makes a path absolute that somebody typed: it starts at the folder of the command line. */
export function resolvePath(cwd: string, path: string): string {
  return /^(?:~|file:\/\/)/.test(path) ? toAbsolutePath(path) : resolve(cwd, path);
}

/** Lists all sessions that can be found: those of all projects, and those beside some files. */
export async function listKnownSessions(call: SessionPlace, paths: readonly string[]): Promise<FileRow[]> {
  const { listSessions } = await import("../../catalog/list/list-sessions.ts");
  const found = new Map<string, FileRow>();
  const folders = new Set(paths.map((path) => dirname(path)));
  // A folder that was given is not all that there is.
  const usual = getScope({ io: call.io, dir: undefined }, true);
  const scopes = [usual, getScope(call, true), ...[...folders].map((sessionDir) => ({ sessionDir }))];
  for (const scope of scopes) {
    for (const session of await listSessions(scope)) found.set(session.path, session);
  }
  return [...found.values()];
}

/** Name of the program that writes sessions of this format into folders of its own. */
export const OPENCLAW = "openclaw";

/** Returns the folders in which other programs keep sessions of this format; none if a folder is named. */
export function listOtherFolders(place: SessionPlace): readonly string[] {
  const isNamed = getScope(place, true).includeImported !== true;
  return isNamed ? [] : findOpenClaw(place.io.env).folders;
}
