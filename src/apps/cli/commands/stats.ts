import { dirname } from "node:path";
import { type ModelCosts, sumByModel } from "../../../catalog/usage/model-costs.ts";
import type { ContextUsageEstimate } from "../../../core/compaction/tokens.ts";
import { formatCount, formatCounted, formatDollars } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import {
  formatAgo,
  formatDateAndTime,
  formatDuration,
  formatSpan,
  getMessageTimeRange,
} from "../../../core/facts/times.ts";
import { countInputTokens, UNKNOWN_MODEL } from "../../../core/facts/usage.ts";
import { formatCost, type Spent } from "../../../core/facts/usage-tally.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { estimateContextUsage } from "../../../session/controller/compact-if-needed.ts";
import { collectStats, type SessionStats } from "../../../session/controller/stats.ts";
import { openOverLog } from "../../../session/manager/session-manager.ts";
import { getMessageKind } from "../../text/entry-kind.ts";
import { formatContextSize } from "../../text/usage-text.ts";
import type { Command } from "../command.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { type FamilyUsage, sumFamilyUsage } from "../family-usage.ts";
import { getLocationFact, type SessionLocation } from "../named-session.ts";
import type { Output } from "../output.ts";
import { flag, numberOption, optionalArgument, rare, textOption } from "../parameters.ts";
import { formatPriceTable } from "../price-table.ts";
import { getPrices, PRICES } from "../prices.ts";
import { withProgress } from "../progress.ts";
import { LATEST } from "../session-argument.ts";
import { ACROSS_PARAMETERS, isAcross, writeUsageAcross } from "../usage-across.ts";
import { UsageError } from "../usage-error.ts";
import { writeFacts } from "../view/facts.ts";
import { type UsageRow, writeUsageTable } from "../view/usage-table.ts";

const SESSION = optionalArgument("[session]", `the session; default: ${LATEST}`);
const LEAF = textOption("--leaf <entry>", "count only the path to this entry");
const INHERITED = rare(flag("--inherited", "also count what a fork inherited from its parent"));
const WINDOW = rare(
  numberOption("--window <tokens>", "size of the model's context window, to show how full it is"),
);

/** Maximum number of tools listed; --json lists all. */
const MAX_TOOLS = 12;

/** `sessiontree stats`: counts messages, tool calls, tokens, and cost, for one session or across many. */
export const command: Command = {
  details: `Counts all branches of the session, or with --leaf the path to one entry (its id or the beginning of it, its label, or @leaf). What a fork inherited from its parent is counted for the parent only. "all input" includes what was read from the cache and written to it.

"~" marks a cost that is partly estimated: calls without a recorded cost are estimated at the prices of --prices, or else of the package @pydantic/genai-prices. A dash is an unknown cost. --json reports recorded and estimated dollars separately.

With --all, --project or --by: adds up model calls across sessions. A call that also occurs in forks or copies is counted once. A session's row includes its subagents, which are listed below it.`,
  parameters: [SESSION, LEAF, INHERITED, WINDOW, ...ACROSS_PARAMETERS],
  examples: [
    ["stats @last", "the totals of the latest session"],
    ["stats @last --leaf 1a2b3c4d", "what the session cost up to an entry"],
    ["stats session.jsonl --window 200000", "also how full the context is"],
    ["stats session.jsonl --json", "all numbers, as JSON"],
    ["stats --all --since 2026-11 --by model", "the cost of each model since the beginning of a month"],
    ["stats --all --by session --sort cost --limit 5", "the most expensive sessions"],
  ],
  run: async (call) => {
    const { findSession, get, io, json, note, out } = call;
    if (isAcross(call)) {
      const single =
        [get(SESSION), get(LEAF), get(WINDOW)].some((one) => one !== undefined) || get(INHERITED);
      if (single)
        throw new UsageError("Name one session, or count across sessions with --all, --project or --by.");
      return writeUsageAcross(call);
    }
    const named = await findSession(get(SESSION) ?? LATEST);
    const view = await named.read();
    const session = openOverLog(view.log, {});
    const leaf = get(LEAF);
    if (leaf !== undefined) session.branch(view.findEntry(leaf));
    const nowMs = io.now();
    const counted: SessionEntry[] = [];
    const onCounted = (entry: SessionEntry) => counted.push(entry);
    const stats = collectStats(
      { session, counter: undefined, nowMs, isInherited: undefined, onCounted },
      { includeInherited: get(INHERITED), pathOnly: leaf !== undefined, contextWindow: get(WINDOW) },
    );
    const costs = sumByModel(counted, getPrices(call));
    const { location } = named;
    const size = estimateContextUsage(session);
    const leafId = leaf === undefined ? undefined : (session.getLeafId() ?? undefined);
    const { tree } = view;
    const ordinals = leafId === undefined ? tree.ordinals() : tree.path(tree.find(leafId));
    const timeRange = getMessageTimeRange(tree, ordinals);
    const { path } = view;
    const family =
      json || leaf !== undefined || path === undefined
        ? undefined
        : await withProgress(call, "Reading sessions", (onProgress) =>
            sumFamilyUsage({ sessionDir: dirname(path) }, { prices: getPrices(call) }, path, onProgress),
          );
    const shown: ShownStats = {
      ...stats,
      title: view.title,
      location,
      leafId,
      size,
      costs,
      timeRange,
      family,
    };
    if (json) out.json(toStatsJson(shown));
    else writeStats(shown, nowMs, out);
    if (!json && costs.total.estimated !== null && get(PRICES) === undefined) note(formatPriceTable());
    return EXIT_CODES.ok;
  },
};

interface ShownStats extends SessionStats {
  readonly title: string;
  readonly location: SessionLocation;
  /** Entry whose path was counted; undefined if all branches were counted. */
  readonly leafId: string | undefined;
  /** Size of the context, as shown by `context` and the page. */
  readonly size: ContextUsageEstimate;
  /** Usage and cost of the counted calls, by model. */
  readonly costs: ModelCosts;
  /** Times of the first and the last counted message, in Unix milliseconds; NaN if no messages were counted. */
  readonly timeRange: readonly [firstMs: number, lastMs: number];
  /** Usage including subagents; undefined if it was not counted. */
  readonly family: FamilyUsage | undefined;
}

function toStatsJson({ title, location, leafId, size, costs, timeRange: _, ...stats }: ShownStats): object {
  const {
    family: ___,
    sessionId,
    sessionName,
    sessionFile: __,
    createdAt,
    entries,
    inherited,
    context,
    ...counts
  } = stats;
  const { contextWindow } = context;
  const { tokens, usageTokens, trailingTokens } = size;
  const percent = contextWindow ? (tokens / contextWindow) * 100 : null;
  return {
    id: sessionId,
    ...location.json,
    name: sessionName,
    title,
    created: createdAt,
    leafId,
    entryCount: entries,
    ...counts,
    estimated: costs.total.estimated,
    unpriced: costs.total.unpriced,
    inherited: { entryCount: inherited.entries, usage: inherited.usage },
    context: { tokens, usageTokens, trailingTokens, contextWindow, percent },
  };
}

function writeStats(stats: ShownStats, nowMs: number, out: Output): void {
  const { createdAt, location, usage, cacheHitRate, messages, toolCalls } = stats;
  const createdMs = createdAt?.getTime() ?? Number.NaN;
  const created = formatDateAndTime(createdMs);
  const age = formatAgo(createdMs, nowMs);
  const byRole = Object.entries(messages.byRole).sort(([, a], [, b]) => b - a);
  writeFacts(
    [
      stats.sessionName === undefined ? ["title", stats.title] : ["name", stats.sessionName],
      ["id", stats.sessionId],
      getLocationFact(location),
      ["created", created.startsWith(age) ? created : `${created}, ${age}`],
      ["time", formatTimeRange(stats)],
      [
        "entries",
        stats.leafId === undefined
          ? formatCount(stats.entries)
          : `${formatCount(stats.entries)} on the path to ${stats.leafId}`,
      ],
      [
        "messages",
        listText(
          messages.total,
          byRole.map(([role, number]) => formatRole(role, number)),
        ),
      ],
      ["tool calls", formatTools(toolCalls)],
      ["inherited", formatInherited(stats)],
      ["subagents", formatFamily(stats)],
      ["context", formatContext(stats)],
      ["cache", cacheHitRate === null ? "" : `served ${formatPercent(cacheHitRate * 100)} of all input`],
    ],
    out,
  );
  if (usage.count === 0 && usage.cost === null) out.line("\nNo usage is recorded.");
  else writeUsage(stats.costs, out);
}

function formatTimeRange({ timeRange: [firstMs, lastMs] }: ShownStats): string {
  const span = formatSpan(firstMs, lastMs);
  return lastMs > firstMs ? `${span}, ${formatDuration(lastMs - firstMs)}` : span;
}

function listText(total: number, parts: readonly string[]): string {
  return total === 0 ? "none" : `${formatCount(total)}: ${parts.join(", ")}`;
}

function formatRole(role: string, number: number): string {
  const { word, many } = getMessageKind({ role });
  return formatCounted(number, word, many);
}

function formatTools({ total, failed, byName }: SessionStats["toolCalls"]): string {
  const tools = Object.entries(byName).sort(([, a], [, b]) => b - a);
  const named = tools.slice(0, MAX_TOOLS).map(([name, number]) => `${name} ${formatCount(number)}`);
  const others = tools.length - named.length;
  const text = listText(total, others > 0 ? [...named, formatCounted(others, "other tool")] : named);
  return failed > 0 ? `${text}; ${formatCount(failed)} failed` : text;
}

function formatInherited({ parentSession, inherited: { entries, usage } }: SessionStats): string {
  if (entries === 0) return parentSession === undefined ? "" : "nothing";
  return `${formatCounted(entries, "entry", "entries")}, ${formatCounted(usage.totalTokens, "token")}, ${formatDollars(usage.cost)}`;
}

/** Formats the number of subagents' sessions, and the cost that lists show for the session, which includes theirs. */
function formatFamily({ family }: ShownStats): string {
  if (family === undefined || family.subagents === 0) return "";
  const number = formatCounted(family.subagents, "session");
  return `${number}, not counted below; with subagents, as in lists: ${formatCost(family.spent)}`;
}

function formatContext({ size, context: { contextWindow } }: ShownStats): string {
  const text = formatContextSize(size);
  if (contextWindow === null) return text;
  return `${text}; ${formatPercent((size.tokens / contextWindow) * 100)} of ${formatCount(contextWindow)}`;
}

/** Writes a table of tokens and cost, with a row per model; as in `show`, input includes cached input. */
function writeUsage({ byModel, total }: ModelCosts, out: Output): void {
  const rows = byModel.map(
    (group): UsageRow => ({
      name: toPlainLine(group.by.model ?? UNKNOWN_MODEL),
      numbers: formatSpentCells(group),
    }),
  );
  if (byModel.length > 1) rows.push({ name: "total", numbers: formatSpentCells(total), isTotal: true });
  out.line();
  writeUsageTable(["", "all input", "cache read", "written", "output", "cost"], rows, out);
}

function formatSpentCells(spent: Spent): string[] {
  const { output, cacheRead, cacheWrite } = spent;
  return [...[countInputTokens(spent), cacheRead, cacheWrite, output].map(formatCount), formatCost(spent)];
}

function formatPercent(part: number): string {
  return `${part.toFixed(part < 10 ? 1 : 0)} %`;
}
