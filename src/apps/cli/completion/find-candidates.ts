import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { isSessionError } from "../../../core/format/errors.ts";
import type { FileRow } from "../../../session/files/session-row.ts";
import type { CommandCall, ListedCommand } from "../command.ts";
import { isPiped } from "../named-session.ts";
import { findSession, getScope, isLikePath } from "../session-argument.ts";
import { type Candidate, completeLine, shortenToDescription } from "./candidates.ts";
import type { Shell } from "./scripts.ts";

/** More are of no use to anybody who looks through them. */
const MAX_SESSIONS = 200;

/** Ids that no shell takes for anything but a word; those of other programs may hold whatever they like. */
const HARMLESS_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Names in which a shell has to quote nothing but the spaces. */
const HARMLESS_NAME = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._,+-]{0,79}$/u;

/** What a shell asks, and where it does so. */
export interface AskedCompletion extends Pick<CommandCall, "io" | "dir"> {
  /** The command line so far; the last word is the one that is being typed, maybe empty. */
  readonly words: readonly string[];
  readonly commands: readonly ListedCommand[];
  /** Whether sessions are in a database, unless the line names a folder. */
  readonly isStored: boolean;
  /** Whether the shell shows descriptions; without them it gets words sooner. */
  readonly isDescribed: boolean;
}

/** Finds what may stand at the end of a command line. */
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

/** Finds labels and ids of entries, the latest first; of a session that cannot be found, none. */
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
    // A shell that asks for words has no use for an error.
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
      // Of two that are called alike, the earlier one is named by its id.
      const word = found.has(value) && typed === "" && HARMLESS_ID.test(session.id) ? session.id : value;
      if (!found.has(word)) found.set(word, { value: word, description });
    }
    if (found.size >= MAX_SESSIONS) break;
  }
  return [...found.values()];
}

/** With nothing typed those of the project are meant; an id or a name may be that of any. */
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
    // There are systems whose trash cannot be read; a shell that asks for words has no use for an error.
    if (!isSessionError(error)) throw error;
  }
}

/** Returns words by which a session can be named and that begin with what is typed: its name or the end of it, and its id. */
function listWords({ id, name = "" }: FileRow, typed: string): string[] {
  const rest = findNameEnd(name, typed);
  const isName = rest !== undefined && HARMLESS_NAME.test(rest) && !isLikePath(rest);
  const isId = id.startsWith(typed) && HARMLESS_ID.test(id) && !(typed === "" && isName);
  return [...(isName ? [rest] : []), ...(isId ? [id] : [])];
}

/** Returns a name from the word on that begins as typed, in the letters that are typed; undefined if none does so. */
function findNameEnd(name: string, typed: string): string | undefined {
  const [line, begin] = [toPlainLine(name), typed.toLowerCase()];
  const at = ` ${line.toLowerCase()}`.indexOf(` ${begin}`);
  if (line === "" || at === -1) return undefined;
  const rest = `${typed}${line.slice(at + typed.length)}`;
  return line.toLowerCase().endsWith(rest.toLowerCase()) ? rest : undefined;
}

/** Writes a candidate as the shell's script reads it. */
export function formatLineFor(shell: Shell, { value, description }: Candidate): string {
  if (shell === "bash") return value;
  if (shell === "fish") return `${value}\t${description}`;
  const escaped = (text: string) => text.replace(/[\\:]/g, "\\$&");
  return description === "" ? escaped(value) : `${escaped(value)}:${escaped(description)}`;
}
