import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readImportOrigin } from "../../../catalog/list/deleted-imports.ts";
import { formatKinship } from "../../../catalog/list/lineage.ts";
import { listSessions } from "../../../catalog/list/list-sessions.ts";
import { hasAllWords } from "../../../catalog/list/resolve-session.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { joinTabs, toPlainLine } from "../../../core/facts/plain-text.ts";
import { getFolderName, getSessionTitle } from "../../../core/facts/session-title.ts";
import { getShortIdLength, WHOLE_ID } from "../../../core/facts/short-id-length.ts";
import { formatAgo, formatIsoTime } from "../../../core/facts/times.ts";
import { SOURCE_NAMES } from "../../../interop/import/imported-session.ts";
import type { SkippedFile } from "../../../session/files/skipped-files.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import { choiceOption, flag, numberOption, optionalArgument, rare } from "../parameters.ts";
import { withProgress } from "../progress.ts";
import { getScope, listOtherFolders, OPENCLAW } from "../session-argument.ts";
import { toSessionJson } from "../session-json.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import type { ListedRow, StoredSessions } from "../stored-sessions.ts";
import { fitColumn, measureWidth } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { formatTextAfter, MIN_TEXT_WIDTH, takeShortId } from "../view/entry-line.ts";

const WORDS = optionalArgument("[words]", "only sessions with these words in their name or first prompt");
const ALL = flag("--all", "sessions of all projects");
const SOURCE = rare(
  choiceOption("--source <program>", 'only sessions imported from this program, or "any"', [
    ...SOURCE_NAMES,
    OPENCLAW,
    "any",
  ]),
);

const LIMIT = numberOption("--limit <number>", "only this many, the latest ones");
const TITLES = { id: "id", age: "last used", messages: "messages", project: "project", name: "name" };
const PROJECT_PART = 0.25;

const AGE_WIDTH = 10;

/** `sessiontree list`: lists sessions, latest first. */
export const command: Command = {
  details: `Without options: the sessions of the project in the current folder. With --dir: all sessions in that folder, whatever their project.

In a pipe: one line per session, with tabs between id, time of the last message, number of messages, number of issues, project folder, name or first message, path, and with --source the program, and "gone" if the file it was imported from is.`,
  parameters: [WORDS, ALL, SOURCE, LIMIT, PRETTY],
  examples: [
    ["list", "the sessions of this project"],
    ["list rounding --all", "those about rounding, of all projects"],
    ["list --all --limit 10", "the last ten of all projects"],
    ["list --all --source codex", "those imported from Codex"],
    ["list --dir ./sessions --json", "those in a folder, one JSON object per line"],
  ],
  run: async (call) => {
    const { get, out, json, stored } = call;
    const isAll = stored === undefined ? getScope(call, get(ALL)).cwd === undefined : get(ALL);
    const found = stored === undefined ? await listFiles(call) : await listStored(call, stored);
    const words = get(WORDS);
    const fitting = words === undefined ? found : found.filter((one) => hasAllWords(one, words));
    const sessions = fitting.slice(0, get(LIMIT));
    if (json) for (const session of sessions) out.json(toSessionJson(session));
    else if (sessions.length > 0) writeList(call, sessions, isAll);
    else await writeNothing(call, isAll);
  },
};

async function listFiles(call: CommandCall): Promise<readonly ListedRow[]> {
  const { get, json } = call;
  const skipped: SkippedFile[] = [];
  const source = get(SOURCE);
  const otherDirs = get(ALL) || source === OPENCLAW || source === "any" ? listOtherFolders(call) : [];
  const found = await withProgress(call, "Reading sessions", (onProgress) =>
    listSessions({
      ...getScope(call, get(ALL)),
      otherDirs,
      onProgress,
      onSkipped: (file) => skipped.push(file),
    }),
  );
  // Only now, since the line that shows how far it is stands on stderr, too.
  skipped.forEach(warnOfSkipped(call));
  return withSources(found, source, json, otherDirs);
}

async function listStored({ get, io }: CommandCall, stored: StoredSessions): Promise<ListedRow[]> {
  if (get(SOURCE) !== undefined) throw new UsageError("--source looks into files; leave --store out.");
  // Those that hold words may stand behind others.
  const limit = get(WORDS) === undefined ? get(LIMIT) : undefined;
  const query = { ...(!get(ALL) && { cwd: io.cwd }), ...(limit !== undefined && { limit }) };
  const sessions: ListedRow[] = [];
  for await (const session of (await stored.store()).list(query)) {
    sessions.push({ ...session, ...stored.getLocation(session.id).json });
  }
  return sessions;
}

/** Reads from which programs sessions were imported, where somebody asks for that. */
function withSources(
  sessions: readonly ListedRow[],
  wanted: string | undefined,
  json: boolean,
  otherDirs: readonly string[],
): readonly ListedRow[] {
  if (wanted === undefined && !json) return sessions;
  const known = sessions.map((session): ListedRow => {
    const origin = session.path === undefined ? undefined : readImportOrigin(session.path);
    const isOther = session.path !== undefined && otherDirs.includes(dirname(session.path));
    if (isOther) return { ...session, source: OPENCLAW };
    if (origin === undefined) return session;
    const { source, sourcePath } = origin;
    return { ...session, source, sourceGone: sourcePath !== undefined && !existsSync(sourcePath) };
  });
  if (wanted === undefined) return known;
  return known.filter(({ source }) => source !== undefined && (wanted === "any" || source === wanted));
}

/** Says on stderr that the list is empty, and where there may be others. */
async function writeNothing(call: CommandCall, isAll: boolean): Promise<void> {
  const { get, io, note, stored } = call;
  const { sessionDir, cwd } = getScope(call, isAll);
  const ofStore = stored && `${isAll ? "" : ` of ${io.cwd}`} in ${stored.address}`;
  const ofFiles = sessionDir ?? cwd;
  const words = get(WORDS);
  const which = words === undefined ? "" : ` with ${JSON.stringify(words)} in their name or first prompt`;
  const where = ofStore ?? (ofFiles === undefined ? "" : ` in ${ofFiles}`);
  note(`No sessions${toPlainLine(`.${which}${where}`).slice(1)}.`);
  if (words !== undefined)
    note(`To find what was said: sessiontree search ${quoteForShell(toPlainLine(words))}`);
  if (!isAll) note("sessiontree list --all lists those of all projects.");
  if (stored === undefined && call.dir === undefined && words === undefined) await noteOthers(call);
}

/** Says which sessions of other programs are there and not imported, so that a new user sees what there is to look at. */
async function noteOthers({ io, note }: CommandCall): Promise<void> {
  const { previewImport } = await import("../../../interop/history/import-sessions.ts");
  const numbers = new Map<string, number>();
  // What cannot be read is told by the import.
  const options = { env: io.env, now: io.now, onSkipped: () => undefined };
  for (const { source, changed } of await previewImport(options))
    if (changed > 0) numbers.set(source, (numbers.get(source) ?? 0) + changed);
  if (numbers.size === 0) return;
  const all = [...numbers.values()].reduce((sum, number) => sum + number, 0);
  const each = [...numbers].map(([source, number]) => `${source} ${formatCount(number)}`).join(", ");
  note(
    `Other programs have ${formatCounted(all, "session")} that can be imported, with those of their subagents: ${each}.`,
  );
  note("To import them: sessiontree import --all");
}

function writeList(call: CommandCall, sessions: readonly ListedRow[], withProject: boolean): void {
  if (call.out.isLaidOut) writeTable(call, sessions, withProject);
  else for (const session of sessions) call.out.line(formatRow(session));
}

function formatRow(session: ListedRow): string {
  const { id, modified, messageCount, issueCount = 0, cwd, name, firstMessage, source } = session;
  const time = formatIsoTime(modified.getTime());
  return joinTabs([
    id,
    time,
    messageCount,
    issueCount,
    cwd,
    name ?? firstMessage ?? "",
    session.path ?? session.store ?? "",
    ...(source === undefined ? [] : [source]),
    ...(session.sourceGone === true ? ["gone"] : []),
  ]);
}

/** One line for each session: short id, age, number of messages, project where there are several, name or first message. */
function writeTable({ out, io }: CommandCall, sessions: readonly ListedRow[], withProject: boolean): void {
  const { colors, width } = out;
  const now = io.now();
  const idLength = getShortIdLength(
    sessions.map(({ id }) => id),
    WHOLE_ID,
  );
  const numbers = sessions.map(({ messageCount }) => formatCount(messageCount));
  const numberWidth = Math.max(TITLES.messages.length, ...numbers.map((number) => number.length));
  const projects = sessions.map(({ cwd }) => toPlainLine(getFolderName(cwd)));
  const longest = Math.max(TITLES.project.length, ...projects.map(measureWidth));
  const projectWidth = withProject ? Math.min(longest, Math.floor(width * PROJECT_PART)) : 0;
  // The project tells sessions apart that begin alike; how many messages they have is what a reader needs least.
  const shown = chooseColumns([idLength, AGE_WIDTH, numberWidth, projectWidth], [0, 1, 3, 2], width);
  const title = [
    fitColumn(TITLES.id, idLength),
    fitColumn(TITLES.age, AGE_WIDTH),
    TITLES.messages.padStart(numberWidth),
    fitColumn(TITLES.project, projectWidth),
  ].filter((_, place) => shown.has(place));
  out.line(colors.dim([...title, TITLES.name].join("  ")));
  sessions.forEach((session, i) => {
    const { id, modified, name, issueCount = 0, source, sourceGone = false } = session;
    const facts = [
      colors.dim(fitColumn(takeShortId(id, idLength), idLength)),
      fitColumn(formatAgo(modified.getTime(), now), AGE_WIDTH),
      colors.dim((numbers[i] ?? "").padStart(numberWidth)),
      colors.cyan(fitColumn(projects[i] ?? "", projectWidth)),
    ]
      .filter((_, place) => shown.has(place))
      .join("  ");
    const mark = issueCount > 0 ? "! " : "";
    const origin = source === undefined ? "" : `  ${colors.dim(`${source}${sourceGone ? " (gone)" : ""}`)}`;
    const paint = (text: string) => {
      const front = text.startsWith(mark) ? mark : "";
      const rest = text.slice(front.length);
      return colors.red(front) + (name === undefined ? rest : colors.bold(rest));
    };
    out.line(
      formatTextAfter(
        `${facts}${origin}`,
        `${mark}${formatKinship(session)}${getSessionTitle(session)}`,
        out,
        paint,
      ),
    );
  });
}

/**
 * Chooses the columns that leave room for a name, in an order of which the first is always among them. A width of 0 is that of a
 * column that is not wanted.
 */
function chooseColumns(widths: readonly number[], order: readonly number[], width: number): Set<number> {
  const [first = 0] = order;
  const shown = new Set([first]);
  let room = width - MIN_TEXT_WIDTH - 2 - (widths[first] ?? 0);
  for (const place of order.slice(1)) {
    const needed = (widths[place] ?? 0) + 2;
    if (needed === 2 || needed > room) continue;
    room -= needed;
    shown.add(place);
  }
  return shown;
}
