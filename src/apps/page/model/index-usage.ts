import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { UNKNOWN_MODEL } from "../../../core/facts/usage.ts";
import { type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { isJsonRecord } from "../../../core/format/json.ts";

/** Usage of one model's calls in a session on one day, including its subagents' calls. */
export interface SpentGroup extends Readonly<Spent> {
  /** Address of the session's page. */
  readonly session: string;
  /** As `2026-11-23`; empty if unknown. */
  readonly day: string;
  readonly model: string;
}

/** Facts that a server returns about the sessions of a list after gathering their calls. */
export interface IndexUsage {
  /** The program that each session was imported from, by the session's address; empty for sessions that were not imported. */
  readonly sources: ReadonlyMap<string, string>;
  /** The model with the most calls in each session, by the session's address. */
  readonly models: ReadonlyMap<string, string>;
  /** The session that started each subagent's session, by the address of the subagent's session. */
  readonly starters: ReadonlyMap<string, string>;
  readonly groups: readonly SpentGroup[];
}

/** Reads a server's response about the sessions of a list. */
export function readIndexUsage(json: unknown): IndexUsage {
  const { sessions, groups } = toRecord(json);
  const known = Object.entries(toRecord(sessions)).map(([href, one]) => [href, toRecord(one)] as const);
  const starters = known.map(([href, { startedBy }]) => [href, toText(startedBy)] as const);
  return {
    sources: new Map(known.map(([href, { source }]) => [href, toText(source)])),
    models: new Map(known.map(([href, { model }]) => [href, toText(model)])),
    starters: new Map(starters.filter(([, starter]) => starter !== "")),
    groups: toArray(groups).map((one) => {
      const { session, day, model } = toRecord(one);
      return {
        session: toText(session),
        day: toText(day),
        model: toText(model) || UNKNOWN_MODEL,
        ...parseSpent(one),
      };
    }),
  };
}

/** Facts that a server returns about the usage of one session. */
export interface SessionUsage {
  /** Usage as counted in the list, including subagents; undefined if the list does not include the session. */
  readonly listed: Spent | undefined;
  /** Estimated cost in dollars, based on prices, by entry id. */
  readonly estimates: ReadonlyMap<string, number>;
}

/** Reads a server's response about the usage of a session. */
export function readSessionUsage(json: unknown): SessionUsage {
  const { spent, estimates } = toRecord(json);
  const known = Object.entries(toRecord(estimates)).map(([id, one]) => [id, toNumber(one)] as const);
  return { listed: isJsonRecord(spent) ? parseSpent(spent) : undefined, estimates: new Map(known) };
}

function parseSpent(value: unknown): Spent {
  const { calls, input, output, cacheRead, cacheWrite, total, cost, estimated, unpriced } = toRecord(value);
  return {
    calls: toNumber(calls),
    input: toNumber(input),
    output: toNumber(output),
    cacheRead: toNumber(cacheRead),
    cacheWrite: toNumber(cacheWrite),
    total: toNumber(total),
    cost: typeof cost === "number" ? cost : null,
    estimated: typeof estimated === "number" ? estimated : null,
    unpriced: toNumber(unpriced),
  };
}

/** Adds up groups by a key, in order of each key's first occurrence. */
export function sumByKey(
  groups: readonly SpentGroup[],
  getKey: (group: SpentGroup) => string,
): Map<string, Spent> {
  return new Map(Array.from(groupBy(groups, getKey), ([key, some]) => [key, sumSpent(some)]));
}

/** Days from the first to the last, each as `2026-11-23`; a missing bound sets no limit. */
export interface Period {
  readonly from?: string;
  readonly to?: string;
}

/** Returns whether a day is in a period; an unknown day is only in an unbounded period. */
export function isWithin(day: string, { from, to }: Period): boolean {
  if (day === "") return from === undefined && to === undefined;
  return (from === undefined || day >= from) && (to === undefined || day <= to);
}

/** Periods to choose from. */
export const PERIODS = ["today", "7 days", "30 days", "this month", "last month", "this year"] as const;

/** Returns the days of one of `PERIODS`, or of a given day or month; an unbounded period for any other string. */
export function parsePeriod(text: string, today: Date): Period {
  const [year, month, date] = [today.getFullYear(), today.getMonth(), today.getDate()];
  const day = (ofMonth: number, monthAt = month) => formatDay(new Date(year, monthAt, ofMonth));
  switch (text) {
    case "today":
      return { from: day(date) };
    case "7 days":
      return { from: day(date - 6) };
    case "30 days":
      return { from: day(date - 29) };
    case "this month":
      return { from: day(1) };
    case "last month":
      return { from: day(1, month - 1), to: day(0) };
    case "this year":
      return { from: day(1, 0) };
    default:
      return /^\d{4}-\d{2}(?:-\d{2})?$/.test(text)
        ? { from: text, to: text.length === 7 ? `${text}-31` : text }
        : {};
  }
}

/** Formats a time as a day in the local time zone; empty if the time is invalid. */
export function formatDay(time: Date): string {
  if (Number.isNaN(time.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Maximum number of days that get their own bars. */
const MAX_DAYS = 120;

/** Usage in a day, such as `2026-11-23`, or a month, such as `2026-11`. */
export interface SpentSpan {
  readonly name: string;
  /** By model; unused models are omitted. */
  readonly models: ReadonlyMap<string, Spent>;
}

/** Minimum size of an early year for its bars to be visible, as a fraction of the largest year. */
const MIN_SHOWN_PART = 0.005;

/**
 * Drops the years at the start whose bars would not be visible, such as a year that contains a single call long before all other
 * calls.
 *
 * @param getSize - Returns the size of the bar.
 * @returns Groups with a day and a size.
 */
export function dropEmptyYears(
  groups: readonly SpentGroup[],
  getSize: (spent: Spent) => number,
): SpentGroup[] {
  const drawn = groups.filter((group) => group.day !== "" && getSize(group) > 0);
  const years = [...sumByKey(drawn, ({ day }) => day.slice(0, 4))].sort(([a], [b]) => (a < b ? -1 : 1));
  const min = MIN_SHOWN_PART * Math.max(0, ...years.map(([, spent]) => getSize(spent)));
  const [first = ""] = years.find(([, spent]) => getSize(spent) >= min) ?? [];
  return drawn.filter(({ day }) => day >= first);
}

/** Adds up groups by day and model, or by month if there would be too many days; includes the empty spans between them. */
export function sumSpans(groups: readonly SpentGroup[]): SpentSpan[] {
  const dated = groups.filter(({ day }) => day !== "");
  const days = dated.map(({ day }) => day).sort();
  const [first = "", last = ""] = [days[0], days.at(-1)];
  const all = listNamesBetween(first, last, 10);
  const [length, names] = all.length <= MAX_DAYS ? [10, all] : [7, listNamesBetween(first, last, 7)];
  const bySpan = groupBy(dated, ({ day }) => day.slice(0, length));
  return names.map((name) => ({ name, models: sumByKey(bySpan.get(name) ?? [], ({ model }) => model) }));
}

/**
 * Lists the names of the days or months from the first to the last day.
 *
 * @param length - Number of characters of a day to use as a name: 10 for days, 7 for months.
 */
function listNamesBetween(first: string, last: string, length: number): string[] {
  const names = new Set<string>();
  const [end, time] = [new Date(last), new Date(first)];
  for (; time <= end; time.setUTCDate(time.getUTCDate() + 1)) names.add(time.toISOString().slice(0, length));
  return [...names];
}
