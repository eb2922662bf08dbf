import { takeStart } from "../context/message-parts.ts";
import { formatCount, formatCounted } from "./number-text.ts";

/** Maximum size of a shortened text. */
export interface LineBounds {
  /** Number of lines, at least 2: half from the beginning, half from the end. */
  readonly maxLines: number;
  /** UTF-16 units per line. */
  readonly maxLineLength: number;
}

/**
 * Shortens a text to its first and last lines, and long lines to their beginnings.
 *
 * A line in the middle and the end of a shortened line state how much is omitted. A text that would hardly be shorter is returned
 * whole.
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
