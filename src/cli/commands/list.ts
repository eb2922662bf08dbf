import { listSessions } from "../../catalog/list-sessions.ts";
import type { SkippedFile } from "../../catalog/skipping.ts";
import type { Command, CommandCall } from "../command.ts";
import { EXIT_CODES, type ExitCode } from "../exit-codes.ts";
import { flag, textOption } from "../parameters.ts";
import { withProgress } from "../progress.ts";
import { sessionScope } from "../session-argument.ts";
import { sourceOfSession } from "../session-source.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import { type ListedSession, listedSession, type StoredSessions } from "../store/stored-sessions.ts";
import { plainLine } from "../text/plain.ts";
import { ago } from "../text/times.ts";
import { column, truncate, widthOf } from "../text/width.ts";
import { count } from "../text/words.ts";
import { UsageError } from "../usage-error.ts";
import { shortId, shortIdLength } from "../view/short-ids.ts";

const ALL = flag("--all", "sessions of all projects");
const SOURCE = textOption(
  "--source <program>",
  "only sessions imported from this program; any: from whichever",
);

/** Part of the width that the project may take. */
const PROJECT_PART = 0.25;

const AGE_WIDTH = 10;

/** Columns that a name gets at least, as long as there is something to leave out. */
const LEAST_NAME_WIDTH = 16;

/** `sessiontree list`: lists sessions, latest first. */
export const listCommand: Command = {
  name: "list",
  summary: "List sessions, latest first",
  details: `Without options: the sessions of the project in the current folder.
With --dir: all sessions in that folder, whatever their project.`,
  parameters: [ALL, SOURCE],
  examples: [
    ["list", "the sessions of this project"],
    ["list --all", "those of all projects"],
    ["list --all --source codex", "those imported from Codex"],
    ["list --dir ./sessions --json", "those in a folder, one JSON object per line"],
  ],
  run: async (call) => {
    const { get, out, json, stored } = call;
    if (stored !== undefined) return listStored(call, stored);
    const scope = sessionScope(call, call.get(ALL));
    const skipped: SkippedFile[] = [];
    const found = await withProgress(call, "Reading sessions", (onProgress) =>
      listSessions({ ...scope, onProgress, onSkipped: (file) => skipped.push(file) }),
    );
    const sessions = withSources(found, get(SOURCE), json);
    // Only now, since the line that shows how far it is stands on stderr, too.
    skipped.forEach(warnOfSkipped(call));
    if (json) for (const session of sessions) out.json(sessionJson(session));
    else if (sessions.length > 0) writeList(call, sessions, scope.cwd === undefined);
    else {
      const place = scope.sessionDir ?? scope.cwd;
      out.line(`No sessions${place === undefined ? "" : ` in ${plainLine(place)}`}.`);
      if (scope.cwd !== undefined) out.line("sessiontree list --all lists those of all projects.");
    }
    return EXIT_CODES.ok;
  },
};

/** Reads from which programs sessions were imported, where somebody asks for that. */
function withSources(
  sessions: readonly ListedSession[],
  wanted: string | undefined,
  json: boolean,
): readonly ListedSession[] {
  if (wanted === undefined && !json) return sessions;
  const known = sessions.map((session): ListedSession => {
    const source = session.path === undefined ? undefined : sourceOfSession(session.path);
    return source === undefined ? session : { ...session, source };
  });
  if (wanted === undefined) return known;
  return known.filter(({ source }) => source !== undefined && (wanted === "any" || source === wanted));
}

async function listStored(call: CommandCall, stored: StoredSessions): Promise<ExitCode> {
  const { get, io, json, out } = call;
  if (get(SOURCE) !== undefined) throw new UsageError("--source looks into files; leave --store out.");
  const isAll = get(ALL);
  const sessions: ListedSession[] = [];
  for await (const session of (await stored.store()).list(isAll ? {} : { cwd: io.cwd })) {
    const listed = listedSession(session);
    if (json) out.json(sessionJson({ ...listed, ...stored.locationOf(listed.id).json }));
    else sessions.push(listed);
  }
  if (sessions.length > 0) writeList(call, sessions, isAll);
  else if (!json) {
    out.line(`No sessions${isAll ? "" : ` of ${plainLine(io.cwd)}`} in ${plainLine(stored.address)}.`);
    if (!isAll) out.line("sessiontree list --all lists those of all projects.");
  }
  return EXIT_CODES.ok;
}

function sessionJson(session: ListedSession): object {
  const { id, path, store, cwd, name, parentSessionPath, parentSession } = session;
  const { created, modified, messageCount, firstMessage, issueCount, source } = session;
  return {
    id,
    ...(path !== undefined && { path }),
    ...(store !== undefined && { store }),
    cwd,
    ...(name !== undefined && { name }),
    ...(source !== undefined && { source }),
    ...(parentSessionPath !== undefined && { parentSessionPath }),
    ...(parentSession !== undefined && { parentSession }),
    created,
    modified,
    messageCount,
    firstMessage,
    ...((path !== undefined || issueCount !== undefined) && { issueCount: issueCount ?? 0 }),
  };
}

/** One line for each session: short id, age, number of messages, project where there are several, name or first message. */
function writeList({ out, io }: CommandCall, sessions: readonly ListedSession[], withProject: boolean): void {
  const { colours, width } = out;
  const now = io.now?.() ?? Date.now();
  const idLength = shortIdLength(sessions.map(({ id }) => id));
  const numbers = sessions.map(({ messageCount }) => count(messageCount));
  const numberWidth = Math.max(...numbers.map((number) => number.length));
  const projectWidth = withProject ? Math.floor(width * PROJECT_PART) : 0;
  const shown = fittingColumns([idLength, AGE_WIDTH, numberWidth, projectWidth], width);
  sessions.forEach((session, i) => {
    const { id, modified, name, firstMessage, issueCount = 0, source } = session;
    const facts = [
      colours.dim(column(shortId(id, idLength), idLength)),
      column(ago(modified.getTime(), now), AGE_WIDTH),
      colours.dim((numbers[i] ?? "").padStart(numberWidth)),
      colours.cyan(column(projectName(session), projectWidth)),
    ]
      .filter((_, place) => shown.has(place))
      .join("  ");
    const mark = issueCount > 0 ? "! " : "";
    const origin = source === undefined ? "" : `${source}  `;
    const text = truncate(
      plainLine(name ?? firstMessage),
      Math.max(0, width - widthOf(facts) - 2 - mark.length - origin.length),
    );
    const shownName = name === undefined ? text : colours.bold(text);
    out.line(`${facts}  ${colours.red(mark)}${colours.dim(origin)}${shownName}`.trimEnd());
  });
}

/**
 * Chooses the columns that leave room for a name, those before others first.
 *
 * @param widths - 0 for a column that is not wanted.
 * @returns Places of the columns; the first is always among them.
 */
function fittingColumns(widths: readonly number[], width: number): Set<number> {
  const shown = new Set<number>();
  let room = width - LEAST_NAME_WIDTH;
  widths.forEach((one, place) => {
    room -= one + 2;
    if (place === 0 || (one > 0 && room >= 0)) shown.add(place);
  });
  return shown;
}

/** The last folder of a project's path. */
function projectName({ cwd }: ListedSession): string {
  return plainLine(cwd.split(/[/\\]/).findLast(Boolean) ?? "");
}
