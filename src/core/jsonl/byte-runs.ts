/**
 * Splits a sequence into runs that fit in memory.
 *
 * @param max - Maximum number of elements in a run.
 * @param bytes - `max`: maximum size of a run, in bytes, unless a single element is larger; `of`: returns the size of an element.
 * @remarks Cost: the memory of one run.
 */
export function* splitRuns<T>(
  list: Iterable<T>,
  max: number,
  bytes?: { readonly max: number; readonly of: (one: T) => number },
): Generator<T[], void> {
  let run: T[] = [];
  let held = 0;
  for (const one of list) {
    const more = bytes?.of(one) ?? 0;
    if (run.length > 0 && (run.length >= max || held + more > (bytes?.max ?? held))) {
      yield run;
      run = [];
      held = 0;
    }
    run.push(one);
    held += more;
  }
  if (run.length > 0) yield run;
}
