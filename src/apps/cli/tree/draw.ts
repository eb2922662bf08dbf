import { walkEntries } from "../../../core/facts/ancestry.ts";
import { type Excerpt, getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getShortIdLength } from "../../../core/facts/short-id-length.ts";
import { chooseTimeColumn, getTimeRange, type TimeColumn } from "../../../core/facts/times.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { countKinds, type EntryKinds, type KindCount, type Tone } from "../../text/entry-kind.ts";
import type { TreeRow } from "../../text/tree-rows.ts";
import type { Output } from "../output.ts";
import { fitColumn, measureWidth, truncateLine, wrapText } from "../text/width.ts";
import { choosePaint, KIND_WIDTH, listIds, takeShortId } from "../view/entry-line.ts";

type FoldRow = Exclude<TreeRow, { kind: "entry" }>;

const BATCH = 256;

const LABEL_WIDTH = 24;
const NARROW_LABEL_WIDTH = 12;

/** Minimum width in columns for the time, and for the kind if the bullet identifies it. */
const NARROW = 60;
const LEAF_MARK = "← leaf";

/** Maximum fraction of the width to use for indenting branches. */
const MAX_INDENT = 0.3;

const BULLETS: { readonly [tone in Tone]: string } = {
  user: "●",
  assistant: "○",
  tool: "·",
  command: "○",
  summary: "◆",
  quiet: "·",
  damaged: "✗",
};

/** Tones that are recognizable from just the bullet and the excerpt. */
const HAVE_BULLETS: ReadonlySet<Tone> = new Set<Tone>(["user", "assistant", "tool", "command"]);

const NO_EXCERPT: Excerpt = { text: "", isError: false };

/** Writes rows as lines: position in the tree, short id, kind, time, label, excerpt, and a mark at the leaf. */
export class TreeWriter {
  readonly #session: SessionView;
  readonly #read: EntryKinds;
  readonly #out: Output;
  readonly #idLength: number;
  readonly #times: TimeColumn;
  readonly #maxDepth: number;

  constructor(session: SessionView, read: EntryKinds, out: Output) {
    this.#session = session;
    this.#read = read;
    this.#out = out;
    this.#idLength = getShortIdLength(listIds(session.tree));
    this.#times = chooseTimeColumn(...getTimeRange(session.tree));
    this.#maxDepth = Math.floor((out.width * MAX_INDENT) / 2);
  }

  /** @remarks Cost: O(rows), plus the bodies of rows that represent a single entry. */
  write(rows: Iterable<TreeRow>): void {
    let batch: TreeRow[] = [];
    for (const row of rows) {
      batch.push(row);
      if (batch.length < BATCH) continue;
      this.#writeBatch(batch);
      batch = [];
    }
    this.#writeBatch(batch);
  }

  #writeBatch(rows: readonly TreeRow[]): void {
    const ordinals = rows.flatMap((row) => (row.kind === "entry" ? row.ordinal : [])).sort((a, b) => a - b);
    const excerpts = new Map<number, Excerpt>();
    this.#session.readEntries(ordinals, (ordinal, entry) => excerpts.set(ordinal, getExcerpt(entry)));
    for (const row of rows) {
      this.#out.line(
        row.kind === "entry"
          ? this.#entryLine(row, row.ordinal, excerpts.get(row.ordinal) ?? NO_EXCERPT)
          : this.#foldLine(row),
      );
    }
  }

  #entryLine(row: TreeRow, ordinal: number, excerpt: Excerpt): string {
    const { colors, width } = this.#out;
    const { tree, labels, leaf } = this.#session;
    const kind = this.#read.kinds[ordinal];
    const tone = kind?.tone ?? "damaged";
    const isNarrow = width < NARROW;
    const paint = choosePaint(colors, tone);
    const id = tree.idAt(ordinal);
    const label = labels.get(id)?.label;
    const leafMark = ordinal === leaf ? `  ${LEAF_MARK}` : "";
    const labelMark =
      label === undefined
        ? ""
        : `[${truncateLine(toPlainLine(label), isNarrow ? NARROW_LABEL_WIDTH : LABEL_WIDTH)}] `;
    const gutter = this.#gutter(row);
    const idText = fitColumn(takeShortId(id, this.#idLength), this.#idLength);
    const word = isNarrow && HAVE_BULLETS.has(tone) ? "" : (kind?.word ?? "");
    const kindText = word && `${isNarrow ? word : fitColumn(word, KIND_WIDTH)} `;
    const time = fitColumn(this.#times.format(tree.timeAt(ordinal)), this.#times.width);
    const timeText = isNarrow ? "" : `${time}  `;
    const used = measureWidth(`${gutter}. ${idText} ${kindText}${timeText}${labelMark}${leafMark}`);
    const text = truncateLine(excerpt.text, Math.max(0, width - used));
    const textPaint = excerpt.isError ? colors.red : isQuiet(tone) ? colors.dim : String;
    return [
      `${paintText(colors.dim, gutter)}${paint(BULLETS[tone])} ${colors.dim(idText)} `,
      paintText(paint, kindText),
      paintText(colors.dim, timeText),
      paintText((one) => colors.bold(colors.yellow(one)), labelMark),
      paintText(textPaint, text),
      paintText((one) => colors.bold(colors.green(one)), leafMark),
    ]
      .join("")
      .trimEnd();
  }

  #foldLine(row: FoldRow): string {
    const gutter = this.#gutter(row);
    const { colors, width } = this.#out;
    const isRun = row.kind === "run";
    const counts = countKinds(this.#read, isRun ? row.ordinals : walkEntries(this.#session.tree, row.heads));
    const paint = counts.failed > 0 ? colors.red : colors.dim;
    const text = isRun ? runText(counts, row.branches) : formatBranchCount(counts, row.heads.length);
    const below = gutter.replace("├─", "│ ");
    return wrapText(text, width - measureWidth(gutter))
      .map((line, i) => paintText(colors.dim, i === 0 ? gutter : below) + paint(line))
      .join("\n");
  }

  /** Formats the bars of the lines that continue below, and the fork at the beginning of a branch. */
  #gutter({ depth, start }: TreeRow): string {
    const drawn = Math.min(depth, this.#maxDepth);
    if (drawn === 0) return "";
    // Dotted if there are more levels than are drawn.
    const last = start !== undefined ? "├─" : depth > drawn ? "┆ " : "│ ";
    return "│ ".repeat(drawn - 1) + last;
  }
}

/** Colors a string; an empty string gets no color codes. */
function paintText(paint: (text: string) => string, text: string): string {
  return text === "" ? "" : paint(text);
}

function isQuiet(tone: Tone): boolean {
  return tone === "tool" || tone === "quiet";
}

function runText(counts: KindCount, branches: number): string {
  return `… ${counts}${branches === 0 ? "" : `, and ${formatCounted(branches, "small branch", "small branches")}`}`;
}

function formatBranchCount(counts: KindCount, branches: number): string {
  return `… ${formatCounted(branches, "more branch", "more branches")}, ${counts}`;
}
