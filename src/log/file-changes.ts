import { type FSWatcher, type WatchListener, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { onAbort } from "../schema/abort.ts";
import { WakeUps } from "./wake-ups.ts";

/** How often to look where the system does not tell of changes. */
const LOOK_EVERY_MS = 1_000;

/**
 * Yields whenever a file may have changed: at once, whenever the system says so, and once a second besides.
 *
 * The folder is watched, not the file, so that a file that is made later or replaced is seen as well. Changes that
 * come while the consumer is busy are told as one.
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

/** Watches a folder. One that is missing, or that the system has no watcher left for, leaves the timer to do the work. */
function tryWatch(folder: string, listener: WatchListener<string>): FSWatcher | undefined {
  try {
    return watch(folder, listener);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}
