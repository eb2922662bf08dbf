import { onAbort } from "../../core/format/abort.ts";

/**
 * Returns an iterator that ends as soon as its consumer calls `return()`, even while it is waiting for the next value.
 *
 * In a plain generator, `return()` takes effect only after the generator stops waiting.
 *
 * @param run - Yields the values until its signal aborts. The first `next()` starts it.
 * @param signal - Also ends the iteration.
 */
export function makeEndable<T>(
  run: (end: AbortSignal) => AsyncIterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  const end = new AbortController();
  const values = runLinked(run, end, signal);
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

async function* runLinked<T>(
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
