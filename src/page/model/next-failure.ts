/** Finds the failure after or before an entry in the order of the file, around the ends; undefined if nothing failed. */
export function nextFailure(
  { failures }: { readonly failures: readonly number[] },
  from: number,
  direction: 1 | -1,
): number | undefined {
  if (direction === 1) return failures.find((ordinal) => ordinal > from) ?? failures[0];
  return failures.findLast((ordinal) => ordinal < from) ?? failures.at(-1);
}
