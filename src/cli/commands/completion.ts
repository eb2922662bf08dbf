import type { FileRow } from "../../catalog/session-row.ts";
import { isSessionError } from "../../schema/errors.ts";
import type { Command, CommandCall, ListedCommand } from "../command.ts";
import { type Candidate, candidatesFor, SHELLS } from "../completion/candidates.ts";
import { SCRIPTS, type Shell } from "../completion/scripts.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import type { Parameter } from "../parameters.ts";
import { PIPED } from "../piped-session.ts";
import { findSession, sessionScope } from "../session-argument.ts";
import { loadWidths, truncate } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { titleOf } from "../view/session-line.ts";

const SHELL: Parameter<Shell> = {
  kind: "argument",
  form: "<shell>",
  description: "bash, zsh or fish",
  parse: (given) => {
    const shell = SHELLS.find((one) => one === given);
    if (shell === undefined) throw new UsageError("<shell> must be bash, zsh or fish.");
    return shell;
  },
};

/** Unlike other arguments these may be empty, as the word is that nobody has begun to type. */
const WORDS: Parameter<readonly string[]> = {
  kind: "argument",
  form: "[words...]",
  description: "behind --, a command line: gives what may stand at its end",
  parse: (given) => (Array.isArray(given) ? given.map(String) : []),
};

/** More are of no use to anybody who looks through them. */
const MOST_SESSIONS = 200;

const DESCRIPTION_WIDTH = 50;

/** Ids that no shell takes for anything but a word; those of other programs may hold whatever they like. */
const HARMLESS_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Makes `sessiontree completion`: prints the script for a shell, which calls it again with what was typed.
 *
 * @param commands - All of them, this one among them.
 */
export function makeCompletionCommand(commands: readonly ListedCommand[]): Command {
  return {
    details: `Completes commands, options, sessions, and the ids and labels of entries. The first line of the script says where to put it. With a command line behind -- it prints what may stand at its end; the script does that.`,
    parameters: [SHELL, WORDS],
    examples: [
      ["completion bash", 'for ~/.bashrc: eval "$(sessiontree completion bash)"'],
      ["completion fish", "for config.fish: sessiontree completion fish | source"],
    ],
    run: async (call) => {
      const { json, out } = call;
      const shell = call.get(SHELL);
      const words = call.get(WORDS);
      if (words.length === 0) {
        if (json) out.json({ shell, script: SCRIPTS[shell] });
        else out.text(SCRIPTS[shell]);
        return EXIT_CODES.ok;
      }
      for (const candidate of await findCandidates(call, shell, words, commands)) {
        if (json) out.json(candidate);
        else out.line(lineFor(shell, candidate));
      }
      return EXIT_CODES.ok;
    },
  };
}

async function findCandidates(
  call: CommandCall,
  shell: Shell,
  words: readonly string[],
  commands: readonly ListedCommand[],
): Promise<Candidate[]> {
  const { words: known, lookUp, dir, session } = await candidatesFor(words, commands);
  const typed = words.at(-1) ?? "";
  const place = { io: call.io, dir: dir ?? call.dir };
  // Bash shows words alone; without their descriptions it gets them sooner.
  const isDescribed = shell !== "bash" || call.json;
  if (isDescribed) await loadWidths();
  const isOfFiles = lookUp === "trashed" || call.stored === undefined || place.dir !== undefined;
  if (lookUp === undefined || !isOfFiles) return [...known];
  const found =
    lookUp === "entries"
      ? await lookUpEntries(session, typed, place, isDescribed)
      : (await lookUpSessions(lookUp, typed, place)).map((one) => sessionCandidate(one, isDescribed));
  return [...known, ...found.filter(({ value }) => value.startsWith(typed) && HARMLESS_ID.test(value))];
}

/** Finds labels and ids of entries, the latest first; of a session that cannot be found, none. */
async function lookUpEntries(
  session: string | undefined,
  typed: string,
  place: Pick<CommandCall, "io" | "dir">,
  isDescribed: boolean,
): Promise<Candidate[]> {
  if (session === undefined || session === PIPED) return [];
  const { entryCandidates } = await import("../completion/entries.ts");
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
  const description = isDescribed ? truncate(titleOf(session), DESCRIPTION_WIDTH) : "";
  return { value: session.id, description };
}

/** Writes a candidate as the shell's script reads it. */
function lineFor(shell: Shell, { value, description }: Candidate): string {
  if (shell === "bash") return value;
  if (shell === "fish") return `${value}\t${description}`;
  const escaped = (text: string) => text.replace(/[\\:]/g, "\\$&");
  return `${escaped(value)}:${escaped(description)}`;
}
