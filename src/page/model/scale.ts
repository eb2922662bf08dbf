/** Steps that people count in. */
const STEPS = [1, 2, 2.5, 5, 10];

/** About so many lines are drawn across a chart. */
const LINES = 4;

/**
 * Chooses the values at which lines are drawn across a chart.
 *
 * @param most - Greatest value of the chart.
 * @returns Round values from 0 on; the last is not less than `most`.
 */
export function roundValues(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / LINES;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((one) => one * power >= rough) ?? 10);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step);
}
