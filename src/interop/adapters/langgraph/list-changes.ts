/** A change of a list: at a position of the list as it was, so many elements go, and these come. */
export type ListChange = readonly [at: number, deleted: number, ...added: string[]];

/** Returns what makes one list of another, each of which names an element at most once; positions grow. */
export function changesBetween(before: readonly string[], after: readonly string[]): ListChange[] {
  const positions = new Map(before.map((id, at) => [id, at]));
  const changes: ListChange[] = [];
  let at = 0;
  let added: string[] = [];
  const note = (end: number) => {
    if (end > at || added.length > 0) changes.push([at, end - at, ...added]);
    added = [];
  };
  for (const id of after) {
    const found = positions.get(id);
    if (found === undefined || found < at) {
      added.push(id);
      continue;
    }
    note(found);
    at = found + 1;
  }
  note(before.length);
  return changes;
}

/** Applies changes to a list; positions behind its end are its end. */
export function applyChanges(before: readonly string[], changes: readonly ListChange[]): string[] {
  const after: string[] = [];
  let from = 0;
  for (const [at, deleted, ...added] of changes) {
    for (; from < Math.min(at, before.length); from++) after.push(before[from] ?? "");
    after.push(...added);
    from = at + deleted;
  }
  return [...after, ...before.slice(from)];
}
