import { formatKinship } from "../../../catalog/list/lineage.ts";
import { iterateSessions } from "../../../catalog/list/list-sessions.ts";
import { searchSessions } from "../../../catalog/search/search.ts";
import { deleteSession } from "../../../catalog/trash/trash.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { AnySessionEntry } from "../../../core/format/entry.ts";
import { SessionView } from "../../../session/manager/session-view.ts";
import { getEntryKind, getMessageKind, type Tone } from "../../text/entry-kind.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { changeSession, makeFileSession } from "../named-session.ts";
import { Output } from "../output.ts";
import { flag, foreignWords } from "../parameters.ts";
import { type ContentHit, pickSession } from "../picker/pick-session.ts";
import type { PickerRow, PickerScope, PreviewLine } from "../picker/state.ts";
import { getScope } from "../session-argument.ts";
import { startProgram } from "../start-program.ts";
import { UsageError } from "../usage-error.ts";

/** Maximum number of hits; the user can lengthen the query to find fewer. */
const MAX_HITS = 500;

const ALL = flag("--all", "start with the sessions of all projects");

const COMMAND = foreignWords(
  "[command...]",
  "a program to run; the session's path replaces {} or is added at the end",
);

/** `sessiontree resume`: displays a picker for choosing a session. */
export const command: Command = {
  details: `Type to filter by letters of the name or first message, or by words in these, the id, or, among all projects, the folder. Arrows, page up and down, home and end move; enter chooses; ctrl-f searches what was said; ctrl-r renames; ctrl-d or delete moves the session to the trash; tab switches between this project and all; escape cancels with exit code 130.

The picker is drawn on stderr, so that its choice can be read from stdout. If a program is run, its exit code is passed on.`,
  filesOnly:
    '"sessiontree list" lists what is in a database, and "sessiontree db copy" copies one to a folder.',
  parameters: [COMMAND, ALL],
  examples: [
    ["resume", "choose, and print the path"],
    ["resume -- less", "look at the file"],
    ["resume --all -- my-agent --session {} --verbose", "continue it in an agent"],
  ],
  run: resumeSession,
};

async function resumeSession(call: CommandCall): Promise<ExitCode> {
  const { dir, get, io } = call;
  if (io.terminal === undefined) {
    throw new UsageError(
      'resume needs a terminal. "sessiontree list" lists sessions, and @last names the latest',
    );
  }
  const chosen = await pickSession({
    terminal: io.terminal,
    colors: new Output(io.stderr, io.env).colors,
    scope: dir === undefined ? (get(ALL) ? "all" : "project") : "folder",
    nowMs: io.now,
    find: (scope, signal) => findSessions({ ...getScope(call, scope !== "project"), signal }),
    search: (query, scope, signal) => findContents(call, query, scope, signal),
    preview: makePreview,
    rename: (path, name) =>
      changeSession(makeFileSession(path, io), (session) => session.appendSessionInfo(name)),
    remove: (path) => deleteSession(path),
  });
  if (chosen === undefined) return EXIT_CODES.cancelled;
  const command = get(COMMAND);
  return command.length === 0
    ? printCommand(call, chosen)
    : startProgram(call, withPath(command, chosen.path), call.io.cwd);
}

/** Finds sessions. How each is related to other sessions is determined on access. */
async function* findSessions(
  scope: Parameters<typeof iterateSessions>[0],
): AsyncGenerator<PickerRow, void, undefined> {
  for await (const session of iterateSessions(scope)) {
    let kinship: string | undefined;
    yield {
      ...session,
      // Reads the file, so only for rows that are drawn.
      get kinship() {
        kinship ??= formatKinship(session);
        return kinship;
      },
    };
  }
}

/** Finds entries that contain a string, starting with the latest sessions. */
async function* findContents(
  call: CommandCall,
  query: string,
  scope: PickerScope,
  signal: AbortSignal,
): AsyncGenerator<ContentHit, void, undefined> {
  const options = { ...getScope(call, scope !== "project"), signal, limit: MAX_HITS };
  for await (const { session, role, snippet } of searchSessions(query, options)) {
    const line = { word: getMessageKind({ role }).word, text: toPlainLine(snippet) };
    yield { path: session.path, line };
  }
}

function printCommand(call: CommandCall, chosen: { path: string; id: string; cwd: string }): ExitCode {
  const { path, id, cwd } = chosen;
  if (call.json) call.out.json({ id, path, cwd });
  else call.out.path(path);
  return EXIT_CODES.ok;
}

const MAX_ENTRIES = 200;

/** Tones of entries shown in a preview; tool results and settings are omitted because they are not informative. */
const SHOWN: ReadonlySet<Tone> = new Set<Tone>(["user", "assistant", "command", "summary", "damaged"]);

/** Returns the last messages of a session's active branch, latest last. */
function makePreview(path: string): PreviewLine[] {
  const session = SessionView.at(path);
  const lines: PreviewLine[] = [];
  session.readEntries(session.pathTo(session.leaf, MAX_ENTRIES), (_, entry) => {
    const line = makePreviewLine(entry);
    if (line !== undefined) lines.push(line);
  });
  return lines;
}

function makePreviewLine(entry: AnySessionEntry | undefined): PreviewLine | undefined {
  const { tone, word } = getEntryKind(entry);
  const { text } = getExcerpt(entry);
  return SHOWN.has(tone) && text !== "" ? { word, text } : undefined;
}

/** Placeholder for the session's path in a command line. */
const PLACE = "{}";

/** Inserts a path into a command line: at each placeholder, or at the end if there is no placeholder. */
function withPath(command: readonly string[], path: string): string[] {
  const isPlaced = command.some((part) => part.includes(PLACE));
  return isPlaced ? command.map((part) => part.split(PLACE).join(path)) : [...command, path];
}
