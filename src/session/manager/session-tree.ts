import type { SessionEntry } from "../../core/format/entry.ts";
import { type EntryTree, NONE } from "../../core/tree/entry-tree.ts";
import type { LabelMark } from "../../core/tree/labels-and-name.ts";

/** Entry with its descendants. */
export interface SessionTreeNode {
  entry: SessionEntry;
  /** Sorted by time. */
  children: SessionTreeNode[];
  /** Current label of the entry. */
  label?: string;
  /** Time at which the label was set, ISO 8601. */
  labelTimestamp?: string;
}

/**
 * Builds the tree of all entries.
 *
 * @param entries - All entries, in file order.
 * @param fileOrder - Ordinals of the entries.
 * @returns Roots in file order.
 */
export function buildTree(
  tree: EntryTree,
  entries: readonly SessionEntry[],
  labels: ReadonlyMap<string, LabelMark>,
  fileOrder: Int32Array,
): SessionTreeNode[] {
  const roots: SessionTreeNode[] = [];
  const nodes = entries.map((entry): SessionTreeNode => ({ entry, children: [] }));
  const places = new Int32Array(fileOrder.length);
  for (const [place, ordinal] of fileOrder.entries()) places[ordinal] = place;
  for (const [place, node] of nodes.entries()) {
    const parent = nodes[places[tree.parentAt(fileOrder[place] ?? NONE)] ?? NONE];
    if (parent === undefined) roots.push(node);
    // Pushing to an array reserves memory for 17 elements, and most nodes have one child.
    else if (parent.children.length === 0) parent.children = [node];
    else parent.children.push(node);
  }
  for (const node of nodes) {
    if (node.children.length > 1) sortByTime(tree, node.children);
  }
  for (const [id, mark] of labels) {
    const node = nodes[places[tree.find(id)] ?? NONE];
    if (node !== undefined) Object.assign(node, { label: mark.label, labelTimestamp: mark.timestamp });
  }
  return roots;
}

/** Sorts siblings by time. Entries without a time are first, and entries with equal times remain in file order. */
function sortByTime(tree: EntryTree, siblings: SessionTreeNode[]): void {
  const getTime = (node: SessionTreeNode) => tree.timeAt(tree.find(node.entry.id)) || 0;
  siblings.sort((a, b) => getTime(a) - getTime(b));
}

/** Yields an entry (or, for NONE, all roots) and its descendants, parents first. */
export function* walkTree(
  start: number,
  getChildren: (ordinal: number) => Int32Array,
): Generator<number, void> {
  const open = start === NONE ? [...getChildren(NONE).reverse()] : [start];
  for (let ordinal = open.pop(); ordinal !== undefined; ordinal = open.pop()) {
    yield ordinal;
    // Pushed one by one, because a call with a million arguments would overflow the stack.
    for (const child of getChildren(ordinal).reverse()) open.push(child);
  }
}
