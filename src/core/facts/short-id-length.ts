/** Minimum number of characters in an id to display, which is the length of a sessiontree entry id. */
const SHORTEST = 8;

/** Maximum number of characters in entry ids to display, even if some remain ambiguous. */
const LONGEST = 18;

/** Maximum length of a session id, so that displayed ids are always unambiguous. */
export const WHOLE_ID = 200;

/**
 * Returns the number of characters that make ids unambiguous.
 *
 * @param longest - Maximum number of characters, even if some ids remain ambiguous.
 * @returns 8 for sessiontree ids; more if longer ids share a common beginning.
 * @remarks Cost: O(1) for ids of 8 characters, otherwise O(n log n).
 */
export function getShortIdLength(ids: Iterable<string>, longest: number = LONGEST): number {
  const long: string[] = [];
  for (const id of ids) if (id.length > SHORTEST) long.push(id);
  let length = SHORTEST;
  long.sort();
  for (let i = 1; i < long.length && length < longest; i++) {
    const [one, other] = [long[i - 1] ?? "", long[i] ?? ""];
    // Two copies of one session have the same id.
    if (one !== other) length = Math.max(length, countCommon(one, other) + 1);
  }
  return Math.min(length, longest);
}

function countCommon(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
