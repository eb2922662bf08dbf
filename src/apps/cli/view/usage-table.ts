import type { Output } from "../output.ts";
import { fitColumn, measureWidth, truncateLine } from "../text/width.ts";

const GAP = 2;
const MIN_NAME_WIDTH = 12;
/** Preferred width of names, in columns and as a fraction of the line; columns of numbers are omitted to reach it. */
const GOOD_NAME_WIDTH = 24;
const GOOD_NAME_SHARE = 0.45;
const MAX_BAR_WIDTH = 30;
const MIN_BAR_WIDTH = 8;

/** Row of a table of numbers. */
export interface UsageRow {
  readonly name: string;
  /** Empty strings for missing numbers. */
  readonly numbers: readonly string[];
  readonly isTotal?: boolean;
  /** Value that determines the length of the bar, relative to the greatest value; absent for a row without a bar. */
  readonly size?: number;
}

/**
 * Writes a table: names, columns of numbers and, on a terminal, a bar for each row with a size.
 *
 * Omits columns that do not fit, starting with the first column.
 *
 * @param cut - Shortens a name to a width.
 */
export function writeUsageTable(
  titles: readonly [name: string, ...numbers: string[]],
  rows: readonly UsageRow[],
  out: Output,
  cut = truncateLine,
): void {
  const { colors } = out;
  const [nameTitle, ...numberTitles] = titles;
  const widths = numberTitles.map((title, i) =>
    Math.max(...[title, ...rows.map(({ numbers }) => numbers[i] ?? "")].map(measureWidth)),
  );
  const nameWidth = Math.max(...[nameTitle, ...rows.map(({ name }) => name)].map(measureWidth));
  let first = 0;
  let taken = widths.reduce((sum, width) => sum + width + GAP, 0);
  const goodWidth = Math.min(nameWidth, GOOD_NAME_WIDTH, Math.floor(out.width * GOOD_NAME_SHARE));
  while (first < widths.length - 1 && taken > out.width - goodWidth) taken -= (widths[first++] ?? 0) + GAP;
  const shownWidth = Math.min(nameWidth, Math.max(MIN_NAME_WIDTH, out.width - taken));
  const room = out.isLaidOut ? Math.min(MAX_BAR_WIDTH, out.width - shownWidth - taken - GAP) : 0;
  const largest = Math.max(0, ...rows.map(({ size = 0 }) => size));
  const formatLine = (name: string, numbers: readonly string[]) =>
    fitColumn(cut(name, shownWidth), shownWidth) +
    numbers
      .slice(first)
      .map((number, i) => number.padStart(GAP + (widths[first + i] ?? 0)))
      .join("");
  out.line(colors.dim(formatLine(nameTitle, numberTitles)));
  for (const { name, numbers, isTotal = false, size = 0 } of rows) {
    const line = formatLine(name, numbers);
    const part =
      largest > 0 && room >= MIN_BAR_WIDTH
        ? Math.max(size > 0 ? 1 : 0, Math.round((size / largest) * room))
        : 0;
    const bar = part === 0 ? "" : " ".repeat(GAP) + colors.cyan("█".repeat(part));
    out.line(isTotal ? colors.bold(line) : line + bar);
  }
}
