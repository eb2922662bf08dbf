import type { SessionView } from "../../manager/session-view.ts";
import type { KindCount } from "../../view/entry-kind.ts";
import { plainLine } from "../../view/plain.ts";
import { timeRange } from "../../view/time-range.ts";
import { span } from "../../view/times.ts";
import { count, counted } from "../../view/words.ts";
import type { Output } from "../output.ts";
import { truncate, truncateStart, widthOf, wrap } from "../text/width.ts";

/** Writes what session this is: its name, and what it amounts to. */
export function writeHeading(session: SessionView, counts: KindCount, out: Output): void {
  const { colours, width } = out;
  const { header, labels, tree, version, issues } = session;
  const branches = [...tree.leaves()].length;
  const facts = [
    span(...timeRange(tree)),
    counted(tree.size, "entry", "entries"),
    ...(branches > 1 ? [counted(branches, "branch", "branches")] : []),
    ...counts
      .list()
      .flatMap(({ kind, number }) => (kind.tone === "summary" ? counted(number, kind.word, kind.many) : [])),
    ...(counts.failed > 0 ? [`${count(counts.failed)} failed`] : []),
    ...(labels.size > 0 ? [counted(labels.size, "label")] : []),
    `version ${version}`,
  ].filter(Boolean);
  const origin = [header?.id, header?.cwd].map((text) => plainLine(text ?? "")).filter(Boolean);
  out.line(colours.bold(truncate(plainLine(session.name ?? session.fileName), width)));
  const whole = origin.join("  ");
  const lines = widthOf(whole) <= width ? [whole] : origin.map((text) => truncateStart(text, width));
  for (const line of [...lines, ...wrap(facts.join(", "), width)]) out.line(colours.dim(line));
  if (issues.length > 0) {
    out.prose(`${counted(issues.length, "issue")} in the file; "sessiontree verify" tells more`, colours.red);
  }
  out.line();
}
