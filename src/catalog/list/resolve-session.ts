import { formatCounted } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { getShortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import { formatIsoTime } from "../../core/facts/times.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { FileRow, SessionRow } from "../../session/files/session-row.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import { hasErrorCode, NotAPlainFileError } from "../../session/fs/file-system.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import type { CatalogOptions } from "./catalog-run.ts";
import { summarizeSession } from "./file-summary.ts";
import { formatKinship } from "./lineage.ts";
import { listSessions } from "./list-sessions.ts";

const MAX_CANDIDATES = 20;
const MAX_LISTED = 8;
const LONGEST_TITLE = 60;

/** A text is a path if it names a folder or ends like a session file. */
const PATH = /[/\\]|^~|\.jsonl$/;

/**
 * Finds the one session that a person means: by path, by id or name, by the beginning of either, or by words of its name or of
 * how its first message begins.
 *
 * What comes first here wins: a session is found by words only if nothing else matches. Case is ignored only if nothing matches
 * otherwise.
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
  const atPath = PATH.test(text) ? await readSessionAt(text, options) : undefined;
  if (atPath !== undefined) return atPath;
  const sessions = await listSessions(options);
  return getOnlyOne(findByName(sessions, text), wanted, { known: sessions });
}

/** What a session is known by. */
export type Nameable = Pick<
  SessionRow,
  "path" | "id" | "name" | "title" | "firstMessage" | "modified" | "parentSession"
>;

/** How much of a name must match: any words of it, or its beginning at least. */
export type NameMatch = "words" | "beginning";

/** Returns the sessions that a text names, by the best kind of match that any of them has. */
export function findByName<S extends Nameable>(
  sessions: readonly S[],
  text: string,
  match: NameMatch = "words",
): S[] {
  const folded = text.toLowerCase();
  if (folded.trim() === "") return [];
  const ways: ((session: S, name: string) => boolean)[] = [
    ({ id }) => id === text,
    (_session, name) => name === text,
    ({ id }, name) => id.startsWith(text) || name.startsWith(text),
    ({ id }, name) => id.toLowerCase().startsWith(folded) || name.toLowerCase().startsWith(folded),
  ];
  if (match === "words") {
    ways.push((_session, name) => hasWords(name, text));
    ways.push((session) => hasWords(session.title, text));
    ways.push((session) => hasAllWords(session, text));
  }
  for (const isMeant of ways) {
    const found = sessions.filter((session) => isMeant(session, session.name ?? ""));
    if (found.length > 0) return found;
  }
  return [];
}

/** Tells whether the name, the title, and the beginning of the first message of a session have all words of a text, in any order and case. */
export function hasAllWords({ name = "", title, firstMessage = "" }: Nameable, text: string): boolean {
  return hasWords(`${name} ${title} ${toShortLine(firstMessage)}`, text);
}

function hasWords(title: string, text: string): boolean {
  const line = title.toLowerCase();
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => line.includes(word));
}

interface Choice<S> {
  /** All sessions among which the beginning of an id must tell one apart; without them ids are listed whole. */
  readonly known?: readonly S[];
  /** Tells whether a session is of this project, whose only one wins. */
  readonly isHere?: (session: S) => boolean;
  readonly notFound?: string;
  /** What to do about several copies of one session; default: merge them. */
  readonly copiesAdvice?: string;
}

/**
 * Returns the one session that fits a name.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND`; `SESSION_AMBIGUOUS`, whose message lists those that fit, each on a line of its own.
 */
export function getOnlyOne<S extends Nameable>(
  found: readonly S[],
  wanted: string,
  choice: Choice<S> = {},
): S {
  const { isHere = () => false, notFound: message } = choice;
  const here = found.filter(isHere);
  const [only, other] = here.length === 1 ? here : found;
  if (only === undefined) throw notFound(wanted, message);
  if (other !== undefined) throw makeAmbiguousError(wanted, found, choice);
  return only;
}

/** Returns the session at a path; undefined if there is no file: a name may look like a path. */
async function readSessionAt(path: string, { signal }: CatalogOptions): Promise<FileRow | undefined> {
  try {
    const session = await summarizeSession(path, signal && { signal });
    if (session !== undefined) return session;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR") || error instanceof NotAPlainFileError) return undefined;
    throw isSystemError(error) ? toFileError(path, "read", error) : error;
  }
  throw notASessionAt(path);
}

function notFound(
  wanted: string,
  message = `No session ${JSON.stringify(wanted)}. List the sessions to see their ids and names.`,
): SessionError {
  return new SessionError("SESSION_NOT_FOUND", message, { details: { wanted } });
}

function makeAmbiguousError<S extends Nameable>(
  wanted: string,
  found: readonly S[],
  { known = [], copiesAdvice }: Choice<S>,
): SessionError {
  const candidates = found.slice(0, MAX_CANDIDATES).map(({ path, id, name }) => ({ path, id, name }));
  const details = { wanted, candidates, count: found.length };
  if (areCopies(found))
    return new SessionError("SESSION_AMBIGUOUS", formatCopies(found, copiesAdvice), { details });
  const ids = known.map(({ id }) => id);
  const length = known.length === 0 ? WHOLE_ID : getShortIdLength(ids, WHOLE_ID);
  const lines = found.slice(0, MAX_LISTED).map((session) => {
    const day = formatIsoTime(session.modified.getTime()).slice(0, 10);
    const title = `${formatKinship(session)}${toShortLine(session.title, LONGEST_TITLE)}`;
    return `  ${session.id.slice(0, length)}  ${day}  ${title}`;
  });
  const more = found.length - lines.length;
  if (more > 0) lines.push(`  and ${formatCounted(more, "other")}`);
  const head = `${found.length} sessions fit ${JSON.stringify(wanted)}. Name one by its id:`;
  return new SessionError("SESSION_AMBIGUOUS", [head, ...lines].join("\n"), { details });
}

/** Whether several files are of one session, as in a synced folder after two machines appended. */
function areCopies(found: readonly Nameable[]): boolean {
  return new Set(found.map(({ id }) => id)).size === 1;
}

function formatCopies(found: readonly Nameable[], advice?: string): string {
  const [first = "", second = "", ...more] = found.map(({ path, id }) => JSON.stringify(path ?? id));
  const files = more.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${more.length} more`;
  const merge = `Join them with \`sessiontree merge ${first} ${second} --in-place\` or mergeSessions, then remove the second.`;
  return `${files} are copies of one session. ${advice ?? merge}`;
}
