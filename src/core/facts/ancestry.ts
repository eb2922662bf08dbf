import { type EntryTree, NONE } from "../tree/entry-tree.ts";

/** Returns all entries, parents first. In the file, a late parent may follow its children. */
export function sortParentsFirst(tree: EntryTree): Int32Array {
  const order = new Int32Array(tree.size);
  let filled = 0;
  for (const root of tree.children(NONE)) order[filled++] = root;
  for (let i = 0; i < filled; i++) {
    for (const child of tree.children(order[i] ?? NONE)) order[filled++] = child;
  }
  return order;
}

/** Returns, for each entry, the size of its subtree, including the entry itself. `order` contains all entries, parents first. */
export function countSubtrees(tree: EntryTree, order: Int32Array): Int32Array {
  const sizes = new Int32Array(tree.size).fill(1);
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    const parent = tree.parentAt(ordinal);
    if (parent !== NONE) sizes[parent] = (sizes[parent] ?? 0) + (sizes[ordinal] ?? 0);
  }
  return sizes;
}

/** Returns, for each entry, the leaf in its subtree that was appended last. `order` contains all entries, parents first. */
export function findNewestTips(tree: EntryTree, order: Int32Array): Int32Array {
  const tips = new Int32Array(tree.size).fill(NONE);
  for (let i = order.length - 1; i >= 0; i--) {
    const ordinal = order[i] ?? NONE;
    const parent = tree.parentAt(ordinal);
    // All children have already been processed.
    if (tree.isLeaf(ordinal)) tips[ordinal] = ordinal;
    if (parent !== NONE) tips[parent] = Math.max(tips[parent] ?? NONE, tips[ordinal] ?? NONE);
  }
  return tips;
}

/** Yields the given entries and all their descendants. */
export function* walkEntries(tree: EntryTree, heads: readonly number[]): Generator<number, void> {
  const open = [...heads];
  for (let ordinal = open.pop(); ordinal !== undefined; ordinal = open.pop()) {
    yield ordinal;
    for (const child of tree.children(ordinal)) open.push(child);
  }
}

/**
 * Creates a function that returns whether one entry is the same as another or its ancestor. Costs O(1) per call, regardless of
 * the path length.
 */
export function makeAncestorTest(tree: EntryTree): (ancestor: number, ordinal: number) => boolean {
  const order = sortParentsFirst(tree);
  const sizes = countSubtrees(tree, order);
  // An entry and its descendants have consecutive numbers.
  const numbers = new Int32Array(tree.size);
  const nextNumber = new Int32Array(tree.size);
  let nextRootNumber = 0;
  for (const ordinal of order) {
    const parent = tree.parentAt(ordinal);
    const number = parent === NONE ? nextRootNumber : (nextNumber[parent] ?? 0);
    const behind = number + (sizes[ordinal] ?? 0);
    numbers[ordinal] = number;
    nextNumber[ordinal] = number + 1;
    if (parent === NONE) nextRootNumber = behind;
    else nextNumber[parent] = behind;
  }
  return (ancestor, ordinal) => {
    const distance = (numbers[ordinal] ?? 0) - (numbers[ancestor] ?? 0);
    return distance >= 0 && distance < (sizes[ancestor] ?? 0);
  };
}
