/**
 * Which part of the cases of long tests is tried: `SESSIONTREE_TEST_SHARE`, by default all. The build and other versions of
 * Node repeat a part of what the sources were tried with in full; above 1, random tests try more, for a long search.
 */
const SHARE = Number(process.env["SESSIONTREE_TEST_SHARE"] ?? 1);
if (!(SHARE > 0 && Number.isFinite(SHARE))) throw new TypeError("SESSIONTREE_TEST_SHARE is a number above 0");

/** How many of so many cases are tried: one at least. */
export function shareOf(count: number): number {
  return Math.ceil(count * SHARE);
}

/** How far one of the cases that are tried is from the next. */
export const STRIDE = Math.max(1, Math.round(1 / SHARE));
