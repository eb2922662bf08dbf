import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { countKinds, getEntryKind, type KindCount, readKinds, type Tone } from "../../text/entry-kind.ts";
import { readNumberedEntries } from "../../text/numbered-entries.ts";
import { chooseAll, chooseRows, findTrunk, layOutRows } from "../../text/tree-rows.ts";
import { truncateLine } from "../text/width.ts";
import { takeShortId } from "../view/entry-line.ts";
import type { ExportSource } from "./source.ts";

/** Tree of boxes; each represents one entry or several consecutive entries. */
export interface TreeGraph {
  readonly nodes: Iterable<GraphNode>;
  /** Names of a box and the box below it. */
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/** Box of a drawing. */
export interface GraphNode {
  readonly name: string;
  readonly tone: Tone | "run";
  /** One or two safe lines. */
  readonly lines: readonly string[];
  /** Whether the box contains the leaf. */
  readonly isLeaf: boolean;
}

/** Box colors that are readable on light and dark backgrounds. */
const LOOKS: {
  readonly [tone in GraphNode["tone"]]: { readonly fill: string; readonly stroke: string };
} = {
  user: { fill: "#cfe8fc", stroke: "#1c6ea4" },
  assistant: { fill: "#d9f2d9", stroke: "#2e7d32" },
  tool: { fill: "#eeeeee", stroke: "#999999" },
  command: { fill: "#fff4cc", stroke: "#b38600" },
  summary: { fill: "#ecd9f5", stroke: "#7b1fa2" },
  quiet: { fill: "#f7f7f7", stroke: "#bbbbbb" },
  damaged: { fill: "#fbd5d5", stroke: "#c62828" },
  run: { fill: "#ffffff", stroke: "#999999" },
};

const LINE_WIDTH = 48;
const ID_LENGTH = 18;

/**
 * Creates the boxes and lines for a session's tree.
 *
 * Entries in a straight line share one box, except for both ends of branches, labels, compactions, summaries, damage, and
 * the leaf; with `isFull`, every entry has its own box.
 *
 * @remarks Cost: O(session); boxes are created on demand.
 */
export function makeTreeGraph({ session, leaf, isFull }: ExportSource): TreeGraph {
  const { tree } = session;
  const read = readKinds(session);
  const trunk = findTrunk(tree, leaf);
  const marks = { tree, leaf, kinds: read.kinds, labeled: session.labeled() };
  const isDrawn = isFull ? chooseAll(tree) : chooseRows(marks, trunk);
  const runs = new Map<number, KindCount>();
  /** For each entry, the first entry in its box. */
  const heads = Int32Array.from(tree.ordinals());
  for (const row of layOutRows({ tree, trunk, isDrawn, rootDepth: 0 })) {
    if (row.kind !== "run") continue;
    const [head = NONE] = row.ordinals;
    runs.set(head, countKinds(read, row.ordinals));
    for (const ordinal of row.ordinals) heads[ordinal] = head;
  }
  const boxes = heads.filter((head, ordinal) => head === ordinal);
  const edges = Array.from(boxes, (ordinal): [number, number] => [tree.parentAt(ordinal), ordinal])
    .filter(([parent]) => parent !== NONE)
    .map(([parent, ordinal]): [string, string] => [getName(heads[parent] ?? parent), getName(ordinal)]);
  return { nodes: makeNodes(session, leaf, boxes, runs), edges };
}

function getName(ordinal: number): string {
  return `n${ordinal}`;
}

function* makeNodes(
  session: SessionView,
  leaf: number,
  boxes: Int32Array,
  runs: ReadonlyMap<number, KindCount>,
): Generator<GraphNode, void> {
  for (const { ordinal, entry } of readNumberedEntries(session, boxes)) {
    const name = getName(ordinal);
    const run = runs.get(ordinal);
    if (run !== undefined) {
      yield { name, tone: "run", lines: [truncateLine(String(run), LINE_WIDTH)], isLeaf: false };
      continue;
    }
    const { word, tone } = getEntryKind(entry);
    const id = session.tree.idAt(ordinal);
    const label = session.labels.get(id)?.label;
    const mark = label === undefined ? "" : ` [${toPlainLine(label)}]`;
    const lines = [`${word} ${takeShortId(id, ID_LENGTH)}${mark}`, getExcerpt(entry).text];
    yield {
      name,
      tone,
      lines: lines.map((line) => truncateLine(line, LINE_WIDTH)).filter(Boolean),
      isLeaf: ordinal === leaf,
    };
  }
}

/** Characters to escape because they may have a special meaning in Mermaid; all others are written unchanged. */
const MEANINGFUL = /[^\p{L}\p{N} ,._-]/gu;

/**
 * Draws a session's tree as a Mermaid flowchart. Mermaid accepts up to 50,000 characters by default; `maxTextSize` raises the
 * limit.
 */
export function* writeMermaid(source: ExportSource): Generator<string, void> {
  const { nodes, edges } = makeTreeGraph(source);
  yield "flowchart TD\n";
  for (const { name, tone, lines, isLeaf } of nodes) {
    const [open, close] = isLeaf ? ["([", "])"] : ["[", "]"];
    yield `  ${name}${open}"${lines.map(quoteLine).join("<br/>")}"${close}:::${tone}\n`;
  }
  for (const [from, to] of edges) yield `  ${from} --> ${to}\n`;
  for (const [tone, { fill, stroke }] of Object.entries(LOOKS)) {
    const text = tone === "run" ? "color:#555,stroke-dasharray:4" : "color:#000";
    yield `  classDef ${tone} fill:${fill},stroke:${stroke},${text}\n`;
  }
}

function quoteLine(text: string): string {
  return text.replace(MEANINGFUL, (character) => `#${character.codePointAt(0) ?? 0};`);
}
