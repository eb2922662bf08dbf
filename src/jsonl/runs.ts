/**
 * Splits a list into runs that can be held in memory together.
 *
 * @param most - Of each run, at most so many.
 * @param bytes - Bytes that a run may hold, unless one thing alone is larger; and how many one thing takes.
 * @remarks Cost: memory of one run.
 */
export function* runsOf<T>(
  list: Iterable<T>,
  most: number,
  bytes?: { readonly most: number; readonly of: (one: T) => number },
): Generator<T[], void> {
  let run: T[] = [];
  let held = 0;
  for (const one of list) {
    const more = bytes?.of(one) ?? 0;
    if (run.length > 0 && (run.length >= most || held + more > (bytes?.most ?? held))) {
      yield run;
      run = [];
      held = 0;
    }
    run.push(one);
    held += more;
  }
  if (run.length > 0) yield run;
}
