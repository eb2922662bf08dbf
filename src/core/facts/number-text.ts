const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** Writes a number as a whole one, with separators. `Intl` would take longer for the first one than most commands. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(THOUSANDS, ",");
}

/** Returns the texts that are not empty, with something between them. */
export function joinNonempty(between: string, ...texts: readonly string[]): string {
  return texts.filter(Boolean).join(between);
}

/** Writes a number and the word for what is counted. */
export function formatCounted(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

const UNKNOWN = "–";

/** Writes US dollars: of small sums four decimal places, of others two; a dash for what is not known. */
export function formatDollars(cost: number | null): string {
  if (cost === null) return UNKNOWN;
  if (cost < 0) return `-${formatDollars(-cost)}`;
  if (cost > 0 && cost < 0.00005) return "<$0.0001";
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

/** Writes a round amount in US dollars for the edge of a chart, with no more digits than it needs. */
export function roundDollars(value: number): string {
  return `$${Number(value.toPrecision(3))}`;
}

/** Writes a number of bytes in the unit that fits. */
export function formatBytes(value: number): string {
  if (value < 1000) return formatCounted(value, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1000;
  let unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000;
  return `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${units[unit]}`;
}
