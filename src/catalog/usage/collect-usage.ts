import { assertOptions, CALLBACK, DATE, FLAG, type OptionRule, TEXT } from "../../core/format/options.ts";
import { reportSkipped } from "../../session/files/skipped-files.ts";
import { findNamedSessionPath } from "../../session/log/session-paths.ts";
import { CATALOG_RULES, type CatalogOptions, CatalogRun } from "../list/catalog-run.ts";
import { decodeSummaryCalls, makeFileRow, summarizeFile } from "../list/file-summary.ts";
import {
  type CallsOfSession,
  type GroupOptions,
  groupCalls,
  USAGE_KEYS,
  type UsageGroup,
} from "./usage-groups.ts";

/** Options for selecting the sessions to count, and for grouping. */
export interface UsageOptions extends CatalogOptions, GroupOptions {}

/** Usage of model calls in many sessions. */
export interface UsageReport {
  /**
   * Groups, ordered by time if time is a key, otherwise by cost, most expensive first. Each session is followed by its subagents.
   */
  readonly groups: readonly UsageGroup[];
  /** Sum of all calls, each counted once. */
  readonly total: UsageGroup;
  /** Paths of sessions with damaged lines. Calls recorded on such lines are missing from the sums. */
  readonly damaged: readonly string[];
}

const KEYS: OptionRule = {
  fits: (value) => Array.isArray(value) && value.every((one) => USAGE_KEYS.some((key) => key === one)),
  words: `a list of ${USAGE_KEYS.join(", ")}`,
};

/**
 * Totals the usage and cost of models in a scope's sessions: answers, summaries, titles, and other recorded calls.
 *
 * Each call is counted once: a call inherited by a fork or a copy is counted in its original session. Costs stated in records
 * and costs estimated from prices are reported separately.
 *
 * @throws {SessionError} `PRICE_FAILED` or `ABORTED`
 * @throws {TypeError} If an option is invalid.
 * @remarks Cost: same as a list if the sessions have been counted before; otherwise O(new bytes).
 */
export async function collectUsage(options: UsageOptions = {}): Promise<UsageReport> {
  assertOptions<UsageOptions>(options, {
    ...CATALOG_RULES,
    by: KEYS,
    since: DATE,
    until: DATE,
    source: TEXT,
    utc: FLAG,
    prices: CALLBACK,
  });
  const { sessions, damaged } = await collectCalls(options);
  return { ...groupCalls(sessions, options), damaged };
}

/**
 * Collects the calls of the sessions in a scope, and of parents outside the scope whose forks inherited calls.
 *
 * @param onProgress - Called after each file with the number of files read and the total number.
 */
export async function collectCalls(
  options: CatalogOptions,
  onProgress?: (loaded: number, total: number) => void,
): Promise<{ readonly sessions: readonly CallsOfSession[]; readonly damaged: readonly string[] }> {
  const run = await CatalogRun.start(options, true);
  const sessions: CallsOfSession[] = [];
  const damaged: string[] = [];
  try {
    for (const [at, file] of run.files.entries()) {
      const looked = run.readCalls(file);
      const found = looked instanceof Promise ? await looked : looked;
      if (found !== undefined) sessions.push(found);
      if (found?.row.issueCount !== undefined) damaged.push(found.row.path);
      onProgress?.(at + 1, run.files.length);
      if (run.pace.isDue) await run.pace.rest();
    }
  } finally {
    await run.finish();
  }
  return { sessions: [...sessions, ...(await readParentsOutside(sessions, run))], damaged };
}

/** Reads parents of forks outside the scope, to determine which calls the forks have inherited. */
async function readParentsOutside(
  sessions: readonly CallsOfSession[],
  run: CatalogRun,
): Promise<CallsOfSession[]> {
  const known = new Set(sessions.map(({ row }) => row.path));
  const parents = new Set<string>();
  for (const { row, recorded } of sessions) {
    const { parentSession, path } = row;
    if (parentSession === undefined || recorded.isSubagent) continue;
    const parent = findNamedSessionPath(parentSession, path);
    if (parent !== undefined && !known.has(parent)) parents.add(parent);
  }
  const found: CallsOfSession[] = [];
  for (const path of parents) {
    try {
      const summary = await summarizeFile(path, undefined, run.pace, true);
      const [row, recorded] = [makeFileRow(path, summary), decodeSummaryCalls(summary)];
      if (row !== undefined && recorded !== undefined) found.push({ row, recorded, isOutside: true });
    } catch (error) {
      // Calls inherited from a missing parent count in the fork.
      reportSkipped(path, error, run.report);
    }
  }
  return found;
}
