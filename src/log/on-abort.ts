/** What is to be called when a signal aborts. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when a signal aborts; at once if it has.
 *
 * However many wait for one signal, it has one listener for all of them: Node warns of a leak if there are more than ten.
 *
 * @returns A function that takes the call back.
 */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    call();
    return () => undefined;
  }
  const calls = waiting.get(signal) ?? listenTo(signal);
  // An object of its own for each call of this function, since the same function may be given twice.
  const own = () => call();
  calls.add(own);
  return () => {
    calls.delete(own);
  };
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const calls = new Set<() => void>();
  waiting.set(signal, calls);
  const callAll = () => {
    for (const call of calls) call();
    calls.clear();
  };
  signal.addEventListener("abort", callAll, { once: true });
  return calls;
}

/**
 * Makes an iteration that ends as soon as its reader leaves, also while it waits for the next value.
 *
 * A generator alone would not: what it waits for must come before `return()` takes effect.
 *
 * @param run - Makes the values until its signal aborts; begun with the first `next()`.
 * @param signal - Ends it, too.
 */
export function endable<T>(
  run: (end: AbortSignal) => AsyncIterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const end = new AbortController();
  const values = linked(run, end, signal);
  const iteration: AsyncGenerator<T, void> = {
    next: () => values.next(),
    return: (value) => {
      end.abort();
      return values.return(value);
    },
    throw: (error) => {
      end.abort();
      return values.throw(error);
    },
    [Symbol.asyncIterator]: () => iteration,
    [Symbol.asyncDispose]: async () => {
      await iteration.return();
    },
  };
  return iteration;
}

async function* linked<T>(
  run: (end: AbortSignal) => AsyncIterable<T>,
  end: AbortController,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  const forget = onAbort(signal, () => end.abort(signal?.reason));
  try {
    yield* run(end.signal);
  } finally {
    forget();
  }
}
