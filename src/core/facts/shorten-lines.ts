import { takeStart } from "../context/message-parts.ts";
import { formatCount, formatCounted } from "./number-text.ts";

/** Maximum size of a shortened text. */
export interface LineBounds {
  /** Maximum number of lines, at least 2. Half are taken from the beginning and half from the end. */
  readonly maxLines: number;
  /** Maximum length of a line, in UTF-16 code units. */
  readonly maxLineLength: number;
}

/**
 * Shortens text to its first and last lines, and truncates long lines.
 *
 * A line in the middle states how many lines are omitted, and the end of a shortened line states how much of it is omitted. If
 * only one line would be omitted, all lines are kept.
 */
export function shortenLines(text: string, { maxLines, maxLineLength }: LineBounds): string {
  const lines = text.split("\n").map((line) => shortenLine(line, maxLineLength));
  const half = Math.floor(maxLines / 2);
  const omitted = lines.length - 2 * half;
  if (omitted <= 1) return lines.join("\n");
  return [
    ...lines.slice(0, half),
    `… ${formatCounted(omitted, "line")} left out …`,
    ...lines.slice(-half),
  ].join("\n");
}

function shortenLine(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line;
  const start = takeStart(line, maxLength);
  return `${start}… (${formatCount(line.length - start.length)} more characters)`;
}
