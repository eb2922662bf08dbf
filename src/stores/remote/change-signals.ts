import { onAbort } from "../../core/format/abort.ts";
import { WakeUps } from "../../session/fs/notifications.ts";

/** How often to check without a signal, since signals may get lost. */
const LOOK_ANYWAY_MS = 30_000;

/**
 * Yields whenever something may have changed: at once, at every signal, and from time to time.
 *
 * Signals while the consumer is busy are yielded as one. Until the subscription is answered, only the timer counts, so that
 * a slow subscription holds nobody up.
 *
 * @param subscribe - Asks for change signals until the abort signal; returns false if there are none.
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
      // For changes before the first signal.
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
