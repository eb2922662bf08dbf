import { formatBytes } from "../../../core/facts/number-text.ts";
import { toPlainLine, toWholeLine } from "../../../core/facts/plain-text.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { Output } from "../output.ts";
import { fitColumn, measureWidth, wrapText } from "../text/width.ts";

/** Short values by name; empty values are not displayed. */
export type Facts = readonly (readonly [name: string, value: string])[];

const MAX_NAME_WIDTH = 20;

/** Writes names and values in two columns or, in a pipe, one pair per line; omits empty values. */
export function writeFacts(facts: Facts, out: Output): void {
  const formatLine = out.isLaidOut ? toPlainLine : toWholeLine;
  const shown = facts
    .map(([name, value]) => [name, formatLine(value)] as const)
    .filter(([, value]) => value !== "");
  const nameWidth = Math.min(MAX_NAME_WIDTH, Math.max(0, ...shown.map(([name]) => measureWidth(name))));
  for (const [name, value] of shown) {
    wrapText(value, out.width - nameWidth - 2).forEach((line, i) => {
      out.line(`${out.colors.dim(fitColumn(i === 0 ? name : "", nameWidth))}  ${line}`);
    });
  }
}

/** Writes the position of an issue in its file, and its description. */
export function writeIssue({ line, offset, length, code, message }: SessionIssue, out: Output): void {
  out.line(`  line ${line}, offset ${offset}, ${formatBytes(length)}: ${out.colors.bold(code)}`);
  writeIndented(message, out);
}

/** Writes text, indented and wrapped. */
export function writeIndented(text: string, out: Output): void {
  for (const line of wrapText(toPlainLine(text), out.width - 4)) out.line(`    ${line}`);
}
