import { toArray, toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { UNKNOWN_MODEL } from "../../../core/facts/usage.ts";
import { type Spent, sumSpent } from "../../../core/facts/usage-tally.ts";
import { groupBy } from "../../../core/format/group-by.ts";
import { isJsonRecord } from "../../../core/format/json.ts";

/** What one model's calls in a session used on a day, those of its subagents included. */
export interface SpentGroup extends Readonly<Spent> {
  /** Address of the session's page. */
  readonly session: string;
  /** As `2026-11-23`; empty if it is not known. */
  readonly day: string;
  readonly model: string;
}

/** What a server knows of the sessions of a list once it has gathered their calls. */
export interface IndexUsage {
  /** The program that each session was imported from, by its address; empty for one that was not imported. */
  readonly sources: ReadonlyMap<string, string>;
  /** The model that made most calls of each session, by its address. */
  readonly models: ReadonlyMap<string, string>;
  /** The sessions that started each subagent's, by its address. */
  readonly starters: ReadonlyMap<string, string>;
  readonly groups: readonly SpentGroup[];
}

/** Reads what a server tells of the sessions of a list. */
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

/** What a server knows of the usage of one session. */
export interface SessionUsage {
  /** As the list counts it, subagents included; undefined if that does not hold it. */
  readonly listed: Spent | undefined;
  /** Dollars by prices, by the ids of entries. */
  readonly estimates: ReadonlyMap<string, number>;
}

/** Reads what a server tells of the usage of a session. */
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

/** Adds groups up by a key, in the order in which keys first occur. */
export function sumByKey(
  groups: readonly SpentGroup[],
  getKey: (group: SpentGroup) => string,
): Map<string, Spent> {
  return new Map(Array.from(groupBy(groups, getKey), ([key, some]) => [key, sumSpent(some)]));
}

/** Days from the first to the last, each as `2026-11-23`; a bound that is missing is none. */
export interface Period {
  readonly from?: string;
  readonly to?: string;
}

/** Tells whether a day is in a period; one that is not known is in that without bounds alone. */
export function isWithin(day: string, { from, to }: Period): boolean {
  if (day === "") return from === undefined && to === undefined;
  return (from === undefined || day >= from) && (to === undefined || day <= to);
}

/** The periods that can be chosen. */
export const PERIODS = ["today", "7 days", "30 days", "this month", "last month", "this year"] as const;

/** Returns the days of a period that can be chosen, or of a day or a month that is named; none for another text. */
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

/** Writes the day of a time, as this system counts days; empty if it is none. */
export function formatDay(time: Date): string {
  if (Number.isNaN(time.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** More days than this have no bars of their own. */
const MAX_DAYS = 120;

/** What was used in a span of time: a day as `2026-11-23`, or a month as `2026-11`. */
export interface SpentSpan {
  readonly name: string;
  /** By model; those that were not used are missing. */
  readonly models: ReadonlyMap<string, Spent>;
}

/** Years at the start that make less than this part of the greatest one have no bar that can be seen. */
const MIN_SHOWN_PART = 0.005;

/**
 * Leaves out the years at the start in which nothing can be seen, such as those of a single call long before all others.
 *
 * @param getSize - Returns the size of what is drawn.
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

/** Adds groups up by day and model, or by month if that would be too many days; spans between them are there, and empty. */
export function sumSpans(groups: readonly SpentGroup[]): SpentSpan[] {
  const dated = groups.filter(({ day }) => day !== "");
  const days = dated.map(({ day }) => day).sort();
  const [first = "", last = ""] = [days[0], days.at(-1)];
  const all = listNamesBetween(first, last, 10);
  const [length, names] = all.length <= MAX_DAYS ? [10, all] : [7, listNamesBetween(first, last, 7)];
  const bySpan = groupBy(dated, ({ day }) => day.slice(0, length));
  return names.map((name) => ({ name, models: sumByKey(bySpan.get(name) ?? [], ({ model }) => model) }));
}

/** Names the days or months from the first to the last day, by so many characters of a day. */
function listNamesBetween(first: string, last: string, length: number): string[] {
  const names = new Set<string>();
  const [end, time] = [new Date(last), new Date(first)];
  for (; time <= end; time.setUTCDate(time.getUTCDate() + 1)) names.add(time.toISOString().slice(0, length));
  return [...names];
}
