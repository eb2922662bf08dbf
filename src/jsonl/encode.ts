/**
 * Encodes a record as one line of JSON without its line break.
 *
 * The base fields of an entry come first. What JSON cannot hold is dropped as `JSON.stringify` does; cycles and
 * BigInts are refused.
 *
 * @throws {TypeError} With the path of the value in question.
 */
export function encodeRecord(record: object): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    const path = unencodablePath(record);
    if (path === undefined) throw error;
    throw new TypeError(`Cannot store ${path}; give plain JSON data.`, { cause: error });
  }
}

/** Finds the first cycle or BigInt of a value, and says what and where it is. */
function unencodablePath(root: object): string | undefined {
  // Depth first with an explicit stack of what is open, since the data may be deeper than the call stack.
  const open = new Set<unknown>();
  const stack: ({ value: unknown; path: string } | { leave: object })[] = [{ value: root, path: "$" }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if ("leave" in top) {
      open.delete(top.leave);
      continue;
    }
    const { value, path } = top;
    if (typeof value === "bigint") return `the BigInt at ${path}`;
    if (typeof value !== "object" || value === null) continue;
    if (open.has(value)) return `the circular reference at ${path}`;
    open.add(value);
    stack.push({ leave: value });
    for (const [key, child] of Object.entries(value)) {
      stack.push({ value: child, path: Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}` });
    }
  }
  return undefined;
}
