const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** Formats a number as an integer with thousands separators. Avoids `Intl`, whose first use takes longer than most commands. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(THOUSANDS, ",");
}

/** Joins the nonempty strings with a separator. */
export function joinNonempty(between: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(between);
}

/** Formats a number with the noun for the counted items. */
export function formatCounted(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

const UNKNOWN = "–";

/** Formats an amount in US dollars with two decimal places, or four for small amounts. Returns a dash if it is unknown. */
export function formatDollars(cost: number | null): string {
  if (cost === null) return UNKNOWN;
  if (cost < 0) return `-${formatDollars(-cost)}`;
  if (cost > 0 && cost < 0.00005) return "<$0.0001";
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

/** Formats a round amount in US dollars for a chart axis, with no more digits than necessary. */
export function roundDollars(value: number): string {
  return `$${Number(value.toPrecision(3))}`;
}

/** Formats a number of bytes in a suitable unit. */
export function formatBytes(value: number): string {
  if (value < 1000) return formatCounted(value, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1000;
  let unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000;
  return `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${units[unit]}`;
}
