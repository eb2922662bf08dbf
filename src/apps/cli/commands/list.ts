import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { CatalogOptions } from "../../../catalog/list/catalog-run.ts";
import { readImportOrigin } from "../../../catalog/list/deleted-imports.ts";
import { formatKinship } from "../../../catalog/list/lineage.ts";
import { hasWords, listSessions } from "../../../catalog/list/list-sessions.ts";
import { getTitleText } from "../../../catalog/list/resolve-session.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { joinTabs, toPlainLine } from "../../../core/facts/plain-text.ts";
import { findTitleText, getFolderName } from "../../../core/facts/session-title.ts";
import { formatIsoTime, formatLastUse } from "../../../core/facts/times.ts";
import { formatCost, getDollars, makeEmptySpent, type Spent } from "../../../core/facts/usage-tally.ts";
import { SOURCE_NAMES } from "../../../interop/import/imported-session.ts";
import { compareRows, type FileRow } from "../../../session/files/session-row.ts";
import type { SkippedFile } from "../../../session/files/skipped-files.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import { countImportable } from "../importable-sessions.ts";
import { choiceOption, flag, numberOption, optionalArgument, rare, textOption } from "../parameters.ts";
import { makeTablePrices } from "../price-table.ts";
import { withProgress } from "../progress.ts";
import { getScope, listOtherFolders, OPENCLAW } from "../session-argument.ts";
import { measureSessionIds } from "../session-ids.ts";
import { toSessionJson } from "../session-json.ts";
import { warnOfSkipped } from "../skipped-files.ts";
import { getSpan } from "../span-options.ts";
import type { ListedRow, StoredSessions } from "../stored-sessions.ts";
import { fitColumn, measureWidth } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { formatTextAfter, MIN_TEXT_WIDTH, takeShortId } from "../view/entry-line.ts";

const WORDS = optionalArgument("[words]", "only sessions with these words in name, first prompt, or project");
const ALL = flag("--all", "sessions of all projects");
const SOURCE = rare(
  choiceOption("--source <program>", 'only sessions imported from this program, or "any"', [
    ...SOURCE_NAMES,
    OPENCLAW,
    "any",
  ]),
);

const SINCE = textOption(
  "--since <time>",
  "only sessions used since this time: today, week, month, 7d, 2026-11-23",
);
const SORT = choiceOption("--sort <order>", "by latest or cost; default: latest", ["latest", "cost"]);
const PATH = flag("--path", "print only paths");
const LIMIT = numberOption("--limit <number>", "only the first ones, at most this many");
const TITLES = {
  id: "id",
  age: "last used",
  messages: "messages",
  cost: "cost",
  program: "program",
  model: "model",
  project: "project",
  name: "name",
};
const PROJECT_PART = 0.25;

/** Width of `2026-11-23` and `Today 09:30`, in columns. */
const DAY_WIDTH = 11;

/** Minimum terminal width, in columns, for displaying the program and the model. */
const PROGRAM_FROM = 100;
const MAX_MODEL_WIDTH = 24;

/** `sessiontree list`: lists sessions, latest first. */
export const command: Command = {
  details: `Without options: the sessions of the project in the current folder. With --dir: all sessions in that folder, regardless of project.

In a pipe: one line per session, with tabs between id, time of the last message, number of messages, number of issues, project folder, name or title, path, and with --source the program, and "gone" if the file it was imported from no longer exists.`,
  parameters: [WORDS, ALL, SOURCE, SINCE, SORT, LIMIT, PATH, PRETTY],
  examples: [
    ["list", "the sessions of this project"],
    ["list rounding --all", "those about rounding, of all projects"],
    ["list --all --limit 10", "the last ten of all projects"],
    ["list --all --since month --sort cost", "the most expensive ones of this month"],
    ["list --all --source codex", "those imported from Codex"],
    ["list --dir ./sessions --json", "those in a folder, one JSON object per line"],
  ],
  run: async (call) => {
    const { get, out, json, stored } = call;
    const isAll = stored === undefined ? getScope(call, get(ALL)).cwd === undefined : get(ALL);
    const isByCost = get(SORT) === "cost";
    if (isByCost && stored !== undefined)
      throw new UsageError("--sort cost reads files; for a store, use stats --by session --sort cost.");
    const isTable = out.isLaidOut && !json && !get(PATH);
    const {
      rows: found,
      costs,
      origins,
    } = stored === undefined
      ? await listFiles(call, isByCost || isTable)
      : { rows: await listStored(call, stored), costs: NO_COSTS, origins: NO_ORIGINS };
    const words = get(WORDS);
    const { since } = getSpan(call, SINCE, undefined, false);
    const fitting = found.filter(
      (one) =>
        (words === undefined ||
          hasWords(`${getTitleText(one)} ${isAll ? getFolderName(one.cwd) : ""}`, words)) &&
        (since === undefined || one.modified >= since),
    );
    const getCost = (session: ListedRow) => getDollars(costs.get(session.path ?? "") ?? NOTHING);
    const sorted = isByCost ? fitting.toSorted((a, b) => getCost(b) - getCost(a)) : fitting;
    const sessions = sorted.slice(0, get(LIMIT));
    if (json) for (const session of sessions) out.json(toSessionJson(session));
    else if (sessions.length === 0) await writeNothing(call, isAll);
    else if (get(PATH)) for (const session of sessions) out.path(session.path ?? session.store ?? session.id);
    else if (isTable)
      writeTable(call, sessions, {
        withProject: isAll,
        costs,
        origins,
        idLength: await measureSessionIds(call, found, stored !== undefined || isAll),
      });
    else for (const session of sessions) out.line(formatRow(session));
  },
};

/** Program and model of a session. */
interface Origin {
  /** Program that the session was imported from; null for a session that was not imported. */
  readonly program: string | null;
  /** Model that made most of its calls. */
  readonly model: string | null;
}

const NO_COSTS: ReadonlyMap<string, Spent> = new Map();
const NO_ORIGINS: ReadonlyMap<string, Origin> = new Map();
const NOTHING = makeEmptySpent();

interface FoundFiles {
  readonly rows: readonly ListedRow[];
  /** Usage of each session, including its subagents, by path; empty unless requested. */
  readonly costs: ReadonlyMap<string, Spent>;
  /** Origins by path; empty unless costs were requested. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Lists session files, with their costs if requested, in one pass over the files. */
async function listFiles(call: CommandCall, withCosts: boolean): Promise<FoundFiles> {
  const { get, json } = call;
  const skipped: SkippedFile[] = [];
  const source = get(SOURCE);
  const otherDirs = get(ALL) || source === OPENCLAW || source === "any" ? listOtherFolders(call) : [];
  const onSkipped = (file: SkippedFile) => skipped.push(file);
  const scope = { ...getScope(call, get(ALL)), otherDirs, onSkipped };
  const found = await withProgress(call, "Reading sessions", async (onProgress) =>
    withCosts
      ? listWithCosts(scope, onProgress)
      : { rows: await listSessions({ ...scope, onProgress }), costs: NO_COSTS, origins: NO_ORIGINS },
  );
  // Warn only after listing, because the progress line is also on stderr.
  skipped.forEach(warnOfSkipped(call));
  return { ...found, rows: withSources(found.rows, source, json, otherDirs) };
}

async function listWithCosts(
  scope: CatalogOptions,
  onProgress: ((loaded: number, total: number) => void) | undefined,
): Promise<FoundFiles> {
  const [{ collectCalls }, { groupCalls }, { findMainModel }] = await Promise.all([
    import("../../../catalog/usage/collect-usage.ts"),
    import("../../../catalog/usage/usage-groups.ts"),
    import("../../../catalog/usage/main-model.ts"),
  ]);
  const { sessions } = await collectCalls(scope, onProgress);
  const { groups } = groupCalls(sessions, { by: ["session"], prices: makeTablePrices() });
  const origins = new Map<string, Origin>();
  const rows: FileRow[] = [];
  for (const { row, recorded, isOutside = false } of sessions) {
    const { path } = row;
    if (path === undefined || isOutside) continue;
    rows.push({ ...row, path });
    origins.set(path, { program: recorded.source, model: findMainModel(recorded) });
  }
  return {
    rows: rows.sort(compareRows),
    costs: new Map(groups.map((group) => [group.by.session?.path ?? "", group])),
    origins,
  };
}

async function listStored({ get, io }: CommandCall, stored: StoredSessions): Promise<ListedRow[]> {
  if (get(SOURCE) !== undefined) throw new UsageError("--source reads files; leave out --store.");
  // Sessions that contain the words may come after others.
  const limit = get(WORDS) === undefined ? get(LIMIT) : undefined;
  const query = { ...(!get(ALL) && { cwd: io.cwd }), ...(limit !== undefined && { limit }) };
  const sessions: ListedRow[] = [];
  for await (const session of (await stored.store()).list(query)) {
    sessions.push({ ...session, ...stored.getLocation(session.id).json });
  }
  return sessions;
}

/** Adds the programs that sessions were imported from, and filters by program, if requested. */
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

/** Reports on stderr that the list is empty, and where other sessions may be. */
async function writeNothing(call: CommandCall, isAll: boolean): Promise<void> {
  const { get, io, note, stored } = call;
  const { sessionDir, cwd } = getScope(call, isAll);
  const ofStore = stored && `${isAll ? "" : ` of ${io.cwd}`} in ${stored.address}`;
  const ofFiles = sessionDir ?? cwd;
  const words = get(WORDS);
  const which =
    words === undefined ? "" : ` with ${JSON.stringify(words)} in their name, first prompt, or project`;
  const where = ofStore ?? (ofFiles === undefined ? "" : ` in ${ofFiles}`);
  note(`No sessions${toPlainLine(`.${which}${where}`).slice(1)}.`);
  if (words !== undefined)
    note(
      `To find what was said: sessiontree search ${words.split(/\s+/).map(toPlainLine).map(quoteForShell).join(" ")}`,
    );
  if (!isAll) note("sessiontree list --all lists those of all projects.");
  if (stored === undefined && call.dir === undefined && words === undefined) await noteOthers(call);
}

/** Lists other programs' sessions that can be imported. */
async function noteOthers({ io, note }: CommandCall): Promise<void> {
  const found = await countImportable(io);
  if (found.length === 0) return;
  const all = found.reduce((sum, { sessions }) => sum + sessions, 0);
  const each = found.map(({ source, sessions }) => `${source} ${formatCount(sessions)}`).join(", ");
  note(
    `Other programs have ${formatCounted(all, "session")} that can be imported, plus subagent sessions: ${each}.`,
  );
  note("To import them: sessiontree import --all");
}

function formatRow(session: ListedRow): string {
  const { id, modified, messageCount, issueCount = 0, cwd, name, title, firstMessage = "", source } = session;
  const time = formatIsoTime(modified.getTime());
  return joinTabs([
    id,
    time,
    messageCount,
    issueCount,
    cwd,
    name ?? findTitleText(title, firstMessage) ?? title,
    session.path ?? session.store ?? "",
    ...(source === undefined ? [] : [source]),
    ...(session.sourceGone === true ? ["gone"] : []),
  ]);
}

interface TableOptions {
  /** Whether the sessions may belong to several projects. */
  readonly withProject: boolean;
  /** By path. */
  readonly costs: ReadonlyMap<string, Spent>;
  /** By path. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Number of characters of an id. */
  readonly idLength: number;
}

/**
 * Writes one line per session: short id, day, number of messages, cost, project (if there is more than one), program and model
 * (on a wide terminal), and title.
 */
function writeTable(
  { out, io }: CommandCall,
  sessions: readonly ListedRow[],
  { withProject, costs, origins, idLength }: TableOptions,
): void {
  const { colors, width } = out;
  const now = io.now();
  const prices = sessions.map(({ path }) => {
    const spent = costs.get(path ?? "");
    return spent === undefined || spent.calls === 0 ? "" : formatCost(spent);
  });
  const isPriced = prices.some((price) => price !== "" && price !== formatCost(NOTHING));
  const priceWidth = isPriced ? Math.max(TITLES.cost.length, ...prices.map((price) => price.length)) : 0;
  const numbers = sessions.map(({ messageCount }) => formatCount(messageCount));
  const numberWidth = Math.max(TITLES.messages.length, ...numbers.map((number) => number.length));
  const projects = sessions.map(({ cwd }) => toPlainLine(getFolderName(cwd)));
  const longest = Math.max(TITLES.project.length, ...projects.map(measureWidth));
  const projectWidth = withProject ? Math.min(longest, Math.floor(width * PROJECT_PART)) : 0;
  const getOrigin = ({ path = "" }: ListedRow) => (width < PROGRAM_FROM ? undefined : origins.get(path));
  // With --source, each row ends with its program.
  const programs = sessions.map((one) => (one.source === undefined ? (getOrigin(one)?.program ?? "") : ""));
  const models = sessions.map((one) => toPlainLine(getOrigin(one)?.model ?? ""));
  const programWidth = measureColumn(TITLES.program, programs);
  const modelWidth = Math.min(MAX_MODEL_WIDTH, measureColumn(TITLES.model, models));
  // The project distinguishes sessions with similar titles; the program and the model matter least to a reader.
  const shown = chooseColumns(
    [idLength, DAY_WIDTH, numberWidth, priceWidth, projectWidth, programWidth, modelWidth],
    [0, 1, 4, 3, 2, 5, 6],
    width,
  );
  const title = [
    fitColumn(TITLES.id, idLength),
    fitColumn(TITLES.age, DAY_WIDTH),
    TITLES.messages.padStart(numberWidth),
    TITLES.cost.padStart(priceWidth),
    fitColumn(TITLES.project, projectWidth),
    fitColumn(TITLES.program, programWidth),
    fitColumn(TITLES.model, modelWidth),
  ].filter((_, place) => shown.has(place));
  out.line(colors.dim([...title, TITLES.name].join("  ")));
  sessions.forEach((session, i) => {
    const { id, modified, name, issueCount = 0, source, sourceGone = false } = session;
    const facts = [
      colors.dim(fitColumn(takeShortId(id, idLength), idLength)),
      fitColumn(formatLastUse(modified.getTime(), now), DAY_WIDTH),
      colors.dim((numbers[i] ?? "").padStart(numberWidth)),
      (prices[i] ?? "").padStart(priceWidth),
      colors.cyan(fitColumn(projects[i] ?? "", projectWidth)),
      colors.dim(fitColumn(programs[i] ?? "", programWidth)),
      colors.dim(fitColumn(models[i] ?? "", modelWidth)),
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
      formatTextAfter(`${facts}${origin}`, `${mark}${formatKinship(session)}${session.title}`, out, paint),
    );
  });
}

/** Returns the width of a column; 0 if it is empty in all rows. */
function measureColumn(title: string, texts: readonly string[]): number {
  const longest = Math.max(0, ...texts.map(measureWidth));
  return longest === 0 ? 0 : Math.max(title.length, longest);
}

/**
 * Chooses columns in order of importance as long as space for a name remains; the first column is always included. A column of
 * width 0 is omitted.
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
