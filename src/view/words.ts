const THOUSANDS = /\B(?=(?:\d{3})+$)/g;

/** Writes a number as a whole one, with separators. `Intl` would take longer for the first one than most commands. */
export function count(value: number): string {
  return String(Math.round(value)).replace(THOUSANDS, ",");
}

/** Writes a number and the word for what is counted. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Stands for what no record says. */
const UNKNOWN = "–";

/** Writes US dollars: of small sums four decimal places, of others two; a dash for what is not known. */
export function dollars(cost: number | null): string {
  if (cost === null) return UNKNOWN;
  if (cost > 0 && cost < 0.00005) return "<$0.0001";
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Writes a length of time in the two largest units that fit: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 14 min`, `3 d 4 h`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 9.95 * SECOND_MS) return `${(milliseconds / SECOND_MS).toFixed(1)} s`;
  if (milliseconds < MINUTE_MS - SECOND_MS / 2) return `${Math.round(milliseconds / SECOND_MS)} s`;
  if (milliseconds < HOUR_MS - SECOND_MS / 2) return inUnits(milliseconds, MINUTE_MS, "min", SECOND_MS, "s");
  if (milliseconds < DAY_MS - MINUTE_MS / 2) return inUnits(milliseconds, HOUR_MS, "h", MINUTE_MS, "min");
  return inUnits(milliseconds, DAY_MS, "d", HOUR_MS, "h");
}

function inUnits(value: number, largeMs: number, large: string, smallMs: number, small: string): string {
  const all = Math.round(value / smallMs);
  const perLarge = largeMs / smallMs;
  const rest = all % perLarge;
  const whole = `${count(Math.floor(all / perLarge))} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

/** Writes a number of bytes in the unit that fits. */
export function bytes(value: number): string {
  if (value < 1000) return counted(value, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  let size = value / 1000;
  let unit = 0;
  for (; size >= 999.5 && unit < units.length - 1; unit++) size /= 1000;
  return `${size < 9.95 ? size.toFixed(1) : size.toFixed(0)} ${units[unit]}`;
}
