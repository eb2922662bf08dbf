import { formatModelName } from "../../core/facts/usage.ts";
import { getDollars, type ModelNames, makeEmptySpent, type Spent } from "../../core/facts/usage-tally.ts";
import type { Usage } from "../../core/format/content.ts";
import { getErrorMessage, SessionError } from "../../core/format/errors.ts";
import { addTo, groupBy } from "../../core/format/group-by.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { CallTable } from "../list/call-table.ts";
import { Descent } from "../list/lineage.ts";
import type { SessionCalls } from "../list/session-calls.ts";

/** One of the things by which usage can be grouped: a time, a model, a project, a program, or a session. */
export type UsageKey = "day" | "week" | "month" | "model" | "project" | "source" | "session";

const TIMES = ["day", "week", "month"] as const;

/** All of them. */
export const USAGE_KEYS: readonly UsageKey[] = [...TIMES, "model", "project", "source", "session"];

/**
 * Returns the price of one call in US dollars; undefined if it is not known.
 *
 * @param model - As the record names it.
 * @param time - Null if no time is recorded.
 */
export type PriceFunction = (
  provider: string | null,
  model: string,
  usage: Omit<Usage, "cost">,
  time: Date | null,
) => number | undefined;

/** What calls of models used, added up. */
export interface UsageGroup extends Readonly<Spent> {
  /** The keys that were asked for; null where the records do not say. */
  readonly by: {
    /** `2026-11-23` */
    readonly day?: string | null;
    /** ISO week: `2026-W48` */
    readonly week?: string | null;
    /** `2026-11` */
    readonly month?: string | null;
    /** `provider/model`, or what is known of it. */
    readonly model?: string | null;
    /** Working directory. */
    readonly project?: string | null;
    /** The program that the session was imported from; null for one that was not. */
    readonly source?: string | null;
    readonly session?: SessionRow;
  };
  /** By session only: the session whose group has these calls, too, because it started this one as a subagent. */
  readonly subagentOf?: SessionRow;
  /** Sessions with such calls, each subagent's counted as one. */
  readonly sessions: number;
}

/** Which calls are added up, and how. */
export interface GroupOptions {
  /** By what calls are grouped; default: all are one group. */
  readonly by?: readonly UsageKey[];
  /** Only calls from then on. Those without a time are then left out. */
  readonly since?: Date;
  /** Only calls before. Those without a time are then left out. */
  readonly until?: Date;
  /** Only sessions imported from this program, or from any of them with "any". */
  readonly source?: string;
  /** Whether days are those of UTC rather than of this system. Default false. */
  readonly utc?: boolean;
  /** Prices calls whose records state no cost. Default: they are unpriced. */
  readonly prices?: PriceFunction;
}

/** A session with its calls. */
export interface CallsOfSession {
  readonly row: SessionRow;
  readonly recorded: SessionCalls;
  /** Whether it only says which calls a fork has inherited, and is not counted itself. */
  readonly isOutside?: boolean;
}

/** A session of which it is known what it descends from. */
interface Node extends CallsOfSession {
  readonly path: string;
  readonly id: string;
  readonly parentSession?: string;
}

/**
 * Adds up the calls of sessions, each once: what a fork or a copy has inherited counts where it was made.
 *
 * @returns The groups, by time, else the most expensive first, each session's subagents behind it; and the sum of all.
 * @throws {SessionError} `PRICE_FAILED`
 */
export function groupCalls(
  sessions: readonly CallsOfSession[],
  options: GroupOptions,
): { groups: UsageGroup[]; total: UsageGroup } {
  const nodes = sessions.map(makeNode);
  const descent = new Descent(nodes);
  const grouping = new Grouping(options, descent);
  const seen = new SeenCalls(nodes.map(({ recorded }) => recorded.calls));
  for (const node of orderParentsFirst(nodes, descent)) {
    const own = seen.add(node.recorded.calls);
    if (node.isOutside !== true && isWanted(node, options.source)) grouping.add(node, own);
  }
  const { groups, total } = grouping;
  return { groups, total };
}

/** Returns the session that started each subagent's, by the row of the latter, where both are among some sessions. */
export function findStarters(sessions: readonly CallsOfSession[]): Map<SessionRow, SessionRow> {
  const nodes = sessions.map(makeNode);
  const descent = new Descent(nodes);
  const starters = new Map<SessionRow, SessionRow>();
  for (const node of nodes) {
    const starter = findStarter(node, descent)?.row;
    let first = starter;
    for (let above = starter; above !== undefined; above = starters.get(above)) first = above;
    // Headers can name each other in a cycle.
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

/** Orders sessions so that each comes after those it descends from, of equals the oldest first. */
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
    // Elements added during the walk are walked as well, so that headers in a cycle end it.
    const line = new Set([node]);
    for (const one of line) for (const parent of descent.findParents(one)) line.add(parent);
    for (const one of [...line].reverse()) ordered.add(one);
  }
  return [...ordered];
}

interface GrowingGroup {
  readonly by: UsageGroup["by"];
  readonly subagentOf: SessionRow | undefined;
  /** Key of the group of that session. */
  readonly parentKey: string | undefined;
  readonly sessions: Set<Node>;
  readonly sum: Spent;
}

function makeGroup(by: UsageGroup["by"] = {}, subagentOf?: SessionRow, parentKey?: string): GrowingGroup {
  return { by, subagentOf, parentKey, sessions: new Set(), sum: makeEmptySpent() };
}

/** Puts calls into their groups. */
class Grouping {
  readonly #options: GroupOptions;
  readonly #by: readonly UsageKey[];
  readonly #descent: Descent<Node>;
  readonly #calendar: Calendar;
  readonly #total = makeGroup();
  readonly #groups = new Map<string, GrowingGroup>();
  readonly #bills = new Map<Node, Bills>();

  constructor(options: GroupOptions, descent: Descent<Node>) {
    this.#options = options;
    this.#by = options.by ?? [];
    this.#descent = descent;
    this.#calendar = new Calendar(options.utc === true);
  }

  /** @param own - Which of its calls count. */
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

  /** Makes the function that returns the groups of a session's call. Calls of one day and model are in the same ones. */
  #makeFinder(node: Node, line: readonly Node[]): (i: number) => readonly GrowingGroup[] {
    const { calls } = node.recorded;
    const hasTime = TIMES.some((name) => this.#by.includes(name));
    let times: CalendarNames | undefined;
    let byModel: GrowingGroup[][] = [];
    return (i) => {
      const timeMs = hasTime ? calls.timeAt(i) : Number.NaN;
      const at = Number.isNaN(timeMs) ? undefined : this.#calendar.of(timeMs);
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

  /** Returns the session, and those that started it as a subagent, each behind the one that it started. */
  #getLine(node: Node): Node[] {
    const line = new Set([node]);
    // Elements added during the walk are walked as well.
    for (const one of line) {
      const starter = findStarter(one, this.#descent);
      if (starter !== undefined) line.add(starter);
    }
    return [...line];
  }

  #getBills(node: Node): Bills {
    const known = this.#bills.get(node) ?? countBills(node.recorded.calls);
    this.#bills.set(node, known);
    return known;
  }

  #getGroup(call: CallKeys, of: Node, parent: Node | undefined): GrowingGroup {
    const values = this.#by.map((name) => (name === "session" ? null : getKeyValue(name, call)));
    const keyFor = (session: Node) => JSON.stringify([session.path, ...values]);
    const hasSession = this.#by.includes("session");
    const key = hasSession ? keyFor(of) : JSON.stringify(values);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const named = this.#by.map((name, i) => [name, name === "session" ? of.row : values[i]]);
    const group = makeGroup(Object.fromEntries(named), parent?.row, parent && keyFor(parent));
    this.#groups.set(key, group);
    return group;
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
  /** Undefined if its time is not known, or does not matter. */
  readonly times: CalendarNames | undefined;
  readonly model: ModelNames;
}

function getKeyValue(name: Exclude<UsageKey, "session">, { node, times, model }: CallKeys): string | null {
  if (name === "model") return formatModelName(model) || null;
  if (name === "project") return node.row.cwd || null;
  if (name === "source") return node.recorded.source;
  return times?.[name] ?? null;
}

/** Calls without a time come behind the others. */
const LAST = "\uffff";

/** An estimate; undefined without a price. */
type Price = number | "stated" | undefined;

function addCall({ sessions, sum }: GrowingGroup, node: Node, i: number, price: Price): void {
  const { calls } = node.recorded;
  sessions.add(node);
  calls.addTo(sum, i);
  if (price === undefined) sum.unpriced += calls.tokensAt(i);
  else if (price !== "stated") sum.estimated = (sum.estimated ?? 0) + price;
}

/** When each model was last billed for earlier calls: programs such as Claude Code record dollars apart from tokens. */
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

/** Whether a call has a cost of its own, or a bill holds it. */
function isStated(calls: CallTable, i: number, bills: readonly Bills[]): boolean {
  return !Number.isNaN(calls.costAt(i)) || bills.some((bill) => isBilled(calls, i, bill));
}

/**
 * Returns what prices say of the calls of a session for which no record states a cost, by the ids of their entries.
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
  throw failed(`the function returns ${String(price)}, and not a number of dollars or undefined`);
}

/** Returns the times at which several calls are recorded: no other can be a copy. */
function findRepeatedTimes(tables: readonly CallTable[]): ReadonlySet<number> {
  const times = new Float64Array(tables.reduce((sum, { size }) => sum + size, 0));
  let count = 0;
  for (const calls of tables) for (let i = 0; i < calls.size; i++) times[count++] = calls.timeAt(i);
  times.sort();
  const repeated = new Set<number>();
  for (let i = 1; i < count; i++) {
    const time = times[i];
    // Unknown times equal none.
    if (time !== undefined && time === times[i - 1]) repeated.add(time);
  }
  return repeated;
}

/** The calls of the sessions so far, to know copies of them. */
class SeenCalls {
  readonly #repeated: ReadonlySet<number>;
  /** By time, those that may have copies. */
  readonly #byTime = new Map<number, { readonly calls: CallTable; readonly i: number }[]>();

  /** @param tables - All calls that will be added. */
  constructor(tables: readonly CallTable[]) {
    this.#repeated = findRepeatedTimes(tables);
  }

  /** Adds the calls of a session; returns the indexes of those that no earlier session has. */
  add(calls: CallTable): number[] {
    const own: number[] = [];
    const added: number[] = [];
    for (let i = 0; i < calls.size; i++) {
      const mayBeCopied = this.#repeated.size > 0 && this.#repeated.has(calls.timeAt(i));
      if (mayBeCopied && this.#has(calls, i)) continue;
      own.push(i);
      if (mayBeCopied) added.push(i);
    }
    // Only now: two calls of one moment in a session are two.
    for (const i of added) addTo(this.#byTime, calls.timeAt(i), { calls, i });
    return own;
  }

  #has(calls: CallTable, i: number): boolean {
    const known = this.#byTime.get(calls.timeAt(i));
    return known?.some((other) => calls.isCopy(i, other.calls, other.i)) === true;
  }
}

/** The names of days, weeks and months. */
interface CalendarNames {
  readonly day: string;
  readonly week: string;
  readonly month: string;
}

/** All time zones differ from UTC by a multiple of this. */
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 3600 * 1000;

/** Names days, weeks and months, of this system or of UTC: each day by one object. */
class Calendar {
  readonly #isUtc: boolean;
  readonly #byQuarter = new Map<number, CalendarNames>();
  readonly #byDate = new Map<number, CalendarNames>();

  constructor(isUtc: boolean) {
    this.#isUtc = isUtc;
  }

  of(timeMs: number): CalendarNames {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    const known = this.#byQuarter.get(quarter);
    if (known !== undefined) return known;
    const time = new Date(timeMs);
    const dateMs = this.#isUtc
      ? Math.floor(timeMs / DAY_MS) * DAY_MS
      : Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
    const names = this.#byDate.get(dateMs) ?? getCalendarNames(dateMs);
    this.#byDate.set(dateMs, names);
    this.#byQuarter.set(quarter, names);
    return names;
  }
}

/** @param dateMs - Midnight, as if it were of UTC. */
function getCalendarNames(dateMs: number): CalendarNames {
  const day = new Date(dateMs).toISOString().slice(0, 10);
  // A week belongs to the year of its Thursday.
  const thursday = new Date(dateMs + (3 - ((new Date(dateMs).getUTCDay() + 6) % 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
  return { day, week: `${year}-W${String(week).padStart(2, "0")}`, month: day.slice(0, 7) };
}
