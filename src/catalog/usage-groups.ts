import type { Usage } from "../schema/content.ts";
import { messageOf, SessionError } from "../schema/errors.ts";
import { modelName } from "../view/usage.ts";
import { addTo, noUsage, type UsageTotals } from "../view/usage-tally.ts";
import { Descent } from "./descent.ts";
import type { RecordedCall, SessionCalls } from "./session-calls.ts";
import type { SessionRow } from "./session-row.ts";

/** One of the things by which usage can be grouped: a time, a model, a project, a program, or a session. */
export type UsageKey = "day" | "week" | "month" | "model" | "project" | "source" | "session";

/** All of them. */
export const USAGE_KEYS: readonly UsageKey[] = [
  "day",
  "week",
  "month",
  "model",
  "project",
  "source",
  "session",
];

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
export interface UsageGroup {
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
  readonly calls: number;
  /** Tokens of input that no cache served. */
  readonly input: number;
  /** Reasoning included. */
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** All tokens. */
  readonly total: number;
  /** US dollars that records state; null if none does. */
  readonly cost: number | null;
  /** US dollars by prices, of calls whose records state none; null without any. */
  readonly estimated: number | null;
  /** Tokens of calls for which neither is known. */
  readonly unpriced: number;
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
 * @remarks Cost: O(calls).
 */
export function groupCalls(
  sessions: readonly CallsOfSession[],
  options: GroupOptions,
): { groups: UsageGroup[]; total: UsageGroup } {
  const nodes = sessions.map(nodeOf);
  const descent = new Descent(nodes);
  const grouping = new Grouping(options, descent);
  const seen = new SeenCalls();
  for (const node of parentsFirst(nodes, descent)) {
    const own = node.recorded.calls.filter((call) => !seen.has(call));
    for (const call of own) seen.add(call);
    if (node.isOutside !== true && isWanted(node, options.source)) grouping.add(node, own);
  }
  const { groups, total } = grouping;
  return { groups, total };
}

/** Returns the session that started each subagent's, by the row of the latter, where both are among some sessions. */
export function startersOf(sessions: readonly CallsOfSession[]): Map<SessionRow, SessionRow> {
  const nodes = sessions.map(nodeOf);
  const descent = new Descent(nodes);
  const starters = new Map<SessionRow, SessionRow>();
  for (const node of nodes) {
    const starter = starterOf(node, descent)?.row;
    let first = starter;
    for (let above = starter; above !== undefined; above = starters.get(above)) first = above;
    // Headers can name each other in a cycle.
    if (starter !== undefined && first !== node.row) starters.set(node.row, starter);
  }
  return starters;
}

function nodeOf({ row, ...rest }: CallsOfSession): Node {
  const { path = row.id, id, parentSession } = row;
  return { row, ...rest, path, id, ...(parentSession !== undefined && { parentSession }) };
}

function starterOf(node: Node, descent: Descent<Node>): Node | undefined {
  const [starter] = node.recorded.isSubagent ? descent.parentsOf(node) : [];
  return starter?.isOutside === true ? undefined : starter;
}

function isWanted({ recorded: { source } }: Node, wanted: string | undefined): boolean {
  return wanted === undefined || (wanted === "any" ? source !== null : source === wanted);
}

/** Orders sessions so that each comes after those it descends from, of equals the oldest first. */
function parentsFirst(nodes: readonly Node[], descent: Descent<Node>): Node[] {
  const oldest = [...nodes].sort(
    (a, b) => a.row.created.getTime() - b.row.created.getTime() || (a.path < b.path ? -1 : 1),
  );
  const ordered = new Set<Node>();
  for (const node of oldest) {
    // Elements added during the walk are walked as well, so that headers in a cycle end it.
    const line = new Set([node]);
    for (const one of line) for (const parent of descent.parentsOf(one)) line.add(parent);
    for (const one of [...line].reverse()) ordered.add(one);
  }
  return [...ordered];
}

/** The calls of the sessions so far, to know copies of them. */
class SeenCalls {
  readonly #firsts = new Map<number, RecordedCall>();
  /** Calls of the same time as another one: few, so that most times take no list. */
  readonly #others = new Map<number, RecordedCall[]>();

  has(call: RecordedCall): boolean {
    if (call.timeMs === null) return false;
    const first = this.#firsts.get(call.timeMs);
    if (first === undefined) return false;
    return (
      isCopy(call, first) || this.#others.get(call.timeMs)?.some((other) => isCopy(call, other)) === true
    );
  }

  add(call: RecordedCall): void {
    const { timeMs } = call;
    if (timeMs === null) return;
    if (!this.#firsts.has(timeMs)) this.#firsts.set(timeMs, call);
    else this.#others.set(timeMs, [...(this.#others.get(timeMs) ?? []), call]);
  }
}

/**
 * Whether two calls of the same time are one: a copy keeps its id, unless the file has none.
 *
 * A summary may count to another model in a copy, which has but one of the branches.
 */
function isCopy(a: RecordedCall, b: RecordedCall): boolean {
  const isSame =
    a.id !== undefined && b.id !== undefined
      ? a.id === b.id
      : a.model === b.model && a.provider === b.provider;
  return isSame && a.input === b.input && a.output === b.output && a.totalTokens === b.totalTokens;
}

/** A group while it grows. */
interface GrowingGroup {
  readonly by: UsageGroup["by"];
  readonly subagentOf: SessionRow | undefined;
  /** Key of the group of that session. */
  readonly parentKey: string | undefined;
  readonly sessions: Set<Node>;
  readonly sum: UsageTotals;
  estimated: number | null;
  unpriced: number;
}

function newGroup(by: UsageGroup["by"] = {}, subagentOf?: SessionRow, parentKey?: string): GrowingGroup {
  return { by, subagentOf, parentKey, sessions: new Set(), sum: noUsage(), estimated: null, unpriced: 0 };
}

/** Puts calls into their groups. */
class Grouping {
  readonly #options: GroupOptions;
  readonly #by: readonly UsageKey[];
  readonly #descent: Descent<Node>;
  readonly #calendar: Calendar;
  readonly #total = newGroup();
  readonly #groups = new Map<string, GrowingGroup>();
  readonly #bills = new Map<Node, Bills>();

  constructor(options: GroupOptions, descent: Descent<Node>) {
    this.#options = options;
    this.#by = options.by ?? [];
    this.#descent = descent;
    this.#calendar = new Calendar(options.utc === true);
  }

  add(node: Node, calls: readonly RecordedCall[]): void {
    const { since, until, prices } = this.#options;
    const fromMs = since?.getTime() ?? Number.NEGATIVE_INFINITY;
    const toMs = until?.getTime() ?? Number.POSITIVE_INFINITY;
    const isBounded = since !== undefined || until !== undefined;
    const starters = this.#lineOf(node);
    const bills = starters.map((one) => this.#billsOf(one));
    const line = this.#by.includes("session") ? starters : [node];
    let groups: GrowingGroup[] = [];
    let before: RecordedCall | undefined;
    for (const call of calls) {
      const { timeMs } = call;
      if (isBounded && (timeMs === null || timeMs < fromMs || timeMs >= toMs)) continue;
      const isStated = call.cost !== null || bills.some((bill) => isBilled(call, bill));
      const price: Price = isStated ? "stated" : priceOf(call, prices);
      addCall(this.#total, node, call, price);
      if (before === undefined || !isAlike(call, before))
        groups = line.map((of, i) => this.#groupOf(node, call, of, line[i + 1]));
      before = call;
      for (const group of groups) addCall(group, node, call, price);
    }
  }

  get total(): UsageGroup {
    return finished(this.#total);
  }

  /** The groups in order. */
  get groups(): UsageGroup[] {
    const byParent = new Map<string | undefined, [string, GrowingGroup][]>();
    for (const [key, group] of this.#groups) {
      const siblings = byParent.get(group.parentKey);
      if (siblings === undefined) byParent.set(group.parentKey, [[key, group]]);
      else siblings.push([key, group]);
    }
    const withChildren = (key: string | undefined): UsageGroup[] =>
      (byParent.get(key) ?? [])
        .sort(([, a], [, b]) => this.#compare(a, b))
        .flatMap(([own, group]) => [finished(group), ...withChildren(own)]);
    return withChildren(undefined);
  }

  /** Returns the session, and those that started it as a subagent, each behind the one that it started. */
  #lineOf(node: Node): Node[] {
    const line = new Set([node]);
    // Elements added during the walk are walked as well.
    for (const one of line) {
      const starter = starterOf(one, this.#descent);
      if (starter !== undefined) line.add(starter);
    }
    return [...line];
  }

  #billsOf(node: Node): Bills {
    const known = this.#bills.get(node) ?? billsIn(node.recorded.calls);
    this.#bills.set(node, known);
    return known;
  }

  #groupOf(node: Node, call: RecordedCall, of: Node, parent: Node | undefined): GrowingGroup {
    const values = this.#by.map((name) => (name === "session" ? null : this.#valueOf(name, node, call)));
    const keyFor = (session: Node) => JSON.stringify([session.path, ...values]);
    const hasSession = this.#by.includes("session");
    const key = hasSession ? keyFor(of) : JSON.stringify(values);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const named = this.#by.map((name, i) => [name, name === "session" ? of.row : values[i]]);
    const group = newGroup(Object.fromEntries(named), parent?.row, parent && keyFor(parent));
    this.#groups.set(key, group);
    return group;
  }

  #valueOf(name: Exclude<UsageKey, "session">, node: Node, call: RecordedCall): string | null {
    if (name === "model") return modelName(call) || null;
    if (name === "project") return node.row.cwd || null;
    if (name === "source") return node.recorded.source;
    return call.timeMs === null ? null : this.#calendar.of(call.timeMs)[name];
  }

  #compare(a: GrowingGroup, b: GrowingGroup): number {
    for (const name of this.#by) {
      if (name !== "day" && name !== "week" && name !== "month") continue;
      const [first, second] = [a.by[name] ?? LAST, b.by[name] ?? LAST];
      if (first !== second) return first < second ? -1 : 1;
    }
    return spent(b) - spent(a) || b.sum.totalTokens - a.sum.totalTokens;
  }
}

/** Whether two calls of a session are in the same groups for sure. */
function isAlike(a: RecordedCall, b: RecordedCall): boolean {
  if (a.model !== b.model || a.provider !== b.provider) return false;
  return a.timeMs === null || b.timeMs === null
    ? a.timeMs === b.timeMs
    : quarterOf(a.timeMs) === quarterOf(b.timeMs);
}

/** Calls without a time come behind the others. */
const LAST = "\uffff";

function spent({ sum, estimated }: GrowingGroup): number {
  return (sum.cost ?? 0) + (estimated ?? 0);
}

/** An estimate; undefined without a price. */
type Price = number | "stated" | undefined;

function addCall(group: GrowingGroup, node: Node, call: RecordedCall, price: Price): void {
  group.sessions.add(node);
  addTo(group.sum, call);
  if (price === undefined) group.unpriced += call.totalTokens;
  else if (price !== "stated") group.estimated = (group.estimated ?? 0) + price;
}

/** When each model was last billed for earlier calls: programs such as Claude Code record dollars apart from tokens. */
type Bills = ReadonlyMap<string, number>;

function billsIn(calls: readonly RecordedCall[]): Bills {
  const bills = new Map<string, number>();
  for (const call of calls) {
    if (call.totalTokens > 0 || call.cost === null || call.timeMs === null) continue;
    bills.set(modelName(call), Math.max(call.timeMs, bills.get(modelName(call)) ?? call.timeMs));
  }
  return bills;
}

function isBilled(call: RecordedCall, bills: Bills): boolean {
  if (bills.size === 0 || call.timeMs === null) return false;
  return call.timeMs <= (bills.get(modelName(call)) ?? Number.NEGATIVE_INFINITY);
}

function finished({ by, subagentOf, sessions, sum, estimated, unpriced }: GrowingGroup): UsageGroup {
  const { count: calls, input, output, cacheRead, cacheWrite, totalTokens: total, cost } = sum;
  return {
    by,
    ...(subagentOf !== undefined && { subagentOf }),
    sessions: sessions.size,
    calls,
    input,
    output,
    cacheRead,
    cacheWrite,
    total,
    cost,
    estimated,
    unpriced,
  };
}

/** @throws {SessionError} `PRICE_FAILED` */
function priceOf(call: RecordedCall, prices: PriceFunction | undefined): number | undefined {
  const { provider, model, timeMs, totalTokens } = call;
  if (prices === undefined || model === null || totalTokens === 0) return undefined;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = call;
  const usage = { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, totalTokens };
  const failed = (why: string, cause?: unknown) => {
    const message = `The price of ${modelName(call)} cannot be computed: ${why}. Mend the prices, or leave them out to count tokens alone.`;
    return new SessionError("PRICE_FAILED", message, { details: { provider, model, usage, timeMs }, cause });
  };
  let price: unknown;
  try {
    price = prices(provider, model, usage, timeMs === null ? null : new Date(timeMs));
  } catch (error) {
    throw failed(messageOf(error), error);
  }
  if (price === undefined) return undefined;
  if (typeof price === "number" && price >= 0 && Number.isFinite(price)) return price;
  throw failed(`the function returns ${String(price)}, and not a number of dollars or undefined`);
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

function quarterOf(timeMs: number): number {
  return Math.floor(timeMs / QUARTER_MS);
}

/** Names days, weeks and months, of this system or of UTC. */
class Calendar {
  readonly #isUtc: boolean;
  readonly #known = new Map<number, CalendarNames>();

  constructor(isUtc: boolean) {
    this.#isUtc = isUtc;
  }

  of(timeMs: number): CalendarNames {
    const quarter = quarterOf(timeMs);
    const known = this.#known.get(quarter) ?? this.#namesAt(new Date(timeMs));
    this.#known.set(quarter, known);
    return known;
  }

  #namesAt(time: Date): CalendarNames {
    const dateMs = this.#isUtc
      ? Math.floor(time.getTime() / DAY_MS) * DAY_MS
      : Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
    const day = new Date(dateMs).toISOString().slice(0, 10);
    // A week belongs to the year of its Thursday.
    const thursday = new Date(dateMs + (3 - ((new Date(dateMs).getUTCDay() + 6) % 7)) * DAY_MS);
    const year = thursday.getUTCFullYear();
    const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
    return { day, week: `${year}-W${String(week).padStart(2, "0")}`, month: day.slice(0, 7) };
  }
}
