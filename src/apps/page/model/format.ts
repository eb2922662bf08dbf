/** Formats a number of tokens with three digits: `950`, `12.4k`, `1.2M`, `1.8B`. */
export function formatTokens(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${formatShort(value / 1000)}k`;
  if (value < 999_500_000) return `${formatShort(value / 1_000_000)}M`;
  return `${formatShort(value / 1_000_000_000)}B`;
}

function formatShort(value: number): string {
  return value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : value.toFixed(0);
}

/** Formats a fraction as a percentage. */
export function formatPercent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** Formats the time of day of a stored time; empty if the time is invalid. */
export function formatTime(timestamp: unknown): string {
  const date = parseDate(timestamp);
  return date === undefined ? "" : TIME.format(date);
}

/** Formats the date and time of day of a stored time; empty if the time is invalid. */
export function formatDateAndTime(timestamp: unknown): string {
  const date = parseDate(timestamp);
  return date === undefined ? "" : `${DATE.format(date)}, ${TIME.format(date)}`;
}

function parseDate(timestamp: unknown): Date | undefined {
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return undefined;
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Step sizes that are easy to read. */
const STEPS = [1, 2, 2.5, 5, 10];

/** Approximate number of lines across a chart. */
const LINES = 4;

/**
 * Chooses the values of the lines that are drawn across a chart.
 *
 * @param max - Greatest value of the chart.
 * @returns Round values starting at 0; the last value is at least `max`.
 */
export function roundValues(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / LINES;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((one) => one * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Capitalizes the first letter. */
export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
