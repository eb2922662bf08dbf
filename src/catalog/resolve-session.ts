import { hasErrorCode, NotAPlainFileError } from "../fs/file-system.ts";
import { fileError } from "../log/file-errors.ts";
import { notASessionAt } from "../log/foreign-file.ts";
import { SessionError } from "../schema/errors.ts";
import type { CatalogOptions } from "./catalog-run.ts";
import { summarizeSession } from "./file-summary.ts";
import { listSessions } from "./list-sessions.ts";
import type { FileRow } from "./session-row.ts";
import { isSystemError } from "./skipping.ts";

/** The most candidates that an error names. */
const MAX_CANDIDATES = 20;

/** A text is a path if it names a folder or ends like a session file. */
const PATH = /[/\\]|^~|\.jsonl$/;

/**
 * Finds the one session that a person means: by path, by id, by name, or by the beginning of either.
 *
 * Exact matches win over prefixes, and ids over names. Case is ignored only if nothing matches otherwise.
 *
 * @param wanted - An empty or blank text matches nothing.
 * @param options - Where to look for ids and names; a path is taken wherever it is.
 * @throws {SessionError} `SESSION_AMBIGUOUS` with `candidates` (path, id, name) in its details,
 *   `SESSION_NOT_FOUND`, `NOT_A_SESSION` for a path, `ABORTED`.
 * @remarks Cost: that of a list of the sessions.
 */
export async function resolveSession(wanted: string, options: CatalogOptions = {}): Promise<FileRow> {
  const text = wanted.trim();
  if (text === "") throw notFound(wanted);
  const atPath = PATH.test(text) ? await sessionAt(text, options) : undefined;
  if (atPath !== undefined) return atPath;
  const sessions = await listSessions(options);
  const found = fittingName(sessions, text);
  const [only] = found;
  if (found.length > 1) throw ambiguous(wanted, found);
  if (only !== undefined) return only;
  throw notFound(wanted);
}

/**
 * Returns the sessions whose id or name matches a text, by the best kind of match that any of them has.
 *
 * @returns Empty if nothing matches.
 */
export function fittingName<S extends Pick<FileRow, "id" | "name">>(
  sessions: readonly S[],
  text: string,
): S[] {
  const folded = text.toLowerCase();
  const ways: ((id: string, name: string) => boolean)[] = [
    (id) => id === text,
    (_id, name) => name === text,
    (id, name) => id.startsWith(text) || name.startsWith(text),
    (id, name) => id.toLowerCase().startsWith(folded) || name.toLowerCase().startsWith(folded),
  ];
  for (const isMeant of ways) {
    const found = sessions.filter(({ id, name = "" }) => isMeant(id, name));
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the session at a path; undefined if there is no file: a name may look like a path. */
async function sessionAt(path: string, { signal }: CatalogOptions): Promise<FileRow | undefined> {
  try {
    const session = await summarizeSession(path, signal && { signal });
    if (session !== undefined) return session;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR") || error instanceof NotAPlainFileError) return undefined;
    throw isSystemError(error) ? fileError(path, "read", error) : error;
  }
  throw notASessionAt(path);
}

function notFound(wanted: string): SessionError {
  return new SessionError(
    "SESSION_NOT_FOUND",
    `No session ${JSON.stringify(wanted)}. List the sessions to see their ids and names.`,
    { details: { wanted } },
  );
}

function ambiguous(wanted: string, found: readonly FileRow[]): SessionError {
  const candidates = found.slice(0, MAX_CANDIDATES).map(({ path, id, name }) => ({ path, id, name }));
  const details = { wanted, candidates, count: found.length };
  const message = areCopies(found)
    ? copiesMessage(found)
    : `${found.length} sessions fit ${JSON.stringify(wanted)}. Give more of the id, or the path.`;
  return new SessionError("SESSION_AMBIGUOUS", message, { details });
}

/** Whether several files are of one session, as in a synced folder after two machines appended. */
function areCopies(found: readonly FileRow[]): boolean {
  return new Set(found.map(({ id }) => id)).size === 1;
}

function copiesMessage(found: readonly FileRow[]): string {
  const [first = "", second = "", ...more] = found.map(({ path }) => JSON.stringify(path));
  const files = more.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${more.length} more`;
  return `${files} are copies of one session. Join them with \`sessiontree merge ${first} ${second} --in-place\` or mergeSessions, then remove the second.`;
}
