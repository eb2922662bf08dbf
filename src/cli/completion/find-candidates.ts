import type { FileRow } from "../../catalog/session-row.ts";
import { isSessionError } from "../../schema/errors.ts";
import { titleOf } from "../../view/session-title.ts";
import type { CommandCall, ListedCommand } from "../command.ts";
import { isPiped } from "../named-session.ts";
import { findSession, sessionScope } from "../session-argument.ts";
import { type Candidate, candidatesFor, shortDescription } from "./candidates.ts";
import type { Shell } from "./scripts.ts";

/** More are of no use to anybody who looks through them. */
const MOST_SESSIONS = 200;

/** Ids that no shell takes for anything but a word; those of other programs may hold whatever they like. */
const HARMLESS_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** What a shell asks, and where it does so. */
export interface AskedCompletion extends Pick<CommandCall, "io" | "dir"> {
  /** The command line so far; the last word is the one that is being typed, maybe empty. */
  readonly words: readonly string[];
  /** All commands. */
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
  const { words: known, lookUp, dir = place.dir, session } = candidatesFor(words, commands);
  const typed = words.at(-1) ?? "";
  const within = { io: place.io, dir };
  const isOfFiles = lookUp === "trashed" || !isStored || dir !== undefined;
  if (lookUp === undefined || !isOfFiles) return [...known];
  const found =
    lookUp === "entries"
      ? await lookUpEntries(session, typed, within, isDescribed)
      : (await lookUpSessions(lookUp, typed, within)).map((one) => sessionCandidate(one, isDescribed));
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
  const { entryCandidates } = await import("./entries.ts");
  try {
    return entryCandidates(await findSession(session, place), typed, isDescribed);
  } catch (error) {
    // A shell that asks for words has no use for an error.
    if (!isSessionError(error)) throw error;
    return [];
  }
}

/** With nothing typed those of the project are meant; an id may be one of any. */
async function lookUpSessions(
  what: "sessions" | "trashed",
  typed: string,
  place: Pick<CommandCall, "io" | "dir">,
): Promise<FileRow[]> {
  if (what === "trashed") return lookUpTrashed();
  const { iterateSessions } = await import("../../catalog/list-sessions.ts");
  const found: FileRow[] = [];
  const scope = sessionScope(place, typed !== "");
  for await (const session of iterateSessions({ ...scope, query: typed, limit: MOST_SESSIONS }))
    found.push(session);
  return found;
}

async function lookUpTrashed(): Promise<FileRow[]> {
  const { listTrashed } = await import("../../catalog/restore.ts");
  try {
    return (await listTrashed()).slice(0, MOST_SESSIONS).map(({ session }) => session);
  } catch (error) {
    // There are systems whose trash cannot be read; a shell that asks for words has no use for an error.
    if (!isSessionError(error)) throw error;
    return [];
  }
}

function sessionCandidate(session: FileRow, isDescribed: boolean): Candidate {
  const description = isDescribed ? shortDescription(titleOf(session)) : "";
  return { value: session.id, description };
}

/** Writes a candidate as the shell's script reads it. */
export function lineFor(shell: Shell, { value, description }: Candidate): string {
  if (shell === "bash") return value;
  if (shell === "fish") return `${value}\t${description}`;
  const escaped = (text: string) => text.replace(/[\\:]/g, "\\$&");
  return `${escaped(value)}:${escaped(description)}`;
}
