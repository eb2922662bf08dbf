import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { FileRow } from "../../../session/files/session-row.ts";
import type { CommandCall, ListedCommand } from "../command.ts";
import { isPiped } from "../named-session.ts";
import { findSession, getScope, isLikePath } from "../session-argument.ts";
import { type Candidate, completeLine, shortenToDescription } from "./candidates.ts";
import type { Shell } from "./scripts.ts";

/** Maximum number of sessions; more would not be useful. */
const MAX_SESSIONS = 200;

/** Matches ids that every shell reads as a single word; other programs' ids may contain any character. */
const HARMLESS_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Matches names where a shell must quote only spaces. */
const HARMLESS_NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._,+-]{0,79}$/u;

/** Completion request of a shell, and its environment. */
export interface AskedCompletion extends Pick<CommandCall, "io" | "dir"> {
  /** Command line as typed; the last word may be incomplete or empty. */
  readonly words: readonly string[];
  readonly commands: readonly ListedCommand[];
  /** Whether sessions are in a database, unless the command line specifies a folder. */
  readonly isStored: boolean;
  /** Whether the shell displays descriptions; without them, completion is faster. */
  readonly isDescribed: boolean;
}

/** Finds the possible completions of a command line. */
export async function findCandidates({
  words,
  commands,
  isStored,
  isDescribed,
  ...place
}: AskedCompletion): Promise<Candidate[]> {
  const { words: known, lookUp, dir = place.dir, session } = completeLine(words, commands);
  const typed = words.at(-1) ?? "";
  const within = { io: place.io, dir };
  const isOfFiles = lookUp === "trashed" || !isStored || dir !== undefined;
  if (lookUp === undefined || !isOfFiles) return [...known];
  if (lookUp !== "entries")
    return [...known, ...(await listSessionCandidates(lookUp, typed, within, isDescribed))];
  const found = await lookUpEntries(session, typed, within, isDescribed);
  return [...known, ...found.filter(({ value }) => value.startsWith(typed) && HARMLESS_ID.test(value))];
}

/** Finds the labels and ids of entries, latest first; returns an empty array if the session cannot be found. */
async function lookUpEntries(
  session: string | undefined,
  typed: string,
  place: Pick<CommandCall, "io" | "dir">,
  isDescribed: boolean,
): Promise<Candidate[]> {
  if (session === undefined || isPiped(session)) return [];
  const { listEntryCandidates: entryCandidates } = await import("./entries.ts");
  try {
    return entryCandidates(await findSession(session, place), typed, isDescribed);
  } catch (error) {
    // A shell that completes a word cannot display an error.
    if (!isSessionError(error)) throw error;
    return [];
  }
}

async function listSessionCandidates(
  what: "sessions" | "trashed",
  typed: string,
  place: Pick<CommandCall, "io" | "dir">,
  isDescribed: boolean,
): Promise<Candidate[]> {
  const found = new Map<string, Candidate>();
  for await (const session of what === "trashed" ? listTrashedRows() : listMeantSessions(typed, place)) {
    const title = session.title;
    for (const value of listWords(session, typed)) {
      const description = isDescribed ? shortenToDescription(value === title ? session.id : title) : "";
      // If two sessions have the same name, the earlier one is offered by its id.
      const word = found.has(value) && typed === "" && HARMLESS_ID.test(session.id) ? session.id : value;
      if (!found.has(word)) found.set(word, { value: word, description });
    }
    if (found.size >= MAX_SESSIONS) break;
  }
  return [...found.values()];
}

/**
 * Yields the project's sessions if nothing is typed; otherwise, the sessions of all projects, because a typed id or name can
 * belong to any project.
 */
async function* listMeantSessions(
  typed: string,
  place: Pick<CommandCall, "io" | "dir">,
): AsyncGenerator<FileRow, void> {
  const { iterateSessions } = await import("../../../catalog/list/list-sessions.ts");
  yield* iterateSessions(getScope(place, typed !== ""));
}

async function* listTrashedRows(): AsyncGenerator<FileRow, void> {
  const { listTrashed } = await import("../../../catalog/trash/restore.ts");
  try {
    for (const { session } of await listTrashed()) yield session;
  } catch (error) {
    // The trash of some systems cannot be read, and a shell that completes a word cannot display an error.
    if (!isSessionError(error)) throw error;
  }
}

/** Returns words that identify a session and begin with the typed text: its name or the end of its name, and its id. */
function listWords({ id, name = "" }: FileRow, typed: string): string[] {
  const rest = findNameEnd(name, typed);
  const isName = rest !== undefined && HARMLESS_NAME.test(rest) && !isLikePath(rest);
  const isId = id.startsWith(typed) && HARMLESS_ID.test(id) && !(typed === "" && isName);
  return [...(isName ? [rest] : []), ...(isId ? [id] : [])];
}

/**
 * Returns the end of a name, from the word that begins with the typed text; keeps the text as typed; undefined if no word
 * matches.
 */
function findNameEnd(name: string, typed: string): string | undefined {
  const [line, begin] = [toPlainLine(name), typed.toLowerCase()];
  const at = ` ${line.toLowerCase()}`.indexOf(` ${begin}`);
  if (line === "" || at === -1) return undefined;
  const rest = `${typed}${line.slice(at + typed.length)}`;
  return line.toLowerCase().endsWith(rest.toLowerCase()) ? rest : undefined;
}

/** Formats a candidate for a shell's completion script. */
export function formatLineFor(shell: Shell, { value, description }: Candidate): string {
  if (shell === "bash") return value;
  if (shell === "fish") return `${value}\t${description}`;
  const escaped = (text: string) => text.replace(/[\\:]/g, "\\$&");
  return description === "" ? escaped(value) : `${escaped(value)}:${escaped(description)}`;
}
