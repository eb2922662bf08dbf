import { entriesFrom } from "../../../core/facts/ancestry.ts";
import { type Excerpt, excerptOf } from "../../../core/facts/excerpt.ts";
import { counted } from "../../../core/facts/number-text.ts";
import { plainLine } from "../../../core/facts/plain-text.ts";
import { shortIdLength } from "../../../core/facts/short-id-length.ts";
import { type TimeColumn, timeColumn, timeRange } from "../../../core/facts/times.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { countKinds, type EntryKinds, type KindCount, type Tone } from "../../text/entry-kind.ts";
import type { TreeRow } from "../../text/tree-rows.ts";
import type { Output } from "../output.ts";
import { column, truncate, widthOf, wrap } from "../text/width.ts";
import { idsOf, KIND_WIDTH, paintOf, shortId } from "../view/entry-line.ts";

type FoldRow = Exclude<TreeRow, { kind: "entry" }>;

const BATCH = 256;

const LABEL_WIDTH = 24;
const NARROW_LABEL_WIDTH = 12;

/** In fewer columns the time is left out, and the kind where the bullet tells it. */
const NARROW = 60;
const LEAF_MARK = "← leaf";

/** Part of the width that branches may take before they are no longer drawn further in. */
const MOST_INDENT = 0.3;

const BULLETS: { readonly [tone in Tone]: string } = {
  user: "●",
  assistant: "○",
  tool: "·",
  command: "○",
  summary: "◆",
  quiet: "·",
  damaged: "✗",
};

/** Tones that a bullet tells apart, with what an entry says. */
const HAVE_BULLETS: ReadonlySet<Tone> = new Set<Tone>(["user", "assistant", "tool", "command"]);

const NO_EXCERPT: Excerpt = { text: "", isError: false };

/** Writes rows as lines: position in the tree, short id, kind, time, label, what it says, and where the leaf is. */
export class TreeWriter {
  readonly #session: SessionView;
  readonly #read: EntryKinds;
  readonly #out: Output;
  readonly #idLength: number;
  readonly #times: TimeColumn;
  readonly #mostDepth: number;

  constructor(session: SessionView, read: EntryKinds, out: Output) {
    this.#session = session;
    this.#read = read;
    this.#out = out;
    this.#idLength = shortIdLength(idsOf(session.tree));
    this.#times = timeColumn(...timeRange(session.tree));
    this.#mostDepth = Math.floor((out.width * MOST_INDENT) / 2);
  }

  /** @remarks Cost: O(rows), and the bodies of those that stand for one entry. */
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
    this.#session.readEntries(ordinals, (ordinal, entry) => excerpts.set(ordinal, excerptOf(entry)));
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
    const paint = paintOf(colors, tone);
    const id = tree.idAt(ordinal);
    const label = labels.get(id)?.label;
    const leafMark = ordinal === leaf ? `  ${LEAF_MARK}` : "";
    const labelMark =
      label === undefined
        ? ""
        : `[${truncate(plainLine(label), isNarrow ? NARROW_LABEL_WIDTH : LABEL_WIDTH)}] `;
    const gutter = this.#gutter(row);
    const idText = column(shortId(id, this.#idLength), this.#idLength);
    const word = isNarrow && HAVE_BULLETS.has(tone) ? "" : (kind?.word ?? "");
    const kindText = word && `${isNarrow ? word : column(word, KIND_WIDTH)} `;
    const time = column(this.#times.format(tree.timeAt(ordinal)), this.#times.width);
    const timeText = isNarrow ? "" : `${time}  `;
    const used = widthOf(`${gutter}. ${idText} ${kindText}${timeText}${labelMark}${leafMark}`);
    const text = truncate(excerpt.text, Math.max(0, width - used));
    const textPaint = excerpt.isError ? colors.red : isQuiet(tone) ? colors.dim : String;
    return [
      `${painted(colors.dim, gutter)}${paint(BULLETS[tone])} ${colors.dim(idText)} `,
      painted(paint, kindText),
      painted(colors.dim, timeText),
      painted((one) => colors.bold(colors.yellow(one)), labelMark),
      painted(textPaint, text),
      painted((one) => colors.bold(colors.green(one)), leafMark),
    ]
      .join("")
      .trimEnd();
  }

  #foldLine(row: FoldRow): string {
    const gutter = this.#gutter(row);
    const { colors, width } = this.#out;
    const isRun = row.kind === "run";
    const counts = countKinds(this.#read, isRun ? row.ordinals : entriesFrom(this.#session.tree, row.heads));
    const paint = counts.failed > 0 ? colors.red : colors.dim;
    const text = isRun ? runText(counts, row.branches) : branchesText(counts, row.heads.length);
    const below = gutter.replace("├─", "│ ");
    return wrap(text, width - widthOf(gutter))
      .map((line, i) => painted(colors.dim, i === 0 ? gutter : below) + paint(line))
      .join("\n");
  }

  /** The bars of the lines that go on further down, and the fork where a branch begins. */
  #gutter({ depth, start }: TreeRow): string {
    const drawn = Math.min(depth, this.#mostDepth);
    if (drawn === 0) return "";
    // Dotted: there are more levels than are drawn.
    const last = start !== undefined ? "├─" : depth > drawn ? "┆ " : "│ ";
    return "│ ".repeat(drawn - 1) + last;
  }
}

/** Colors a text; of none, no color is left behind. */
function painted(paint: (text: string) => string, text: string): string {
  return text === "" ? "" : paint(text);
}

function isQuiet(tone: Tone): boolean {
  return tone === "tool" || tone === "quiet";
}

function runText(counts: KindCount, branches: number): string {
  return `… ${counts}${branches === 0 ? "" : `, and ${counted(branches, "small branch", "small branches")}`}`;
}

function branchesText(counts: KindCount, branches: number): string {
  return `… ${counted(branches, "more branch", "more branches")}, ${counts}`;
}
