import { collectUsage, type UsageReport } from "../../catalog/usage/collect-usage.ts";
import {
  type GroupOptions,
  USAGE_KEYS,
  type UsageGroup,
  type UsageKey,
} from "../../catalog/usage/usage-groups.ts";
import { count, counted, dollars } from "../../core/facts/number-text.ts";
import { plainLine } from "../../core/facts/plain-text.ts";
import { titleOf } from "../../core/facts/session-title.ts";
import { shortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import { tokensIn, UNKNOWN_MODEL } from "../../core/facts/usage.ts";
import { dollarsOf } from "../../core/facts/usage-tally.ts";
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
import { PRICES, pricesOf } from "./prices.ts";
import { pathOf, sessionScope } from "./session-argument.ts";
import { sessionJson } from "./session-json.ts";
import { warnOfSkipped } from "./skipped-files.ts";
import { spanOf } from "./span-options.ts";
import type { StoredSessions } from "./stored-sessions.ts";
import { column, truncateStart, widthOf } from "./text/width.ts";
import { UsageError } from "./usage-error.ts";
import { shortId } from "./view/entry-line.ts";
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
  "only calls since then: 2026-11-23, 7d; also 2026-11, 2026-11-23T12:00",
);
const UNTIL = textOption("--until <time>", "only calls until then; a month or a day is included");
const SOURCE = choiceOption("--source <program>", 'only sessions imported from this program, or "any"', [
  ...SOURCE_NAMES,
  "any",
]);
const SORTS = ["cost", "total", "input", "output", "calls", "sessions"] as const;
const SORT = choiceOption(
  "--sort <number>",
  `by ${SORTS.join(", ")}; the largest first; cost is stated and estimated`,
  SORTS,
);
const LIMIT = numberOption(
  "--limit <number>",
  "only this many groups, the first ones; the total is that of all",
);
const UTC = flag("--utc", "days are those of UTC");

/** What the sums across sessions can be told. */
export const ACROSS_PARAMETERS: readonly Parameter<unknown>[] = [
  ...[ALL, PROJECT, BY, SINCE, UNTIL],
  ...[SOURCE, SORT, LIMIT, UTC, PRICES],
];

/** Whether a call asks for sums across sessions: any of these parameters says so. */
export function isAcross({ get }: CommandCall): boolean {
  return ACROSS_PARAMETERS.some((parameter) => {
    const value = get(parameter);
    return value !== undefined && value !== false;
  });
}

/** Writes what calls of models used and cost across sessions: as JSON a line for each group, else a table. */
export async function writeUsageAcross(call: CommandCall): Promise<ExitCode> {
  const { get, json, out, note, stored, warn } = call;
  const by: readonly UsageKey[] = get(BY) ?? ["day"];
  const [source, utc] = [get(SOURCE), get(UTC)];
  const span = spanOf(call, SINCE, UNTIL, utc);
  const options: GroupOptions = {
    by,
    ...span,
    utc,
    ...pricesOf(call),
    ...(source !== undefined && { source }),
  };
  const report = stored === undefined ? await ofFiles(call, options) : await ofStore(call, stored, options);
  if (report.damaged.length > 0) {
    const what = counted(report.damaged.length, "session has", "sessions have");
    warn(
      `${what} damaged lines, and calls on those lines are not in the sums: ${report.damaged.slice(0, 3).join(", ")}. "sessiontree verify" shows them.`,
    );
  }
  const { shown, left } = chosen(report.groups, get(SORT), get(LIMIT));
  if (json) for (const group of shown) out.json(groupJson(group));
  else if (report.groups.length === 0) note("No usage is recorded.");
  else writeTable(shown, { by, total: report.total, left }, call);
  return EXIT_CODES.ok;
}

async function ofFiles(call: CommandCall, options: GroupOptions): Promise<UsageReport> {
  const { get, io } = call;
  const project = get(PROJECT);
  if (project !== undefined && get(ALL)) throw new UsageError("Give --all or --project, not both.");
  const cwd = typeof project === "string" ? { cwd: pathOf(io.cwd, project) } : project && { cwd: io.cwd };
  const skipped: SkippedFile[] = [];
  const report = await collectUsage({
    ...sessionScope(call, get(ALL)),
    ...cwd,
    ...options,
    onSkipped: (file) => skipped.push(file),
  });
  skipped.forEach(warnOfSkipped(call));
  return report;
}

/** Counts the sessions of a database, each read once: it keeps no sums. */
async function ofStore(
  { get, io }: CommandCall,
  stored: StoredSessions,
  options: GroupOptions,
): Promise<UsageReport> {
  const { collectStoreUsage } = await import("../../stores/contract/store-usage.ts");
  const project = get(PROJECT);
  const cwd = typeof project === "string" ? pathOf(io.cwd, project) : io.cwd;
  return collectStoreUsage(await stored.store(), {
    ...options,
    ...(!get(ALL) && { cwd }),
    located: (row) => ({ ...row, ...stored.locationOf(row.id).json }),
  });
}

/** Sorts and limits groups; subagents stay with their session. */
function chosen(
  groups: readonly UsageGroup[],
  sort: (typeof SORTS)[number] | undefined,
  limit: number | undefined,
): { shown: UsageGroup[]; left: number } {
  const blocks: UsageGroup[][] = [];
  for (const group of groups) {
    if (group.subagentOf === undefined) blocks.push([group]);
    else blocks.at(-1)?.push(group);
  }
  const sizeOf = ([group]: UsageGroup[]) => {
    if (sort === undefined || group === undefined) return 0;
    return sort === "cost" ? dollarsOf(group) : group[sort];
  };
  blocks.sort((a, b) => sizeOf(b) - sizeOf(a));
  return { shown: blocks.slice(0, limit).flat(), left: blocks.slice(limit ?? blocks.length).length };
}

function groupJson({ by, subagentOf, ...sums }: UsageGroup): object {
  const { session } = by;
  const named = session === undefined ? by : { ...by, session: sessionJson(session) };
  return { by: named, ...(subagentOf !== undefined && { subagentOf: nameJson(subagentOf) }), ...sums };
}

function nameJson({ id, path }: SessionRow): object {
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
  { out, note }: CommandCall,
): void {
  const hasEstimates = total.estimated !== null;
  const cells = (group: UsageGroup) => [
    ...[group.sessions, group.calls, tokensIn(group), group.output].map(count),
    ...(hasEstimates ? [count(group.unpriced)] : []),
    dollars(group.cost),
    ...(hasEstimates ? [dollars(group.estimated)] : []),
  ];
  const isPriced = total.cost !== null || hasEstimates;
  const names = namesOf(groups, by);
  const rows = groups.map((group, i) => ({
    name: names[i] ?? "",
    numbers: cells(group),
    size: group.subagentOf === undefined ? (isPriced ? dollarsOf(group) : group.total) : 0,
  }));
  const titles = [
    "sessions",
    "calls",
    "all input",
    "output",
    ...(hasEstimates ? ["unpriced"] : []),
    "cost",
    ...(hasEstimates ? ["estimated"] : []),
  ];
  writeUsageTable(
    [by.join(", "), ...titles],
    [...rows, { name: "total", numbers: cells(total), isTotal: true }],
    out,
    // The end of a path tells projects apart.
    by.length === 1 && by[0] === "project" ? truncateStart : undefined,
  );
  if (left > 0) note(`${counted(left, "more group")}; the total is that of all.`);
  if (!hasEstimates && total.unpriced > 0)
    note(
      `${counted(total.unpriced, "token")} without a stated cost; --prices FILE or the package @pydantic/genai-prices estimates it.`,
    );
}

const NOT_SAID = {
  day: "(no time)",
  week: "(no time)",
  month: "(no time)",
  model: UNKNOWN_MODEL,
  project: "(no project)",
  source: "(not imported)",
} as const;

/** Columns of a key that others follow, so that a long name leaves them room. */
const MOST_KEY_WIDTH = 32;

/** Names groups by their keys, in columns; the last key takes as much as it needs. */
function namesOf(groups: readonly UsageGroup[], by: readonly UsageKey[]): string[] {
  const idLength = shortIdLength(
    groups.flatMap(({ by: { session } }) => session?.id ?? []),
    WHOLE_ID,
  );
  const depths = new Map<SessionRow, number>();
  const texts = groups.map((group) => {
    const depth = group.subagentOf === undefined ? 0 : (depths.get(group.subagentOf) ?? 0) + 1;
    return by.map((key) => {
      if (key !== "session") return plainLine(group.by[key] ?? NOT_SAID[key]);
      const { session } = group.by;
      if (session === undefined) return "";
      depths.set(session, depth);
      return `${"  ".repeat(depth)}${column(shortId(session.id, idLength), idLength)}  ${titleOf(session)}`;
    });
  });
  const widths = by.map((_, i) =>
    Math.min(MOST_KEY_WIDTH, Math.max(...texts.map((row) => widthOf(row[i] ?? "")))),
  );
  return texts.map((row) =>
    row.map((text, i) => (i < row.length - 1 ? column(text, widths[i] ?? 0) : text)).join("  "),
  );
}
