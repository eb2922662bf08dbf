import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { CatalogScope } from "../catalog/session-files.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import { absolutePath } from "../log/session-paths.ts";
import { isSessionError, SessionError } from "../schema/errors.ts";
import type { CliIo } from "./io.ts";
import { argumentOr } from "./parameters.ts";

/** What a call says about where sessions are. */
interface SessionPlace {
  readonly io: CliIo;
  readonly dir: string | undefined;
}

/** The variable that names one flat folder for the sessions of all projects. */
const FOLDER_VARIABLE = "PI_CODING_AGENT_SESSION_DIR";

/** Stands for the session that `list` shows first. */
export const LATEST = "@last";

/** The argument that names a session, and the latest one of the project if it is left out. */
export const SESSION_OR_LATEST = argumentOr("[session]", `the session; default: ${LATEST}`, LATEST);

/** How many candidates an error names. */
const MOST_NAMED = 3;

/** What is a path and no id: it has a separator or the suffix of session files, starts in the home folder, or is stdin. */
const LOOKS_LIKE_PATH = /[/\\]|\.jsonl$|^~|^-$/;

/**
 * Tells which sessions a command is about.
 *
 * A folder that was given is meant as a whole; else it is the project in the current folder, or all, with what was imported from
 * other programs.
 */
export function sessionScope({ io, dir }: SessionPlace, isAll: boolean): CatalogScope {
  if (dir !== undefined) return { sessionDir: pathOf(io.cwd, dir) };
  const folder = io.env[FOLDER_VARIABLE];
  return {
    ...(!isAll && { cwd: io.cwd }),
    ...(folder && { sessionDir: pathOf(io.cwd, folder) }),
    includeImported: true,
  };
}

/**
 * Finds the session that a person names: by path, by id or name or the beginning of one, or `@last`.
 *
 * Existing files win over ids, and a name that fits one session of this project means that one, whatever else it fits.
 *
 * @returns Absolute path; that of a missing file if the name looks like a path.
 * @throws {SessionError} `SESSION_NOT_FOUND` or `SESSION_AMBIGUOUS`
 */
export async function findSession(name: string, place: SessionPlace): Promise<string> {
  if (name === LATEST) return findLatest(place);
  const path = pathOf(place.io.cwd, name);
  if (looksLikePath(name) || existsSync(path)) return path;
  // Whoever names a file needs no list of sessions: what makes one is loaded only now.
  const { resolveSession } = await import("../catalog/resolve-session.ts");
  try {
    return (await resolveSession(name, sessionScope(place, true))).path;
  } catch (error) {
    if (!isSessionError(error, "SESSION_AMBIGUOUS")) throw error;
    return findInProject(name, place, error);
  }
}

/** Of several sessions that a name fits, gives the one of this project, if there is one. */
async function findInProject(name: string, place: SessionPlace, ambiguity: SessionError): Promise<string> {
  const { resolveSession } = await import("../catalog/resolve-session.ts");
  try {
    return (await resolveSession(name, sessionScope(place, false))).path;
  } catch (error) {
    if (!isSessionError(error, "SESSION_AMBIGUOUS") && !isSessionError(error, "SESSION_NOT_FOUND"))
      throw error;
    const { candidates } = ambiguity.details;
    const paths = (Array.isArray(candidates) ? candidates : []).map((one) => fieldsOf(one)["path"]);
    if (paths.some((path) => ambiguity.message.includes(JSON.stringify(path)))) throw ambiguity;
    const message = `${ambiguity.message} Some are ${paths.slice(0, MOST_NAMED).join(", ")}.`;
    throw new SessionError(ambiguity.code, message, { details: ambiguity.details });
  }
}

async function findLatest(place: SessionPlace): Promise<string> {
  const { listSessions } = await import("../catalog/list-sessions.ts");
  const [latest] = await listSessions(sessionScope(place, false));
  if (latest !== undefined) return latest.path;
  const message = 'There is no session of this project yet. "sessiontree list --all" lists those of others.';
  throw new SessionError("SESSION_NOT_FOUND", message);
}

/** Tells whether what names a session is a path, whether anything stands there or not. */
export function looksLikePath(name: string): boolean {
  return LOOKS_LIKE_PATH.test(name);
}

/** Makes a path absolute that somebody typed: it starts at the folder of the command line. */
export function pathOf(cwd: string, path: string): string {
  return /^(?:~|file:\/\/)/.test(path) ? absolutePath(path) : resolve(cwd, path);
}
