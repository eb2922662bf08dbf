import { formatModelName } from "../../core/facts/usage.ts";
import { getDollars, type ModelNames, makeEmptySpent, type Spent } from "../../core/facts/usage-tally.ts";
import type { Usage } from "../../core/format/content.ts";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import { addTo, getOrAdd, groupBy } from "../../core/format/group-by.ts";
import { toSafeString } from "../../core/format/json.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { CallTable } from "../list/call-table.ts";
import { Descent } from "../list/lineage.ts";
import type { SessionCalls } from "../list/session-calls.ts";

/** Key for grouping usage: a time, model, project, program, or session. */
export type UsageKey = "day" | "week" | "month" | "model" | "project" | "source" | "session";

const TIMES = ["day", "week", "month"] as const;

/** All keys. */
export const USAGE_KEYS: readonly UsageKey[] = [...TIMES, "model", "project", "source", "session"];

/**
 * Returns the price of one call in US dollars; undefined if unknown.
 *
 * @param model - Model name in the record.
 * @param time - Time of the call; null if no time is recorded.
 */
export type PriceFunction = (
  provider: string | null,
  model: string,
  usage: Omit<Usage, "cost">,
  time: Date | null,
) => number | undefined;

/** Total usage of model calls. */
export interface UsageGroup extends Readonly<Spent> {
  /** Values of the requested keys; null if the records do not contain the value. */
  readonly by: {
    /** `2026-11-23` */
    readonly day?: string | null;
    /** ISO week: `2026-W48` */
    readonly week?: string | null;
    /** `2026-11` */
    readonly month?: string | null;
    /** `provider/model`, or the known part of it. */
    readonly model?: string | null;
    /** Working directory. */
    readonly project?: string | null;
    /** Program that the session was imported from; null if it was not imported. */
    readonly source?: string | null;
    readonly session?: SessionRow;
  };
  /**
   * Present only when grouped by session: the session that started this session as a subagent. Its group includes these
   * calls.
   */
  readonly subagentOf?: SessionRow;
  /** Number of sessions with such calls. Each subagent session is counted separately. */
  readonly sessions: number;
}

/** Options for selecting the calls to total, and for grouping. */
export interface GroupOptions {
  /** Keys to group by. Default: one group with all calls. */
  readonly by?: readonly UsageKey[];
  /** Only calls at or after this time. Excludes calls without a time. */
  readonly since?: Date;
  /** Only calls before this time. Excludes calls without a time. */
  readonly until?: Date;
  /** Only sessions imported from this program or, with "any", from any program. */
  readonly source?: string;
  /** Whether days are in UTC rather than in the system's time zone. Default false. */
  readonly utc?: boolean;
  /** Returns the prices of calls whose records do not contain a cost. By default, these calls are unpriced. */
  readonly prices?: PriceFunction;
}

/** Session with its calls. */
export interface CallsOfSession {
  readonly row: SessionRow;
  readonly recorded: SessionCalls;
  /** Whether the session serves only to determine which calls a fork has inherited, and is not counted. */
  readonly isOutside?: boolean;
}

/** Session with the fields that link it to its parent. */
interface Node extends CallsOfSession {
  readonly path: string;
  readonly id: string;
  readonly parentSession?: string;
}

/**
 * Totals the calls in sessions, counting each call once: a call inherited by a fork or a copy is counted in its original session.
 *
 * @returns The groups, ordered by time if time is a key, otherwise most expensive first, with each session followed by its
 * subagents; and the sum of all calls.
 * @throws {SessionError} `PRICE_FAILED`
 */
export function groupCalls(
  sessions: readonly CallsOfSession[],
  options: GroupOptions,
): { groups: UsageGroup[]; total: UsageGroup } {
  const nodes = sessions.map(makeNode);
  const descent = new Descent(nodes);
  const grouping = new Grouping(options, descent);
  const takeOwn = makeCopyFilter(nodes.map(({ recorded }) => recorded.calls));
  for (const node of orderParentsFirst(nodes, descent)) {
    const own = takeOwn(node.recorded.calls);
    if (node.isOutside !== true && isWanted(node, options.source)) grouping.add(node, own);
  }
  const { groups, total } = grouping;
  return { groups, total };
}

/**
 * Returns a map from the row of each subagent's session to the session that started it, if both are given.
 */
export function findStarters(sessions: readonly CallsOfSession[]): Map<SessionRow, SessionRow> {
  const nodes = sessions.map(makeNode);
  const descent = new Descent(nodes);
  const starters = new Map<SessionRow, SessionRow>();
  for (const node of nodes) {
    const starter = findStarter(node, descent)?.row;
    let first = starter;
    for (let above = starter; above !== undefined; above = starters.get(above)) first = above;
    // Headers may form a cycle.
    if (starter !== undefined && first !== node.row) starters.set(node.row, starter);
  }
  return starters;
}

function makeNode({ row, recorded, isOutside = false }: CallsOfSession): Node {
  const { path = row.id, id, parentSession } = row;
  const node = { row, recorded, isOutside, path, id };
  return parentSession === undefined ? node : { ...node, parentSession };
}

function findStarter(node: Node, descent: Descent<Node>): Node | undefined {
  const [starter] = node.recorded.isSubagent ? descent.findParents(node) : [];
  return starter?.isOutside === true ? undefined : starter;
}

function isWanted({ recorded: { source } }: Node, wanted: string | undefined): boolean {
  return wanted === undefined || (wanted === "any" ? source !== null : source === wanted);
}

/** Orders sessions oldest first, with each session after its ancestors. */
function orderParentsFirst(nodes: readonly Node[], descent: Descent<Node>): Node[] {
  const oldest = [...nodes].sort(
    (a, b) => a.row.created.getTime() - b.row.created.getTime() || (a.path < b.path ? -1 : 1),
  );
  const ordered = new Set<Node>();
  for (const node of oldest) {
    if (node.parentSession === undefined) {
      ordered.add(node);
      continue;
    }
    // The loop also visits elements added along the way, and the set stops at cycles.
    const line = new Set([node]);
    for (const one of line) for (const parent of descent.findParents(one)) line.add(parent);
    for (const one of [...line].reverse()) ordered.add(one);
  }
  return [...ordered];
}

interface GrowingGroup {
  readonly by: UsageGroup["by"];
  readonly subagentOf: SessionRow | undefined;
  /** Key of the group for the session that started the subagent. */
  readonly parentKey: string | undefined;
  readonly sessions: Set<Node>;
  readonly sum: Spent;
}

function makeGroup(by: UsageGroup["by"] = {}, subagentOf?: SessionRow, parentKey?: string): GrowingGroup {
  return { by, subagentOf, parentKey, sessions: new Set(), sum: makeEmptySpent() };
}

/** Adds calls to their groups. */
class Grouping {
  readonly #options: GroupOptions;
  readonly #by: readonly UsageKey[];
  readonly #descent: Descent<Node>;
  readonly #getCalendarNames: (timeMs: number) => CalendarNames;
  readonly #total = makeGroup();
  readonly #groups = new Map<string, GrowingGroup>();
  readonly #bills = new Map<Node, Bills>();

  constructor(options: GroupOptions, descent: Descent<Node>) {
    this.#options = options;
    this.#by = options.by ?? [];
    this.#descent = descent;
    this.#getCalendarNames = makeCalendar(options.utc === true);
  }

  /**
   * @param own - Indexes of the session's calls to count.
   */
  add(node: Node, own: readonly number[]): void {
    const { since, until, prices } = this.#options;
    const { calls } = node.recorded;
    const fromMs = since?.getTime() ?? Number.NEGATIVE_INFINITY;
    const toMs = until?.getTime() ?? Number.POSITIVE_INFINITY;
    const isBounded = since !== undefined || until !== undefined;
    const starters = this.#getLine(node);
    const bills = starters.map((one) => this.#getBills(one)).filter(({ size }) => size > 0);
    const getGroups = this.#makeFinder(node, this.#by.includes("session") ? starters : [node]);
    for (const i of own) {
      const timeMs = calls.timeAt(i);
      if (isBounded && !(timeMs >= fromMs && timeMs < toMs)) continue;
      const price: Price = isStated(calls, i, bills) ? "stated" : estimatePrice(calls, i, prices);
      addCall(this.#total, node, i, price);
      for (const group of getGroups(i)) addCall(group, node, i, price);
    }
  }

  /**
   * Creates a function that returns the groups of a session's call. Calls with the same day and model have the same
   * groups.
   */
  #makeFinder(node: Node, line: readonly Node[]): (i: number) => readonly GrowingGroup[] {
    const { calls } = node.recorded;
    const hasTime = TIMES.some((name) => this.#by.includes(name));
    let times: CalendarNames | undefined;
    let byModel: GrowingGroup[][] = [];
    return (i) => {
      const timeMs = hasTime ? calls.timeAt(i) : Number.NaN;
      const at = Number.isNaN(timeMs) ? undefined : this.#getCalendarNames(timeMs);
      if (at !== times) byModel = [];
      times = at;
      const model = calls.modelAt(i);
      byModel[model] ??= line.map((of, n) =>
        this.#getGroup({ node, times, model: calls.getModel(i) }, of, line[n + 1]),
      );
      return byModel[model];
    };
  }

  get total(): UsageGroup {
    return finishGroup(this.#total);
  }

  get groups(): UsageGroup[] {
    const byParent = groupBy(this.#groups, ([, { parentKey }]) => parentKey);
    const withChildren = (key: string | undefined): UsageGroup[] =>
      (byParent.get(key) ?? [])
        .sort(([, a], [, b]) => this.#compare(a, b))
        .flatMap(([own, group]) => [finishGroup(group), ...withChildren(own)]);
    return withChildren(undefined);
  }

  /** Returns a session, the session that started it as a subagent, and so on. */
  #getLine(node: Node): Node[] {
    const line = new Set([node]);
    // Elements added during the loop are visited as well.
    for (const one of line) {
      const starter = findStarter(one, this.#descent);
      if (starter !== undefined) line.add(starter);
    }
    return [...line];
  }

  #getBills(node: Node): Bills {
    return getOrAdd(this.#bills, node, () => countBills(node.recorded.calls));
  }

  #getGroup(call: CallKeys, of: Node, parent: Node | undefined): GrowingGroup {
    const values = this.#by.map((name) => (name === "session" ? null : getKeyValue(name, call)));
    const keyFor = (session: Node) => JSON.stringify([session.path, ...values]);
    const hasSession = this.#by.includes("session");
    const key = hasSession ? keyFor(of) : JSON.stringify(values);
    return getOrAdd(this.#groups, key, () => {
      const named = this.#by.map((name, i) => [name, name === "session" ? of.row : values[i]]);
      return makeGroup(Object.fromEntries(named), parent?.row, parent && keyFor(parent));
    });
  }

  #compare(a: GrowingGroup, b: GrowingGroup): number {
    for (const key of this.#by) {
      const name = TIMES.find((one) => one === key);
      if (name === undefined) continue;
      const [first, second] = [a.by[name] ?? LAST, b.by[name] ?? LAST];
      if (first !== second) return first < second ? -1 : 1;
    }
    return getDollars(b.sum) - getDollars(a.sum) || b.sum.total - a.sum.total;
  }
}

interface CallKeys {
  readonly node: Node;
  /** Undefined if the time is unknown or not needed. */
  readonly times: CalendarNames | undefined;
  readonly model: ModelNames;
}

function getKeyValue(name: Exclude<UsageKey, "session">, { node, times, model }: CallKeys): string | null {
  if (name === "model") return formatModelName(model) || null;
  if (name === "project") return node.row.cwd || null;
  if (name === "source") return node.recorded.source;
  return times?.[name] ?? null;
}

/** Sort key that puts calls without a time last. */
const LAST = "\uffff";

/** Estimated US dollars; `stated` if a record contains the cost; undefined if the price is unknown. */
type Price = number | "stated" | undefined;

function addCall({ sessions, sum }: GrowingGroup, node: Node, i: number, price: Price): void {
  const { calls } = node.recorded;
  sessions.add(node);
  calls.addTo(sum, i);
  if (price === undefined) sum.unpriced += calls.tokensAt(i);
  else if (price !== "stated") sum.estimated = (sum.estimated ?? 0) + price;
}

/**
 * Time of each model's last bill, which covers earlier calls: programs such as Claude Code record dollars separately
 * from tokens.
 */
type Bills = ReadonlyMap<string, number>;

function countBills(calls: CallTable): Bills {
  const bills = new Map<string, number>();
  for (let i = 0; i < calls.size; i++) {
    const timeMs = calls.timeAt(i);
    if (calls.tokensAt(i) > 0 || Number.isNaN(calls.costAt(i)) || Number.isNaN(timeMs)) continue;
    const name = formatModelName(calls.getModel(i));
    bills.set(name, Math.max(timeMs, bills.get(name) ?? timeMs));
  }
  return bills;
}

function isBilled(calls: CallTable, i: number, bills: Bills): boolean {
  return calls.timeAt(i) <= (bills.get(formatModelName(calls.getModel(i))) ?? Number.NEGATIVE_INFINITY);
}

/** Returns whether a call has its own cost or is included in a bill. */
function isStated(calls: CallTable, i: number, bills: readonly Bills[]): boolean {
  return !Number.isNaN(calls.costAt(i)) || bills.some((bill) => isBilled(calls, i, bill));
}

/**
 * Returns the estimated prices of calls for which no record contains a cost, by entry id.
 *
 * @throws {SessionError} `PRICE_FAILED`
 */
export function estimateCalls({ calls }: SessionCalls, prices: PriceFunction): Map<string, number> {
  const bills = [countBills(calls)];
  const estimates = new Map<string, number>();
  for (let i = 0; i < calls.size; i++) {
    const { id } = calls.call(i);
    const price = isStated(calls, i, bills) ? undefined : estimatePrice(calls, i, prices);
    if (price !== undefined && id !== undefined) estimates.set(id, price);
  }
  return estimates;
}

function finishGroup({ by, subagentOf, sessions, sum }: GrowingGroup): UsageGroup {
  return { by, ...(subagentOf !== undefined && { subagentOf }), sessions: sessions.size, ...sum };
}

function estimatePrice(calls: CallTable, i: number, prices: PriceFunction | undefined): number | undefined {
  if (prices === undefined) return undefined;
  const call = calls.call(i);
  const { provider, model, timeMs, totalTokens } = call;
  if (model === null || totalTokens === 0) return undefined;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = call;
  const usage = { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, totalTokens };
  const failed = (why: string, cause?: unknown) => {
    const message = `The price of ${formatModelName(call)} cannot be computed: ${why}. Fix the prices, or omit them to count tokens only.`;
    return new SessionError("PRICE_FAILED", message, { details: { provider, model, usage, timeMs }, cause });
  };
  let price: unknown;
  try {
    price = prices(provider, model, usage, timeMs === null ? null : new Date(timeMs));
  } catch (error) {
    throw failed(getErrorMessage(error), error);
  }
  if (price === undefined) return undefined;
  if (typeof price === "number" && price >= 0 && Number.isFinite(price)) return price;
  throw failed(`the function returns ${toSafeString(price)}, which is not a number of dollars or undefined`);
}

/** Returns the times shared by several recorded calls. Only such calls can be copies. */
function findRepeatedTimes(tables: readonly CallTable[]): ReadonlySet<number> {
  const times = new Float64Array(tables.reduce((sum, { size }) => sum + size, 0));
  let count = 0;
  for (const calls of tables) for (let i = 0; i < calls.size; i++) times[count++] = calls.timeAt(i);
  times.sort();
  const repeated = new Set<number>();
  for (let i = 1; i < count; i++) {
    const time = times[i];
    // Unknown times do not equal any other time.
    if (time !== undefined && time === times[i - 1]) repeated.add(time);
  }
  return repeated;
}

/**
 * Creates a function that returns the indexes of the calls in a session's table that no earlier table contains.
 *
 * @param tables - Tables of all sessions.
 */
function makeCopyFilter(tables: readonly CallTable[]): (calls: CallTable) => number[] {
  const repeated = findRepeatedTimes(tables);
  const byTime = new Map<number, { readonly calls: CallTable; readonly i: number }[]>();
  const isCopy = (calls: CallTable, i: number) =>
    byTime.get(calls.timeAt(i))?.some((other) => calls.isCopy(i, other.calls, other.i)) === true;
  return (calls) => {
    const own: number[] = [];
    const added: number[] = [];
    for (let i = 0; i < calls.size; i++) {
      const mayBeCopied = repeated.size > 0 && repeated.has(calls.timeAt(i));
      if (mayBeCopied && isCopy(calls, i)) continue;
      own.push(i);
      if (mayBeCopied) added.push(i);
    }
    // Adds these only now, because two calls with the same time in one session are not copies.
    for (const i of added) addTo(byTime, calls.timeAt(i), { calls, i });
    return own;
  };
}

/** Names of a day, its week, and its month. */
interface CalendarNames {
  readonly day: string;
  readonly week: string;
  readonly month: string;
}

/** Milliseconds in a quarter of an hour. Time zones differ from UTC by multiples of this value. */
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 3600 * 1000;

/**
 * Creates a function that returns the names of a time's day, week, and month, in the system's time zone or in UTC, with one
 * object per day.
 */
function makeCalendar(isUtc: boolean): (timeMs: number) => CalendarNames {
  const byQuarter = new Map<number, CalendarNames>();
  const byDate = new Map<number, CalendarNames>();
  return (timeMs) =>
    getOrAdd(byQuarter, Math.floor(timeMs / QUARTER_MS), () => {
      const time = new Date(timeMs);
      const dateMs = isUtc
        ? Math.floor(timeMs / DAY_MS) * DAY_MS
        : Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
      return getOrAdd(byDate, dateMs, () => getCalendarNames(dateMs));
    });
}

/**
 * @param dateMs - Midnight of the date, treated as UTC.
 */
function getCalendarNames(dateMs: number): CalendarNames {
  const day = new Date(dateMs).toISOString().slice(0, 10);
  // A week belongs to the year of its Thursday.
  const thursday = new Date(dateMs + (3 - ((new Date(dateMs).getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
  return { day, week: `${year}-W${String(week).padStart(2, "0")}`, month: day.slice(0, 7) };
}
