import { onAbort } from "../store/on-abort.ts";
import { WakeUps } from "../store/wake-ups.ts";
import { unlessAborted } from "./retries.ts";

/** How often to look although nobody gave a hint: hints may get lost. */
const LOOK_ANYWAY_MS = 30_000;

/**
 * Yields whenever something may have changed: at once, at every hint, and from time to time besides.
 *
 * Hints that come while the consumer is busy are told as one.
 *
 * @param subscribe - Asks for hints until the signal; gives false if there are none to be had, and then time alone counts.
 */
export async function* hints(
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
  let timer: NodeJS.Timeout | undefined;
  try {
    const hasHints = await unlessAborted(subscribe(note, end.signal), end.signal);
    timer = setInterval(note, hasHints ? LOOK_ANYWAY_MS : pollMs);
    yield* wakeUps.until(() => end.signal.aborted);
  } finally {
    clearInterval(timer);
    forget();
    end.abort();
  }
}
