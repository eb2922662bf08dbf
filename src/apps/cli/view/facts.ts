import { formatBytes, formatCount } from "../../../core/facts/number-text.ts";
import { toPlainLine, toWholeLine } from "../../../core/facts/plain-text.ts";
import { groupBy } from "../../../core/format/group-by.ts";
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

/** Minimum number of equal issues that are written as one. */
const MIN_GROUPED = 3;

/** Maximum number of lines named for a group of issues whose lines are not consecutive. */
const MAX_LINES = 5;

/**
 * Writes the positions and descriptions of issues; several equal ones are written once.
 *
 * @param actions - Actions taken or planned for issues; written below them.
 */
export function writeIssues(
  issues: readonly SessionIssue[],
  out: Output,
  actions: ReadonlyMap<SessionIssue, string> = new Map(),
): void {
  const groups = groupBy(issues, (issue) => JSON.stringify([issue.code, issue.message, actions.get(issue)]));
  const shown = [...groups.values()].flatMap((group) =>
    group.length < MIN_GROUPED ? group.map((one) => [one]) : [group],
  );
  for (const group of shown.sort(([a], [b]) => (a?.offset ?? 0) - (b?.offset ?? 0))) {
    const [first] = group;
    if (first === undefined) continue;
    out.line(`  ${formatPlaces(group)}: ${out.colors.bold(first.code)}`);
    writeIndented(first.message, out);
    const action = actions.get(first);
    if (action !== undefined) writeIndented(`→ ${action}`, out);
  }
}

/** Formats the position of one issue, or the number of equal issues and their lines. */
function formatPlaces(issues: readonly SessionIssue[]): string {
  const [first, last] = [issues[0], issues.at(-1)];
  if (first === undefined || last === undefined) return "";
  if (issues.length === 1) return `line ${first.line}, offset ${first.offset}, ${formatBytes(first.length)}`;
  const isConsecutive = issues.every(({ line }, i) => line === first.line + i);
  const named = issues.slice(0, MAX_LINES).map(({ line }) => line);
  const more = issues.length - named.length;
  const lines = isConsecutive
    ? `lines ${first.line} to ${last.line}`
    : `lines ${named.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
  return `${formatCount(issues.length)} times, ${lines}, from offset ${first.offset}`;
}

/** Writes text, indented and wrapped. */
export function writeIndented(text: string, out: Output): void {
  for (const line of wrapText(toPlainLine(text), out.width - 4)) out.line(`    ${line}`);
}
