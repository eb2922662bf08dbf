import { type EntryTree, NONE } from "../../tree/entry-tree.ts";
import { isFailure, KindCount, type KindStyle, kindOf } from "../../view/entry-kind.ts";
import { excerptOf } from "../../view/excerpt.ts";
import { plainLine } from "../../view/plain.ts";
import type { SessionView } from "../session-view.ts";
import { truncate } from "../text/width.ts";
import { shortId } from "../view/short-ids.ts";
import { type ExportSource, numberedEntries } from "./source.ts";

/** A tree of boxes: each stands for an entry, or for several in a line. */
export interface TreeGraph {
  readonly nodes: Iterable<GraphNode>;
  /** Box and box below it, by name. */
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/** A box of a drawing. */
export interface GraphNode {
  /** A name of letters and digits. */
  readonly name: string;
  readonly style: KindStyle | "run";
  /** One or two harmless lines. */
  readonly lines: readonly string[];
  /** Whether the session stands here. */
  readonly isLeaf: boolean;
}

/** Columns of a line in a box. */
const LINE_WIDTH = 48;
const ID_LENGTH = 18;

/** Fewer entries in a line are not worth a box for all of them. */
const SHORTEST_RUN = 3;

/**
 * Makes the boxes and lines of a session's tree.
 *
 * Entries in a straight line share one box, except for both ends of branches, labels, compactions, summaries, damage and
 * the leaf; with `isFull` every entry has its own.
 *
 * @remarks Cost: O(session); the boxes are made as they are asked for.
 */
export function treeGraph(source: ExportSource): TreeGraph {
  const { tree } = source.session;
  const heads = source.isFull ? Int32Array.from(tree.ordinals()) : findRuns(source);
  const edges: [string, string][] = [];
  for (const ordinal of tree.ordinals()) {
    const parent = tree.parentAt(ordinal);
    if (parent === NONE || heads[ordinal] !== ordinal) continue;
    edges.push([nameOf(heads[parent] ?? parent), nameOf(ordinal)]);
  }
  return { nodes: nodesOf(source, heads), edges };
}

function nameOf(ordinal: number): string {
  return `n${ordinal}`;
}

/** Gives for each entry the first one of its box. */
function findRuns({ session, leaf }: ExportSource): Int32Array {
  const { tree, labels } = session;
  const isAlone = new Uint8Array(tree.size);
  for (const id of labels.keys()) if (tree.find(id) !== NONE) isAlone[tree.find(id)] = 1;
  if (leaf !== NONE) isAlone[leaf] = 1;
  session.readEntries(tree.ordinals(), (ordinal, entry) => {
    const { style } = kindOf(entry);
    const parent = tree.parentAt(ordinal);
    const isEnd = parent === NONE || childCount(tree, parent) > 1 || childCount(tree, ordinal) !== 1;
    if (isEnd || style === "summary" || style === "damaged") isAlone[ordinal] = 1;
  });
  return joinRuns(tree, isAlone);
}

/** Joins entries that follow one another and have no box of their own. */
function joinRuns(tree: EntryTree, isAlone: Uint8Array): Int32Array {
  const heads = Int32Array.from(tree.ordinals());
  for (const first of tree.ordinals()) {
    const parent = tree.parentAt(first);
    if (isAlone[first] === 1 || (parent !== NONE && isAlone[parent] !== 1)) continue;
    const run: number[] = [];
    for (let at: number | undefined = first; at !== undefined && isAlone[at] !== 1; ) {
      run.push(at);
      at = tree.children(at).next().value ?? undefined;
    }
    if (run.length >= SHORTEST_RUN) for (const ordinal of run) heads[ordinal] = first;
  }
  return heads;
}

function childCount(tree: EntryTree, ordinal: number): number {
  let number = 0;
  for (const _ of tree.children(ordinal)) if (++number > 1) break;
  return number;
}

function* nodesOf(source: ExportSource, heads: Int32Array): Generator<GraphNode, void> {
  const { session, leaf } = source;
  const { tree } = session;
  const runs = countRuns(session, heads);
  const drawn = Int32Array.from(tree.ordinals()).filter((ordinal) => heads[ordinal] === ordinal);
  for (const { ordinal, entry } of numberedEntries(session, drawn)) {
    const name = nameOf(ordinal);
    const run = runs.get(ordinal);
    if (run !== undefined) {
      yield { name, style: "run", lines: [truncate(String(run), LINE_WIDTH)], isLeaf: false };
      continue;
    }
    const { word, style } = kindOf(entry);
    const id = tree.idAt(ordinal);
    const label = session.labels.get(id)?.label;
    const mark = label === undefined ? "" : ` [${plainLine(label)}]`;
    const lines = [`${word} ${shortId(id, ID_LENGTH)}${mark}`, excerptOf(entry).text];
    yield {
      name,
      style,
      lines: lines.map((line) => truncate(line, LINE_WIDTH)).filter(Boolean),
      isLeaf: ordinal === leaf,
    };
  }
}

/** Counts what is in the boxes that stand for several entries. */
function countRuns(session: SessionView, heads: Int32Array): Map<number, KindCount> {
  const { tree } = session;
  const runs = new Map<number, KindCount>();
  for (const ordinal of tree.ordinals()) {
    const head = heads[ordinal] ?? ordinal;
    if (head !== ordinal) runs.set(head, new KindCount());
  }
  if (runs.size === 0) return runs;
  session.readEntries(tree.ordinals(), (ordinal, entry) => {
    runs.get(heads[ordinal] ?? ordinal)?.add(kindOf(entry), isFailure(entry));
  });
  return runs;
}
