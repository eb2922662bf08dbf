import { formatCounted } from "../../core/facts/number-text.ts";
import { toShortLine } from "../../core/facts/plain-text.ts";
import { getShortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import { formatIsoTime } from "../../core/facts/times.ts";
import { assertText } from "../../core/format/arguments.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { FileRow, SessionRow } from "../../session/files/session-row.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import { hasErrorCode, NotAPlainFileError } from "../../session/fs/file-system.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { notASessionAt } from "../../session/log/foreign-file.ts";
import type { CatalogOptions } from "./catalog-run.ts";
import { summarizeSession } from "./file-summary.ts";
import { formatKinship } from "./lineage.ts";
import { hasWords, listSessions } from "./list-sessions.ts";

const MAX_CANDIDATES = 20;
const MAX_LISTED = 8;
const LONGEST_TITLE = 60;

/** Matches strings that are treated as paths because they contain a path separator, begin with `~`, or end in `.jsonl`. */
const PATH = /[/\\]|^~|\.jsonl$/;

/**
 * Finds the session that a user's input refers to: by path, by id or name, by a prefix of either, or by words in
 * its name, title, or the beginning of its first message.
 *
 * Earlier types of matches take precedence: words are compared only if nothing else matches, and case is ignored only if there is
 * no exact match.
 *
 * @param wanted - An empty or blank string matches nothing.
 * @param options - Scope of the search for ids and names. A path may be outside the scope.
 * @throws {SessionError} `SESSION_AMBIGUOUS` with `candidates` (path, id, name) in its details,
 *   `SESSION_NOT_FOUND`, `NOT_A_SESSION` for a path, `ABORTED`.
 * @remarks Cost: same as `iterateSessions`.
 */
export async function resolveSession(wanted: string, options: CatalogOptions = {}): Promise<FileRow> {
  assertText("wanted", wanted);
  const text = wanted.trim();
  if (text === "") throw notFound(wanted);
  const atPath = PATH.test(text) ? await readSessionAt(text, options) : undefined;
  if (atPath !== undefined) return atPath;
  const sessions = await listSessions(options);
  return getOnlyOne(findByName(sessions, text), wanted, { known: sessions });
}

/** Fields used to find a session by name. */
export type Nameable = Pick<
  SessionRow,
  "path" | "id" | "name" | "title" | "firstMessage" | "modified" | "parentSession"
>;

/** Part of a name that must match: words in it, its beginning, or the whole name. */
export type NameMatch = "words" | "beginning" | "whole";

/** Returns the sessions that a string refers to, using the best type of match found. */
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
  ];
  if (match !== "whole") {
    ways.push(({ id }, name) => id.startsWith(text) || name.startsWith(text));
    ways.push(({ id }, name) => id.toLowerCase().startsWith(folded) || name.toLowerCase().startsWith(folded));
  }
  if (match === "words") {
    ways.push((_session, name) => hasWords(name, text));
    ways.push((session) => hasWords(session.title, text));
    ways.push((session) => hasWords(getTitleText(session), text));
  }
  for (const isMeant of ways) {
    const found = sessions.filter((session) => isMeant(session, session.name ?? ""));
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns a session's name, title, and the beginning of its first message, as one line. */
export function getTitleText({ name = "", title, firstMessage = "" }: Nameable): string {
  return `${name} ${title} ${toShortLine(firstMessage)}`;
}

interface Choice<S> {
  /** Sessions among which a displayed id must be unique. By default, ids are displayed in full. */
  readonly known?: readonly S[];
  /** Returns whether a session belongs to the current project. A single match there wins. */
  readonly isHere?: (session: S) => boolean;
  readonly notFound?: string;
  /** Advice to show for multiple copies of a session; by default, advice to merge them. */
  readonly copiesAdvice?: string;
}

/**
 * Returns the single session that matches a name.
 *
 * @throws {SessionError} `SESSION_NOT_FOUND`; `SESSION_AMBIGUOUS` with a message that lists the matches, one per line.
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

/** Returns the session at a path; undefined if there is no file, because a name may look like a path. */
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
  const head = `${found.length} sessions match ${JSON.stringify(wanted)}. Specify one by id:`;
  return new SessionError("SESSION_AMBIGUOUS", [head, ...lines].join("\n"), { details });
}

/** Returns whether all files are copies of one session, as in a synced folder after two machines append to the same session. */
function areCopies(found: readonly Nameable[]): boolean {
  return new Set(found.map(({ id }) => id)).size === 1;
}

function formatCopies(found: readonly Nameable[], advice?: string): string {
  const [first = "", second = "", ...more] = found.map(({ path, id }) => JSON.stringify(path ?? id));
  const files = more.length === 0 ? `${first} and ${second}` : `${first}, ${second} and ${more.length} more`;
  const merge = `Join them with \`sessiontree merge ${first} ${second} --in-place\` or mergeSessions, then remove the second.`;
  return `${files} are copies of one session. ${advice ?? merge}`;
}
