const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Writes a moment in local time, to the minute; empty if it is none. */
export function dateAndTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? "" : `${day(date)} ${clock(date)}`;
}

/** Writes a moment as ISO 8601, in UTC; empty if it is none. */
export function isoTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** How times are written so that they tell apart what is in a list: `dateAndTime` shortened by what is common to all. */
export interface TimeColumn {
  readonly width: number;
  format(timeMs: number): string;
}

/**
 * Chooses the shortest writing of times between two moments: the clock for one day, day and clock within about a year.
 *
 * @param firstMs - Unix milliseconds; NaN if there are no times.
 */
export function timeColumn(firstMs: number, lastMs: number): TimeColumn {
  const [first, last] = [dateAndTime(firstMs), dateAndTime(lastMs)];
  const skipped =
    first.slice(0, 10) === last.slice(0, 10) ? 11 : first.slice(0, 4) === last.slice(0, 4) ? 5 : 0;
  return {
    width: Math.max(0, last.length - skipped),
    format: (timeMs) => dateAndTime(timeMs).slice(skipped),
  };
}

/** Writes two moments as a span, the second without what it shares with the first. */
export function span(firstMs: number, lastMs: number): string {
  const [first, last] = [dateAndTime(firstMs), dateAndTime(lastMs)];
  if (first === last || last === "") return first;
  return `${first} – ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last}`;
}

/** Writes how long ago a moment was, and the day where that is long. */
export function ago(timeMs: number, nowMs: number): string {
  const passed = nowMs - timeMs;
  if (passed < 0 || passed >= 7 * DAY_MS || Number.isNaN(passed)) return dateAndTime(timeMs).slice(0, 10);
  if (passed < MINUTE_MS) return "just now";
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min ago`;
  if (passed < DAY_MS) return `${Math.floor(passed / HOUR_MS)} h ago`;
  const days = Math.floor(passed / DAY_MS);
  return days === 1 ? "1 day ago" : `${days} days ago`;
}

const UNITS_MS: { readonly [unit: string]: number } = {
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
};

/**
 * Reads a length of time: a whole number and `h`, `d`, `w` or `y`, for hours, days, weeks and years of 365 days.
 *
 * @returns Milliseconds; undefined if it is none.
 */
export function parseDuration(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? undefined : Number(number) * unitMs;
}

function day(date: Date): string {
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function clock(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
