import { excerptOf } from "../../../core/facts/excerpt.ts";
import { count, counted } from "../../../core/facts/number-text.ts";
import { plainLine, tabSeparated } from "../../../core/facts/plain-text.ts";
import { timeRange } from "../../../core/facts/time-range.ts";
import { isoTime, span } from "../../../core/facts/times.ts";
import { findTrunk } from "../../../core/facts/trunk.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import {
  countKinds,
  type EntryKind,
  isFailure,
  type KindCount,
  kindOf,
  readKinds,
} from "../../text/entry-kind.ts";
import { chooseAll } from "../../text/row-choice.ts";
import { type RowPosition, type TreeRow, treeRows } from "../../text/tree-rows.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import type { Output } from "../output.ts";
import { flag, numberOption } from "../parameters.ts";
import { failuresCommand, SESSION_OR_LATEST as SESSION } from "../session-argument.ts";
import { truncate, truncateStart, widthOf, wrap } from "../text/width.ts";
import { TreeWriter } from "../tree/draw.ts";
import { chooseLandmarks } from "../tree/landmarks.ts";
import { UsageError } from "../usage-error.ts";

const ALL = flag("--all", "draw every entry, fold nothing");
const TAIL = numberOption("--tail <number>", "only this many entries, the last ones on the path to the leaf");

/** Where the entries of the path to the leaf are drawn. */
const ON_PATH: RowPosition = { depth: 0, start: undefined, passing: [] };

/** `sessiontree tree`: draws a session's tree. */
export const command: Command = {
  details: `The straight line at the left is the path to the leaf; other branches hang to its side. Folds long runs of entries, in short sessions only those of state entries; branch points, labels, compactions, summaries and some user messages stay.

In a pipe: one line per entry, in the order of the file, with tabs between id, parent, kind, time, label, "leaf" at the leaf, and text.`,
  parameters: [SESSION, ALL, TAIL, PRETTY],
  examples: [
    ["tree @last", "the latest session of this project"],
    ["tree @last --tail 20", "how it ended: the last 20 entries before the leaf"],
    ["tree session.jsonl --all --pretty | less", "the drawing of every entry of a file"],
    ["tree session.jsonl | grep compaction", "one line per entry, in a pipe"],
    ["tree session.jsonl --json", "one JSON object per entry, in the order of the file"],
  ],
  run: async (call) => {
    const session = await (await call.findSession(call.get(SESSION))).read();
    const tail = call.get(TAIL);
    if (tail !== undefined && call.get(ALL)) throw new UsageError("Give --all or --tail, not both.");
    const ordinals = tail === undefined ? session.tree.ordinals() : session.pathTo(session.leaf, tail);
    if (call.json) return writeEntries(call, session, ordinals);
    if (!call.out.isLaidOut) return writeLines(call, session, ordinals);
    return tail === undefined ? drawTree(call, session) : drawTail(call, session, ordinals);
  },
};

function drawTree({ out, get }: CommandCall, session: SessionView): void {
  const read = readKinds(session);
  writeHeading(session, countKinds(read), out);
  const { tree, leaf } = session;
  const trunk = findTrunk(tree, leaf);
  const marks = { tree, leaf, kinds: read.kinds, labelled: session.labelled() };
  const landmarks = get(ALL) ? { isDrawn: chooseAll(tree) } : chooseLandmarks(marks, trunk);
  const roots = [...tree.children(NONE)].length;
  if (roots > 1) out.line(out.colours.dim(`○ ${count(roots)} beginnings`));
  let isFolded = false;
  const noted = function* () {
    for (const row of treeRows({ tree, trunk, ...landmarks, rootDepth: 1 })) {
      isFolded ||= row.kind !== "entry";
      yield row;
    }
  };
  new TreeWriter(session, read, out).write(noted());
  if (isFolded) {
    out.line();
    out.prose("Folded to be readable; --all draws every entry.", out.colours.dim);
  }
  if (isFolded && read.failures.size > 0)
    out.prose(`To list the failures: ${failuresCommand(get(SESSION))}`, out.colours.dim);
}

/** Writes what session this is: its name, and what it amounts to. */
function writeHeading(session: SessionView, counts: KindCount, out: Output): void {
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

/** Draws entries of the path to the leaf one by one, without what hangs to the side. */
function drawTail({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const kinds: EntryKind[] = [];
  const rows: TreeRow[] = [];
  session.readEntries(ordinals, (ordinal, entry) => {
    kinds[ordinal] = kindOf(entry);
    rows.push({ kind: "entry", ordinal, ...ON_PATH });
  });
  new TreeWriter(session, { kinds, failures: new Set() }, out).write(rows);
}

/** One line for each entry, for programs that read lines. */
function writeLines({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const { tree, labels, leaf } = session;
  session.readEntries(ordinals, (ordinal, entry) => {
    const { id, parentId, timestampMs } = tree.headAt(ordinal);
    const label = labels.get(id)?.label ?? "";
    const mark = ordinal === leaf ? "leaf" : "";
    const fields = [id, parentId ?? "", kindOf(entry).word, isoTime(timestampMs), label, mark];
    out.line(`${tabSeparated(fields)}\t${excerptOf(entry, true).text}`);
  });
}

/** One object for each entry; the parent tells where it hangs. */
function writeEntries({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const { tree, labels, leaf } = session;
  session.readEntries(ordinals, (ordinal, entry) => {
    const { id, parentId, timestampMs, type } = tree.headAt(ordinal);
    const label = labels.get(id)?.label;
    out.json({
      id,
      parentId,
      type,
      kind: kindOf(entry).word,
      timestamp: isoTime(timestampMs) || null,
      ...(label !== undefined && { label }),
      isLeaf: ordinal === leaf,
      ...(isFailure(entry) && { failed: true }),
      excerpt: excerptOf(entry).text,
    });
  });
}
