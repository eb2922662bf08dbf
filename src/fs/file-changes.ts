import { type FSWatcher, type WatchListener, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { onAbort } from "../schema/abort.ts";
import { WakeUps } from "./wake-ups.ts";

/** How often to check where the system does not report changes. */
const LOOK_EVERY_MS = 1_000;

/**
 * Yields whenever a file may have changed: at once, whenever the system reports it, and also once a second.
 *
 * Watches the folder rather than the file, so that a file that is created later or replaced is seen as well. Changes
 * while the consumer is busy are yielded as one.
 */
export async function* fileChanges(path: string, signal?: AbortSignal): AsyncGenerator<void, void> {
  const wakeUps = new WakeUps();
  const { note } = wakeUps;
  const name = basename(path);
  const watcher = tryWatch(dirname(path), (_event, changed) => {
    if (changed === null || changed === name) note();
  });
  watcher?.on("error", note);
  const timer = setInterval(note, LOOK_EVERY_MS);
  // At once, since a consumer that has aborted may never ask again.
  const end = () => {
    clearInterval(timer);
    watcher?.close();
    note();
  };
  const forget = onAbort(signal, end);
  try {
    yield* wakeUps.until(() => signal?.aborted === true);
  } finally {
    forget();
    end();
  }
}

/** Watches a folder. If it is missing, or the system has no watcher left, the timer does the work. */
function tryWatch(folder: string, listener: WatchListener<string>): FSWatcher | undefined {
  try {
    return watch(folder, listener);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}
