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

/** Which sessions are counted, and how. */
export interface UsageOptions extends CatalogOptions, GroupOptions {}

/** What calls of models in many sessions used. */
export interface UsageReport {
  /** By time if that is a key, else the most expensive first; each session's subagents follow it. */
  readonly groups: readonly UsageGroup[];
  /** The sum of all calls, each counted once. */
  readonly total: UsageGroup;
  /** Sessions with damaged lines; calls that are recorded on such lines are missing in the sums. */
  readonly damaged: readonly string[];
}

const KEYS: OptionRule = {
  fits: (value) => Array.isArray(value) && value.every((one) => USAGE_KEYS.some((key) => key === one)),
  words: `a list of ${USAGE_KEYS.join(", ")}`,
};

/**
 * Adds up what models used and cost in the sessions of a scope: answers, summaries, titles and whatever else is recorded.
 *
 * Each call counts once: what a fork or a copy has inherited counts in the session where it was made. Costs that the records
 * state and costs by prices stand apart.
 *
 * @throws {SessionError} `PRICE_FAILED` or `ABORTED`
 * @throws {TypeError} If an option is invalid.
 * @remarks Cost: that of a list, once the sessions have been counted before; else O(bytes) of what is new.
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
 * Gathers the calls of the sessions of a scope, and of parents outside it from which forks have inherited calls.
 *
 * @param onProgress - Called after each file with the number of files read, and of all.
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

/** Reads the parents of forks that are not in the scope, to know which calls the forks have inherited. */
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
      // What a fork has of a parent that is gone counts in the fork.
      reportSkipped(path, error, run.report);
    }
  }
  return found;
}
