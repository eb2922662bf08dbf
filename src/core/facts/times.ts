import type { EntryTree } from "../tree/entry-tree.ts";
import { formatCount } from "./number-text.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a time as local time, to the minute. Returns an empty string if the time is invalid. */
export function formatDateAndTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? "" : `${formatDay(date)} ${formatClock(date)}`;
}

/** Formats a time as ISO 8601 in UTC. Returns an empty string if the time is invalid. */
export function formatIsoTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Format for a column of times, which omits the part of `formatDateAndTime` that all times share. */
export interface TimeColumn {
  readonly width: number;
  format(timeMs: number): string;
}

/**
 * Returns the shortest format for times in a range: only the time of day within one day, and no year within one calendar year.
 */
export function chooseTimeColumn(firstMs: number, lastMs: number): TimeColumn {
  const [first, last] = [formatDateAndTime(firstMs), formatDateAndTime(lastMs)];
  const skipped =
    first.slice(0, 10) === last.slice(0, 10) ? 11 : first.slice(0, 4) === last.slice(0, 4) ? 5 : 0;
  return {
    width: Math.max(0, last.length - skipped),
    format: (timeMs) => formatDateAndTime(timeMs).slice(skipped),
  };
}

/** Formats a time span. Omits the date from the second time if both times have the same date. */
export function formatSpan(firstMs: number, lastMs: number): string {
  const [first, last] = [formatDateAndTime(firstMs), formatDateAndTime(lastMs)];
  if (first === last || last === "") return first;
  return `${first} – ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last}`;
}

/** Formats how long ago a time was, or its date if that was a week ago or more. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const passed = nowMs - timeMs;
  if (passed < 0 || passed >= 7 * DAY_MS || Number.isNaN(passed))
    return formatDateAndTime(timeMs).slice(0, 10);
  if (passed < MINUTE_MS) return "just now";
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min ago`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)} h ago`;
  const days = Math.floor(passed / DAY_MS);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/**
 * Formats the local day of a time: `Today`, `Yesterday`, the weekday within the last week, or a date such as
 * `2026-11-23`. Returns an empty string if the time is invalid.
 */
export function formatRelativeDay(timeMs: number, nowMs: number): string {
  const [date, now] = [new Date(timeMs), new Date(nowMs)];
  // A day may have 23 or 25 hours.
  const days = Math.round((getMidnight(now) - getMidnight(date)) / DAY_MS);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return days > 1 && days < 7 ? (WEEKDAYS[date.getDay()] ?? "") : formatDateAndTime(timeMs).slice(0, 10);
}

/** Formats the time when a session was last used, in at most 11 columns: the day and, for today, the time of day. */
export function formatLastUse(timeMs: number, nowMs: number): string {
  const day = formatRelativeDay(timeMs, nowMs);
  return day === "Today" ? `${day} ${formatTimeOfDay(timeMs)}` : day;
}

/** Formats the local time of day, to the minute. Returns an empty string if the time is invalid. */
export function formatTimeOfDay(timeMs: number): string {
  return formatDateAndTime(timeMs).slice(11);
}

function getMidnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** Formats a duration in its two largest units: `<0.1 s`, `0.4 s`, `12 s`, `3 min 20 s`, `2 h 14 min`, `3 d 4 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0.05 * SECOND_MS) return "<0.1 s";
  if (milliseconds < 9.95 * SECOND_MS) return `${(milliseconds / SECOND_MS).toFixed(1)} s`;
  if (milliseconds < MINUTE_MS - SECOND_MS / 2) return `${Math.round(milliseconds / SECOND_MS)} s`;
  if (milliseconds < HOUR_MS - SECOND_MS / 2)
    return formatUnits(milliseconds, MINUTE_MS, "min", SECOND_MS, "s");
  if (milliseconds < DAY_MS - MINUTE_MS / 2) return formatUnits(milliseconds, HOUR_MS, "h", MINUTE_MS, "min");
  return formatUnits(milliseconds, DAY_MS, "d", HOUR_MS, "h");
}

function formatUnits(value: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const all = Math.round(value / smallMs);
  const perLarge = largeMs / smallMs;
  const rest = all % perLarge;
  const whole = `${formatCount(Math.floor(all / perLarge))} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

const UNITS_MS: { readonly [unit: string]: number } = {
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
};

/**
 * Parses a duration and returns it in milliseconds. A duration is an integer followed by `h`, `d`, `w`, or `y`, for hours, days,
 * weeks, or years of 365 days.
 */
export function parseDuration(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(number) * unitMs;
}

/** Time span, from its first millisecond up to the first millisecond after it. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Parses a time: a month (`2026-11`), a day (`2026-11-23`), an ISO 8601 time, a duration before now (`12h`, `7d`, `8w`, `1y`), or
 * `today`, `yesterday`, or the current `week`, `month`, or `year`.
 *
 * @param isUtc - Whether months, days, and times without a time zone are in UTC instead of the system's time zone.
 * @returns The span of the month, day, or other period, or a single point in time; undefined if the string is not a time.
 */
export function parseMoment(text: string, nowMs: number, isUtc: boolean): Span | undefined {
  const ago = parseDuration(text);
  if (ago !== undefined) return { fromMs: nowMs - ago, toMs: nowMs - ago };
  const named = parseNamedSpan(text, nowMs, isUtc);
  if (named !== undefined) return named;
  const [, year, month, date] = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/.exec(text) ?? [];
  if (year === undefined) {
    const timeMs = /^\d{4}-\d{2}-\d{2}T/.test(text)
      ? Date.parse(isUtc && !HAS_ZONE.test(text) ? `${text}Z` : text)
      : Number.NaN;
    return Number.isNaN(timeMs) ? undefined : { fromMs: timeMs, toMs: timeMs };
  }
  const at = (months: number, days: number) => {
    const parts = [Number(year), Number(month) - 1 + months, Number(date ?? 1) + days] as const;
    return isUtc ? Date.UTC(...parts) : new Date(...parts).getTime();
  };
  const isReal = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date ?? 1)))
    .toISOString()
    .startsWith(text);
  return isReal ? { fromMs: at(0, 0), toMs: date === undefined ? at(1, 0) : at(0, 1) } : undefined;
}

/** Parses the name of a current day, week (starting on Monday), month, or year. */
function parseNamedSpan(text: string, nowMs: number, isUtc: boolean): Span | undefined {
  const now = new Date(nowMs);
  const [year, month, date, weekday] = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), now.getUTCDay()]
    : [now.getFullYear(), now.getMonth(), now.getDate(), now.getDay()];
  const at = (...parts: [year: number, month: number, date: number]) =>
    isUtc ? Date.UTC(...parts) : new Date(...parts).getTime();
  const monday = date - ((weekday + 6) % 7);
  switch (text) {
    case "today":
      return { fromMs: at(year, month, date), toMs: at(year, month, date + 1) };
    case "yesterday":
      return { fromMs: at(year, month, date - 1), toMs: at(year, month, date) };
    case "week":
      return { fromMs: at(year, month, monday), toMs: at(year, month, monday + 7) };
    case "month":
      return { fromMs: at(year, month, 1), toMs: at(year, month + 1, 1) };
    case "year":
      return { fromMs: at(year, 0, 1), toMs: at(year + 1, 0, 1) };
    default:
      return undefined;
  }
}

const HAS_ZONE = /(?:Z|[+-]\d{2}:?\d{2})$/i;

function formatDay(date: Date): string {
  return `${String(date.getFullYear()).padStart(4, "0")}-${formatTwoDigits(date.getMonth() + 1)}-${formatTwoDigits(date.getDate())}`;
}

function formatClock(date: Date): string {
  return `${formatTwoDigits(date.getHours())}:${formatTwoDigits(date.getMinutes())}`;
}

function formatTwoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** Returns the earliest and latest times of a session's entries, in Unix milliseconds; NaN if no entry has a time. */
export function getTimeRange(tree: EntryTree): [number, number] {
  return findTimeRange(tree, tree.ordinals(), () => true);
}

/**
 * Returns the times of the earliest and latest messages, in Unix milliseconds. This is the period in which a session was used,
 * regardless of when it was named or labeled.
 *
 * @param ordinals - Entries to include, such as a path. Default: all.
 * @returns The range of messages; if no message has a time, the range of all entries; NaN if no entry has a time.
 * @remarks Cost: O(ordinals). Does not read bodies.
 */
export function getMessageTimeRange(
  tree: EntryTree,
  ordinals: Iterable<number> = tree.ordinals(),
): [number, number] {
  const counted = [...ordinals];
  const range = findTimeRange(tree, counted, (ordinal) => tree.typeAt(ordinal) === "message");
  return Number.isNaN(range[0]) ? findTimeRange(tree, counted, () => true) : range;
}

function findTimeRange(
  tree: EntryTree,
  ordinals: Iterable<number>,
  isCounted: (ordinal: number) => boolean,
): [number, number] {
  let [first, last] = [Number.NaN, Number.NaN];
  for (const ordinal of ordinals) {
    const time = tree.timeAt(ordinal);
    if (Number.isNaN(time) || !isCounted(ordinal)) continue;
    if (!(first <= time)) first = time;
    if (!(last >= time)) last = time;
  }
  return [first, last];
}
