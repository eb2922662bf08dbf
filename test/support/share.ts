/**
 * Share of the cases of long tests that are tried: `SESSIONTREE_TEST_SHARE`, set by vitest.config.ts. A full run tries all, `npm
 * test` a sample that differs from run to run; above 1, random tests try more cases, for a long search.
 */
const SHARE = Number(process.env["SESSIONTREE_TEST_SHARE"] ?? 1);
if (!(SHARE > 0 && Number.isFinite(SHARE))) throw new TypeError("SESSIONTREE_TEST_SHARE is a number above 0");

/** Seed of this run's samples and random cases: `SESSIONTREE_TEST_SEED`, set by vitest.config.ts, which prints it. */
export const SEED = Number(process.env["SESSIONTREE_TEST_SEED"]);
if (!Number.isSafeInteger(SEED)) throw new TypeError("SESSIONTREE_TEST_SEED is an integer");

/** Returns the number of cases to try: at least one. */
export function scaleCount(count: number): number {
  return Math.ceil(count * SHARE);
}

/**
 * Returns the minimum number of occurrences in this run of something that occurs more than `count` times in a full one: a quarter
 * of the share in a sample, because small samples vary.
 */
export function getMinimum(count: number): number {
  return SHARE >= 1 ? count : (count * SHARE) / 4;
}

const STRIDE = Math.max(1, Math.round(1 / SHARE));

/**
 * Returns whether a numbered case is in this run's sample; always true in a full run.
 *
 * @param salt - Differs between loops that should not sample the same numbers.
 */
export function isSampled(number: number, salt = 0): boolean {
  return (number + salt + SEED) % STRIDE === 0;
}

/** Returns the items of a list that are in this run's sample: at least one of a list that is not empty. */
export function takeSample<T>(cases: readonly T[]): readonly T[] {
  const sample = cases.filter((_, number) => isSampled(number));
  return sample.length > 0 ? sample : cases.slice(0, 1);
}

/** Returns the numbers of the calls in this run's sample, from 1: the first and the last are always among them. */
export function sampledCalls(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return all.filter((call) => call === 1 || call === count || isSampled(call));
}
