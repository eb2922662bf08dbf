import { WakeUps } from "../log/wake-ups.ts";
import { onAbort } from "../schema/abort.ts";

/** How often to look although nobody gave a signal: signals may get lost. */
const LOOK_ANYWAY_MS = 30_000;

/**
 * Yields whenever something may have changed: at once, at every signal, and from time to time besides.
 *
 * Hints that come while the consumer is busy are told as one. Until the subscription is answered time alone counts, so
 * that one that takes long keeps nobody waiting.
 *
 * @param subscribe - Asks for change signals until the abort signal; gives false if there are none to be had.
 * @throws What `subscribe` rejects with.
 */
export async function* changeSignals(
  subscribe: (onMore: () => void, end: AbortSignal) => Promise<boolean>,
  { pollMs }: { readonly pollMs: number },
  signal?: AbortSignal,
): AsyncGenerator<void, void> {
  if (signal?.aborted) return;
  const end = new AbortController();
  const wakeUps = new WakeUps();
  const { note } = wakeUps;
  const abort = () => {
    end.abort();
    note();
  };
  const forget = onAbort(signal, abort);
  let timer = setInterval(note, pollMs);
  let refusal: { readonly error: unknown } | undefined;
  subscribe(note, end.signal).then(
    (hasHints) => {
      if (!hasHints || end.signal.aborted) return;
      clearInterval(timer);
      timer = setInterval(note, LOOK_ANYWAY_MS);
      // What came before the first signal could.
      note();
    },
    (error: unknown) => {
      refusal = { error };
      note();
    },
  );
  try {
    for await (const _ of wakeUps.until(() => end.signal.aborted)) {
      if (refusal !== undefined) throw refusal.error;
      yield;
    }
  } finally {
    clearInterval(timer);
    forget();
    end.abort();
  }
}
