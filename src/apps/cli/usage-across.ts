import { collectUsage, type UsageReport } from "../../catalog/usage/collect-usage.ts";
import {
  type GroupOptions,
  USAGE_KEYS,
  type UsageGroup,
  type UsageKey,
} from "../../catalog/usage/usage-groups.ts";
import { formatCount, formatCounted } from "../../core/facts/number-text.ts";
import { toPlainLine } from "../../core/facts/plain-text.ts";
import { getShortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import { countInputTokens, UNKNOWN_MODEL } from "../../core/facts/usage.ts";
import { formatCost, getDollars } from "../../core/facts/usage-tally.ts";
import { SOURCE_NAMES } from "../../interop/import/imported-session.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SkippedFile } from "../../session/files/skipped-files.ts";
import type { CommandCall } from "./command.ts";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";
import {
  choiceOption,
  choicesOption,
  flag,
  numberOption,
  optionWithOrWithout,
  type Parameter,
  textOption,
} from "./parameters.ts";
import { formatPriceTable } from "./price-table.ts";
import { getPrices, PRICES } from "./prices.ts";
import { getScope, resolvePath } from "./session-argument.ts";
import { toSessionJson } from "./session-json.ts";
import { warnOfSkipped } from "./skipped-files.ts";
import { getSpan } from "./span-options.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { fitColumn, measureWidth, truncateStart } from "./text/width.ts";
import { UsageError } from "./usage-error.ts";
import { takeShortId } from "./view/entry-line.ts";
import { writeUsageTable } from "./view/usage-table.ts";

const ALL = flag("--all", "add up sessions of all projects");
const PROJECT = optionWithOrWithout(
  "--project [folder]",
  "add up sessions of the project in this folder; default: the current one",
);
const BY = choicesOption(
  "--by <keys>",
  `by ${USAGE_KEYS.join(", ")}; or by several, separated by commas; default: day`,
  USAGE_KEYS,
);
const SINCE = textOption(
  "--since <time>",
  "only calls since this time: 2026-11-23, 7d; also 2026-11, 2026-11-23T12:00",
);
const UNTIL = textOption("--until <time>", "only calls until this time; a month or a day is included");
const SOURCE = choiceOption("--source <program>", 'only sessions imported from this program, or "any"', [
  ...SOURCE_NAMES,
  "any",
]);
const SORTS = ["cost", "total", "input", "output", "calls", "sessions"] as const;
const SORT = choiceOption(
  "--sort <number>",
  `by ${SORTS.join(", ")}; largest first; cost includes estimates`,
  SORTS,
);
const LIMIT = numberOption(
  "--limit <number>",
  "only the first groups, at most this many; the total includes all groups",
);
const UTC = flag("--utc", "group by days in UTC");

/** Parameters of sums across sessions. */
export const ACROSS_PARAMETERS: readonly Parameter<unknown>[] = [
  ...[ALL, PROJECT, BY, SINCE, UNTIL],
  ...[SOURCE, SORT, LIMIT, UTC, PRICES],
];

/**
 * Returns whether a call requests sums across sessions. Any of these parameters requests them, except prices, which also apply to
 * a single session.
 */
export function isAcross({ get }: CommandCall): boolean {
  return ACROSS_PARAMETERS.some((parameter) => {
    const value = get(parameter);
    return parameter !== PRICES && value !== undefined && value !== false;
  });
}

/** Writes the usage and cost of model calls across sessions: as JSON, with one line per group, or as a table. */
export async function writeUsageAcross(call: CommandCall): Promise<ExitCode> {
  const { get, json, out, note, stored, warn } = call;
  const by: readonly UsageKey[] = get(BY) ?? ["day"];
  const [source, utc] = [get(SOURCE), get(UTC)];
  const span = getSpan(call, SINCE, UNTIL, utc);
  const options: GroupOptions = {
    by,
    ...span,
    utc,
    prices: getPrices(call),
    ...(source !== undefined && { source }),
  };
  const report =
    stored === undefined ? await countFiles(call, options) : await countStore(call, stored, options);
  const { shown, left } = chooseGroups(report.groups, get(SORT), get(LIMIT));
  if (json) for (const group of shown) out.json(groupJson(group));
  else if (report.groups.length === 0) note("No usage is recorded.");
  else writeTable(shown, { by, total: report.total, left }, call);
  const damaged = report.damaged.length;
  if (damaged > 0) warn(`${formatCounted(damaged, "damaged file")}; "sessiontree verify --all" lists them.`);
  return EXIT_CODES.ok;
}

async function countFiles(call: CommandCall, options: GroupOptions): Promise<UsageReport> {
  const { get, io } = call;
  const project = get(PROJECT);
  if (project !== undefined && get(ALL)) throw new UsageError("Give --all or --project, not both.");
  const cwd =
    typeof project === "string" ? { cwd: resolvePath(io.cwd, project) } : project && { cwd: io.cwd };
  const skipped: SkippedFile[] = [];
  const report = await collectUsage({
    ...getScope(call, get(ALL)),
    ...cwd,
    ...options,
    onSkipped: (file) => skipped.push(file),
  });
  skipped.forEach(warnOfSkipped(call));
  return report;
}

/** Totals the sessions in a database, reading each session once, because databases do not store totals. */
async function countStore(
  { get, io }: CommandCall,
  stored: StoredSessions,
  options: GroupOptions,
): Promise<UsageReport> {
  const { collectStoreUsage } = await import("../../stores/contract/store-usage.ts");
  const project = get(PROJECT);
  const cwd = typeof project === "string" ? resolvePath(io.cwd, project) : io.cwd;
  return collectStoreUsage(await stored.store(), {
    ...options,
    ...(!get(ALL) && { cwd }),
    located: (row) => ({ ...row, ...stored.getLocation(row.id).json }),
  });
}

/** Sorts and limits groups; keeps subagents with their session. */
function chooseGroups(
  groups: readonly UsageGroup[],
  sort: (typeof SORTS)[number] | undefined,
  limit: number | undefined,
): { shown: UsageGroup[]; left: number } {
  const blocks: UsageGroup[][] = [];
  for (const group of groups) {
    if (group.subagentOf === undefined) blocks.push([group]);
    else blocks.at(-1)?.push(group);
  }
  const getSize = ([group]: UsageGroup[]) => {
    if (sort === undefined || group === undefined) return 0;
    return sort === "cost" ? getDollars(group) : group[sort];
  };
  blocks.sort((a, b) => getSize(b) - getSize(a));
  return { shown: blocks.slice(0, limit).flat(), left: blocks.slice(limit ?? blocks.length).length };
}

function groupJson({ by, subagentOf, ...sums }: UsageGroup): object {
  const { session } = by;
  const named = session === undefined ? by : { ...by, session: toSessionJson(session) };
  return { by: named, ...(subagentOf !== undefined && { subagentOf: toNameJson(subagentOf) }), ...sums };
}

function toNameJson({ id, path }: SessionRow): object {
  return { id, ...(path !== undefined && { path }) };
}

interface Shown {
  readonly by: readonly UsageKey[];
  readonly total: UsageGroup;
  readonly left: number;
}

function writeTable(
  groups: readonly UsageGroup[],
  { by, total, left }: Shown,
  { get, out, note }: CommandCall,
): void {
  const hasEstimates = total.estimated !== null;
  const cells = (group: UsageGroup) => [
    ...[group.sessions, group.calls, countInputTokens(group), group.output].map(formatCount),
    formatCost(group),
  ];
  const isPriced = total.cost !== null || hasEstimates;
  const names = formatNames(groups, by);
  const rows = groups.map((group, i) => ({
    name: names[i] ?? "",
    numbers: cells(group),
    size: group.subagentOf === undefined ? (isPriced ? getDollars(group) : group.total) : 0,
  }));
  writeUsageTable(
    [by.join(", "), "sessions", "calls", "all input", "output", "cost"],
    [...rows, { name: "total", numbers: cells(total), isTotal: true }],
    out,
    // The end of a path distinguishes projects.
    by.length === 1 && by[0] === "project" ? truncateStart : undefined,
  );
  if (left > 0) note(`${formatCounted(left, "more group")}; the total includes all groups.`);
  note(
    'Only sessions with recorded calls are counted, including those of subagents; "list" shows all sessions.',
  );
  if (hasEstimates && get(PRICES) === undefined) note(formatPriceTable());
  if (total.unpriced > 0)
    note(`${formatCounted(total.unpriced, "token")} without a known price; --prices FILE estimates them.`);
}

const NOT_SAID = {
  day: "(no time)",
  week: "(no time)",
  month: "(no time)",
  model: UNKNOWN_MODEL,
  project: "(no project)",
  source: "(not imported)",
} as const;

/** Maximum width, in columns, of a key that is followed by other keys, so that a long name leaves space for them. */
const MAX_KEY_WIDTH = 32;

/** Formats groups by their keys, in columns; the last key has no maximum width. */
function formatNames(groups: readonly UsageGroup[], by: readonly UsageKey[]): string[] {
  const idLength = getShortIdLength(
    groups.flatMap(({ by: { session } }) => session?.id ?? []),
    WHOLE_ID,
  );
  const depths = new Map<SessionRow, number>();
  const texts = groups.map((group) => {
    const depth = group.subagentOf === undefined ? 0 : (depths.get(group.subagentOf) ?? 0) + 1;
    return by.map((key) => {
      if (key !== "session") return toPlainLine(group.by[key] ?? NOT_SAID[key]);
      const { session } = group.by;
      if (session === undefined) return "";
      depths.set(session, depth);
      return `${"  ".repeat(depth)}${fitColumn(takeShortId(session.id, idLength), idLength)}  ${session.title}`;
    });
  });
  const widths = by.map((_, i) =>
    Math.min(
      MAX_KEY_WIDTH,
      texts.reduce((width, row) => Math.max(width, measureWidth(row[i] ?? "")), 0),
    ),
  );
  return texts.map((row) =>
    row.map((text, i) => (i < row.length - 1 ? fitColumn(text, widths[i] ?? 0) : text)).join("  "),
  );
}
