import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { CatalogOptions } from "../../../catalog/list/catalog-run.ts";
import { readImportOrigin } from "../../../catalog/list/deleted-imports.ts";
import { hasWords, listSessions } from "../../../catalog/list/list-sessions.ts";
import { getTitleText } from "../../../catalog/list/resolve-session.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { joinTabs, toPlainLine, toShortLine } from "../../../core/facts/plain-text.ts";
import { getFolderName } from "../../../core/facts/session-title.ts";
import { formatIsoTime } from "../../../core/facts/times.ts";
import { getDollars, makeEmptySpent, type Spent } from "../../../core/facts/usage-tally.ts";
import { SOURCE_NAMES } from "../../../interop/import/imported-session.ts";
import { compareRows, type FileRow } from "../../../session/files/session-row.ts";
import type { SkippedFile } from "../../../session/files/skipped-files.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import { formatSkipped } from "../import-run.ts";
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
import { UsageError } from "../usage-error.ts";
import { type Origin, writeSessionTable } from "../view/session-table.ts";

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

/** `sessiontree list`: lists sessions, latest first. */
export const command: Command = {
  details: `Without options: the sessions of the project in the current folder. With --dir: all sessions in that folder, regardless of project.

In a pipe: one line per session, with tabs between id, time of the last message, number of messages, number of issues, project folder, name or title (at most 400 characters), path, and with --source the program, and "gone" if the file it was imported from no longer exists.`,
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
      subagents,
    } = stored === undefined
      ? await listFiles(call, isByCost || isTable)
      : { rows: await listStored(call, stored), ...NO_USAGE };
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
    else if (isTable) {
      writeSessionTable(call, sessions, {
        withProject: isAll,
        costs,
        origins,
        idLength: await measureSessionIds(call, found, stored !== undefined || isAll),
      });
      if (sessions.some(({ path = "" }) => subagents.has(path)))
        call.note("The cost of a session includes its subagents, which are also listed.");
    } else for (const session of sessions) out.line(formatRow(session));
  },
};

const NOTHING = makeEmptySpent();

interface FoundFiles {
  readonly rows: readonly ListedRow[];
  /** Usage of each session, including its subagents, by path; empty unless requested. */
  readonly costs: ReadonlyMap<string, Spent>;
  /** Origins by path; empty unless costs were requested. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Paths of subagents' sessions with usage, which is also part of another session's; empty unless costs were requested. */
  readonly subagents: ReadonlySet<string>;
}

const NO_USAGE: Omit<FoundFiles, "rows"> = { costs: new Map(), origins: new Map(), subagents: new Set() };

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
      : { rows: await listSessions({ ...scope, onProgress }), ...NO_USAGE },
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
    subagents: new Set(
      groups.flatMap(({ by, subagentOf }) =>
        subagentOf && by.session?.path !== undefined ? by.session.path : [],
      ),
    ),
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
  const skipped: string[] = [];
  const found = await countImportable(io, (path, error) => skipped.push(formatSkipped(path, error)));
  for (const one of skipped) note(toPlainLine(one));
  if (found.length === 0) return;
  const all = found.reduce((sum, { sessions }) => sum + sessions, 0);
  const each = found.map(({ source, sessions }) => `${source} ${formatCount(sessions)}`).join(", ");
  note(
    `Other programs have ${formatCounted(all, "session")} that can be imported, plus subagent sessions: ${each}.`,
  );
  note("To import them: sessiontree import --all");
}

function formatRow(session: ListedRow): string {
  const { id, modified, messageCount, issueCount = 0, cwd, name, title, source } = session;
  const time = formatIsoTime(modified.getTime());
  return joinTabs([
    id,
    time,
    messageCount,
    issueCount,
    cwd,
    toShortLine(name ?? title),
    session.path ?? session.store ?? "",
    ...(source === undefined ? [] : [source]),
    ...(session.sourceGone === true ? ["gone"] : []),
  ]);
}
