/** Typed arrays that can be columns. */
export type Column = Float64Array | Int32Array | Uint32Array;

/**
 * Grows a column to hold `needed` values. The size doubles, so that n pushes cost O(n).
 *
 * @returns The column itself if it is large enough; otherwise, a larger copy padded with zeros.
 */
export function withRoom<T extends Column>(column: T, needed: number): T;
export function withRoom(column: Column, needed: number): Column {
  if (needed <= column.length) return column;
  const capacity = Math.max(needed, 64, column.length * 2);
  if (column instanceof Float64Array) return copyInto(new Float64Array(capacity), column);
  if (column instanceof Int32Array) return copyInto(new Int32Array(capacity), column);
  return copyInto(new Uint32Array(capacity), column);
}

function copyInto<T extends Column>(target: T, source: Column): T {
  target.set(source);
  return target;
}
