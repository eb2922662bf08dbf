import fc from "../../../support/fast-check.ts";

/** Changes to a file: records are omitted, duplicated, and moved. */
export interface Damage {
  readonly cut: readonly number[];
  readonly doubled: readonly number[];
  readonly moves: readonly (readonly [from: number, to: number])[];
}

export const place = fc.nat({ max: 40 });
export const damage: fc.Arbitrary<Damage> = fc.record({
  cut: fc.array(place, { maxLength: 6 }),
  doubled: fc.array(place, { maxLength: 6 }),
  moves: fc.array(fc.tuple(place, place), { maxLength: 12 }),
});

export function damaged<T>(records: readonly T[], { cut, doubled, moves }: Damage, isMoved = true): T[] {
  const kept = records.filter((_, i) => !cut.includes(i));
  const twice = kept.flatMap((one, i) => (doubled.includes(i) ? [one, one] : [one]));
  if (!isMoved) return twice;
  for (const [from, to] of moves) {
    const [one] = twice.splice(from % Math.max(1, twice.length), 1);
    if (one !== undefined) twice.splice(to % (twice.length + 1), 0, one);
  }
  return twice;
}
