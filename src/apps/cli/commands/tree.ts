import { countSubtrees } from "../../../core/facts/ancestry.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { joinTabs, toPlainLine } from "../../../core/facts/plain-text.ts";
import {
  formatDateAndTime,
  formatIsoTime,
  formatSpan,
  getMessageTimeRange,
} from "../../../core/facts/times.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import { type EntryTree, NONE } from "../../../core/tree/entry-tree.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import {
  countKinds,
  type EntryKind,
  getEntryKind,
  isConversation,
  isFailure,
  type KindCount,
  readKinds,
} from "../../text/entry-kind.ts";
import { quoteForShell } from "../../text/shell-quoting.ts";
import {
  chooseAll,
  chooseConversation,
  chooseRows,
  DRAWN_WHOLE,
  type DrawnTree,
  findHiddenRecords,
  findSides,
  findTrunk,
  layOutRows,
  type RowPosition,
  type TreeMarks,
  type TreeRow,
  type Trunk,
} from "../../text/tree-rows.ts";
import { type Command, type CommandCall, PRETTY } from "../command.ts";
import type { Output } from "../output.ts";
import { flag, numberOption } from "../parameters.ts";
import { makeFailuresCommand, SESSION_OR_LATEST as SESSION } from "../session-argument.ts";
import { measureWidth, truncateLine, truncateStart, wrapText } from "../text/width.ts";
import { TreeWriter } from "../tree/draw.ts";
import { UsageError } from "../usage-error.ts";
import { formatExcerptLine, formatKindColumn, takeShortId } from "../view/entry-line.ts";

const ALL = flag("--all", "draw every entry, fold nothing");
const RECORDS = flag("--records", "also records of state, usage, and imports, which only programs read");
const TAIL = numberOption(
  "--tail <number>",
  "only the last entries on the path to the leaf, at most this many",
);
const FOLLOW = flag("--follow", "show entries as they are appended, until interrupted");

/** Width of an id in the line of an appended entry, in columns. */
const ID_WIDTH = 8;

/** Position of a row on the path to the leaf. */
const ON_PATH: RowPosition = { depth: 0, start: undefined, passing: [] };

/** `sessiontree tree`: draws a session's tree. */
export const command: Command = {
  details: `The straight line at the left is the path to the leaf; other branches are to its right. Long runs of entries are folded; branch points, labels, compactions, summaries, and some user messages are always drawn. Records of state, usage, and imports are hidden except at branch points, unless --records or --all is given.

In a pipe: one line per entry, records included, in the order of the file, with tabs between id, parent, kind, time, label, "leaf" at the leaf, and text.

With --follow: one line per entry that another process appends from now on; with --json, the entries themselves.`,
  parameters: [SESSION, ALL, RECORDS, TAIL, FOLLOW, PRETTY],
  examples: [
    ["tree @last", "the latest session of this project"],
    ["tree @last --tail 20", "how it ended: the last 20 entries before the leaf"],
    ["tree @last --follow", "what an agent is doing"],
    ["tree session.jsonl --all --pretty | less", "the drawing of every entry of a file"],
    ["tree session.jsonl | grep compaction", "one line per entry, in a pipe"],
    ["tree session.jsonl --json", "one JSON object per entry, in the order of the file"],
  ],
  run: async (call) => {
    const tail = call.get(TAIL);
    const given = [call.get(ALL) && "--all", tail !== undefined && "--tail", call.get(FOLLOW) && "--follow"];
    const [one, other] = given.filter((form) => form !== false);
    if (other !== undefined) throw new UsageError(`Give ${one} or ${other}, not both.`);
    if (call.get(FOLLOW)) return followSession(call);
    const session = await (await call.findSession(call.get(SESSION))).read();
    const isWhole = call.json || !call.out.isLaidOut || call.get(RECORDS);
    const ordinals = tail === undefined ? session.tree.ordinals() : listTail(session, tail, isWhole);
    if (call.json) return writeEntries(call, session, ordinals);
    if (!call.out.isLaidOut) return writeLines(call, session, ordinals);
    return tail === undefined ? drawTree(call, session) : drawTail(call, session, ordinals);
  },
};

function drawTree({ out, get, note }: CommandCall, session: SessionView): void {
  const read = readKinds(session);
  writeHeading(session, countKinds(read), out);
  const { tree, leaf } = session;
  const trunk = findTrunk(tree, leaf);
  const marks = { tree, leaf, kinds: read.kinds, labeled: session.labeled() };
  const isPassed = get(ALL) || get(RECORDS) ? undefined : findHiddenRecords(marks, trunk);
  const hidden = isPassed?.reduce((sum, one) => sum + one, 0) ?? 0;
  const landmarks = get(ALL) ? { isDrawn: chooseAll(tree) } : chooseLandmarks(marks, trunk, hidden);
  const roots = [...tree.children(NONE)].length;
  if (roots > 1) out.line(out.colors.dim(`○ ${formatCount(roots)} beginnings`));
  let isFolded = false;
  const noted = function* () {
    for (const row of layOutRows({
      tree,
      trunk,
      ...landmarks,
      ...(isPassed && { isPassed }),
      rootDepth: 1,
    })) {
      isFolded ||= row.kind !== "entry";
      yield row;
    }
  };
  new TreeWriter(session, read, out).write(noted());
  if (isFolded || hidden > 0) out.line();
  if (isFolded) {
    out.prose("Folded for readability; --all draws every entry.", out.colors.dim);
  }
  if (hidden > 0)
    out.prose(
      `${formatCounted(hidden, "record")} of state, usage, or imports hidden; --records shows them.`,
      out.colors.dim,
    );
  if (isFolded && read.failures.size > 0)
    out.prose(`To list the failures: ${makeFailuresCommand(get(SESSION))}`, out.colors.dim);
  const parting = findPartingEntry(tree, leaf);
  const [side] = parting === NONE ? [] : findSides(tree, trunk, parting);
  let end = side === undefined ? NONE : (trunk.newestTip[side] ?? NONE);
  // Skips hidden records at the end, so that the end is drawn.
  while (end !== side && isPassed?.[end] === 1) end = tree.parentAt(end);
  if (end !== NONE)
    note(
      `To compare the active branch with another: sessiontree diff ${quoteForShell(toPlainLine(get(SESSION)))} ${toPlainLine(tree.idAt(end))}`,
    );
}

/** Returns the last entry on the path to the leaf where another branch begins; NONE if there is no such entry. */
function findPartingEntry(tree: EntryTree, leaf: number): number {
  let at = leaf === NONE ? NONE : tree.parentAt(leaf);
  while (at !== NONE && [...tree.children(at)].length < 2) at = tree.parentAt(at);
  return at;
}

/**
 * Returns up to `max` entries from the end of the path to the leaf. Unless `isWhole`, includes only the leaf and the
 * conversation.
 */
function listTail(session: SessionView, max: number, isWhole: boolean): number[] {
  if (isWhole) return session.pathTo(session.leaf, max);
  const found: number[] = [];
  for (let at = session.leaf; at !== NONE && found.length < max; at = session.tree.parentAt(at))
    if (at === session.leaf || isConversation(getEntryKind(session.entryAt(at)))) found.push(at);
  return found.reverse();
}

/** Displays entries as other processes append them. */
async function followSession({ findKeptSession, get, io, json, out, warn }: CommandCall): Promise<void> {
  const named = await findKeptSession(get(SESSION));
  const session = await named.open("read-only");
  const signal = io.untilInterrupted?.();
  // Also informs a program that started this command: no entry appended after this line is missed.
  warn(`Following ${toPlainLine(named.location.text)}; press Ctrl-C to stop.`);
  for await (const entry of session.watch(signal && { signal })) {
    if (json) out.json(entry);
    else if (!get(RECORDS) && !isConversation(getEntryKind(entry))) continue;
    else writeAppended(entry, out);
    out.flush();
  }
}

function writeAppended(entry: SessionEntry, out: Output): void {
  const { colors } = out;
  const facts = [
    colors.dim(formatDateAndTime(Date.parse(entry.timestamp)).slice("YYYY-MM-DD ".length)),
    colors.dim(out.isLaidOut ? takeShortId(entry.id, ID_WIDTH) : toPlainLine(entry.id)),
    formatKindColumn(colors, getEntryKind(entry)),
  ];
  out.line(formatExcerptLine(facts, getExcerpt(entry, !out.isLaidOut), out));
}

/** Writes a heading with the session's title and key facts. */
function writeHeading(session: SessionView, counts: KindCount, out: Output): void {
  const { colors, width } = out;
  const { header, labels, tree, version, issues } = session;
  const branches = [...tree.leaves()].length;
  const facts = [
    formatSpan(...getMessageTimeRange(tree)),
    formatCounted(tree.size, "entry", "entries"),
    ...(branches > 1 ? [formatCounted(branches, "branch", "branches")] : []),
    ...counts
      .list()
      .flatMap(({ kind, number }) =>
        kind.tone === "summary" ? formatCounted(number, kind.word, kind.many) : [],
      ),
    ...(counts.failed > 0 ? [`${formatCount(counts.failed)} failed`] : []),
    ...(labels.size > 0 ? [formatCounted(labels.size, "label")] : []),
    `version ${version}`,
  ].filter(Boolean);
  const origin = [header?.id, header?.cwd].map((text) => toPlainLine(text ?? "")).filter(Boolean);
  out.line(colors.bold(truncateLine(session.title, width)));
  const whole = origin.join("  ");
  const lines = measureWidth(whole) <= width ? [whole] : origin.map((text) => truncateStart(text, width));
  for (const line of [...lines, ...wrapText(facts.join(", "), width)]) out.line(colors.dim(line));
  if (issues.length > 0) {
    out.prose(
      `${formatCounted(issues.length, "issue")} in the file; "sessiontree verify" shows more`,
      colors.red,
    );
  }
  out.line();
}

/** Draws the entries on the path to the leaf one by one, without other branches. */
function drawTail({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const kinds: EntryKind[] = [];
  const rows: TreeRow[] = [];
  session.readEntries(ordinals, (ordinal, entry) => {
    kinds[ordinal] = getEntryKind(entry);
    rows.push({ kind: "entry", ordinal, ...ON_PATH });
  });
  new TreeWriter(session, { kinds, failures: new Set() }, out).write(rows);
}

/** Writes one line per entry, for programs that read lines. */
function writeLines({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const { tree, labels, leaf } = session;
  session.readEntries(ordinals, (ordinal, entry) => {
    const { id, parentId, timestampMs } = tree.headAt(ordinal);
    const label = labels.get(id)?.label ?? "";
    const mark = ordinal === leaf ? "leaf" : "";
    const fields = [id, parentId ?? "", getEntryKind(entry).word, formatIsoTime(timestampMs), label, mark];
    out.line(`${joinTabs(fields)}\t${getExcerpt(entry, true).text}`);
  });
}

/** Writes one object per entry; the parent determines its position. */
function writeEntries({ out }: CommandCall, session: SessionView, ordinals: Iterable<number>): void {
  const { tree, labels, leaf } = session;
  session.readEntries(ordinals, (ordinal, entry) => {
    const { id, parentId, timestampMs, type } = tree.headAt(ordinal);
    const label = labels.get(id)?.label;
    out.json({
      id,
      parentId,
      type,
      kind: getEntryKind(entry).word,
      timestamp: formatIsoTime(timestampMs) || null,
      ...(label !== undefined && { label }),
      isLeaf: ordinal === leaf,
      ...(isFailure(entry) && { failed: true }),
      excerpt: getExcerpt(entry).text,
    });
  });
}

/**
 * Approximate number of user messages drawn in addition to the required entries; if there are more, draws every other message,
 * every third, and so on.
 */
const USER_MESSAGES = 40;

/** Number of the latest user messages before the leaf that are always drawn, because users return to them. */
const LAST_USER_MESSAGES = 5;

/** Maximum number of branches drawn at one entry; if there are more, only the first and the last are drawn. */
const MAX_BRANCHES_AT_ENTRY = 10;
const FIRST = 2;
const LAST = 6;

/** Maximum total number of side branches; if there are more, the largest are drawn. */
const MAX_BRANCHES = 100;

/** Entries and branches to draw. */
export type Landmarks = Pick<DrawnTree, "isDrawn" | "isHidden">;

/**
 * Chooses the entries that get their own rows: the required entries and a selection of user messages. Hides branches if there are
 * too many, so that long sessions stay readable.
 *
 * @param hidden - Number of hidden records, which have no row.
 * @remarks Cost: O(entries), plus O(n log n) for the branches.
 */
export function chooseLandmarks(marks: TreeMarks, trunk: Trunk, hidden = 0): Landmarks {
  const { tree, kinds, leaf } = marks;
  if (tree.size - hidden <= DRAWN_WHOLE) return { isDrawn: chooseConversation(marks, trunk) };
  const holdsLabel = new Uint8Array(tree.size);
  for (const ordinal of marks.labeled) holdsLabel[ordinal] = 1;
  carryUp(tree, trunk, holdsLabel);
  const isHidden = hideBranches(tree, trunk, holdsLabel);
  const isDrawn = chooseRows(marks, trunk, isHidden);
  for (const ordinal of chooseUserMessages(tree, kinds, leaf)) isDrawn[ordinal] = 1;
  return { isDrawn, isHidden };
}

/** Propagates marks to all ancestors of marked entries. */
function carryUp(tree: EntryTree, { order }: Trunk, marks: Uint8Array): void {
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    const parent = tree.parentAt(ordinal);
    if (parent !== NONE && marks[ordinal] === 1) marks[parent] = 1;
  }
}

function chooseUserMessages(tree: EntryTree, kinds: readonly EntryKind[], leaf: number): number[] {
  const all: number[] = [];
  kinds.forEach((kind, ordinal) => {
    if (kind.tone === "user") all.push(ordinal);
  });
  const step = Math.ceil(all.length / USER_MESSAGES);
  const chosen = all.filter((_, i) => i % step === 0);
  let left = LAST_USER_MESSAGES;
  for (let at = leaf; at !== NONE && left > 0; at = tree.parentAt(at)) {
    if (kinds[at]?.tone !== "user") continue;
    chosen.push(at);
    left--;
  }
  return chosen;
}

/**
 * Chooses the side branches to hide if there are too many to read.
 *
 * @param holdsMark - 1 for entries with a marked descendant; their branches are drawn.
 * @returns 1 for the first entry of each branch that is not drawn.
 * @remarks Cost: O(entries), plus O(n log n) for the branches.
 */
function hideBranches(tree: EntryTree, trunk: Trunk, holdsMark: Uint8Array): Uint8Array {
  const isHidden = new Uint8Array(tree.size);
  const candidates: number[] = [];
  for (let ordinal = NONE; ordinal < tree.size; ordinal++) {
    const sides = findSides(tree, trunk, ordinal);
    const isCrowded = sides.length > MAX_BRANCHES_AT_ENTRY;
    sides.forEach((head, i) => {
      if (holdsMark[head] === 1) return;
      if (isCrowded && i >= FIRST && i < sides.length - LAST) isHidden[head] = 1;
      else candidates.push(head);
    });
  }
  if (candidates.length <= MAX_BRANCHES) return isHidden;
  const sizes = countSubtrees(tree, trunk.order);
  // A branch within another one is smaller, so no branch is drawn without the branch around it.
  candidates.sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || b - a);
  for (const head of candidates.slice(MAX_BRANCHES)) isHidden[head] = 1;
  return isHidden;
}
