import { takeStart } from "../context/message-parts.ts";
import { formatCount, formatCounted } from "./number-text.ts";

/** How much of a text is kept. */
export interface LineBounds {
  /** Lines, 2 at least: the same number from the beginning and from the end. */
  readonly maxLines: number;
  /** UTF-16 units of a line. */
  readonly maxLineLength: number;
}

/**
 * Shortens a text to its first and last lines, and long lines to their beginnings.
 *
 * A line in the middle, and the end of a line, say how much is left out. A text that would hardly be shorter stays whole.
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
