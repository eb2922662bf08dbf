/** Characters of an id that are shown at least: the whole id of an entry of ours. */
const SHORTEST = 8;

/** Longer beginnings of entries' ids are not shown, even if they do not tell all of them apart. */
const LONGEST = 18;

/** As long as an id of a session can be: what is shown of it always tells it from the others. */
export const WHOLE_ID = 200;

/**
 * Returns how many characters of ids tell them apart.
 *
 * @param longest - The most that are shown, even if they do not.
 * @returns 8 for ids of ours, more where there are long ids that begin alike.
 * @remarks Cost: O(1) for ids of 8 characters, else O(n log n).
 */
export function getShortIdLength(ids: Iterable<string>, longest: number = LONGEST): number {
  const long: string[] = [];
  for (const id of ids) if (id.length > SHORTEST) long.push(id);
  let length = SHORTEST;
  long.sort();
  for (let i = 1; i < long.length && length < longest; i++) {
    const [one, other] = [long[i - 1] ?? "", long[i] ?? ""];
    // Two copies of one session cannot be told apart by their ids.
    if (one !== other) length = Math.max(length, countCommon(one, other) + 1);
  }
  return Math.min(length, longest);
}

function countCommon(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
