import { type FSWatcher, type WatchListener, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { onAbort } from "../../core/format/abort.ts";
import { WakeUps } from "./notifications.ts";

/** How often to check a file where the system does not report changes. */
const LOOK_EVERY_MS = 1_000;

/** What to watch. */
interface WatchedFolders {
  /** Returns the folders, before every wait; those that are missing, or beyond what the system can watch, wait for the timer. */
  readonly folders: () => Iterable<string>;
  /** Whether a change of a file in one of them counts, by its name. Default: every change does. */
  readonly isMeant?: (name: string) => boolean;
  /** How often to check where the system does not report changes. */
  readonly everyMs: number;
}

/**
 * Yields whenever a file may have changed: at once, whenever the system reports it, and also once a second.
 *
 * Watches the folder rather than the file, so that a file that is created later or replaced is seen as well. Changes
 * while the consumer is busy are yielded as one.
 */
export function watchFile(path: string, signal?: AbortSignal): AsyncGenerator<void, void> {
  const folders = [dirname(path)];
  const isMeant = (name: string) => name === basename(path);
  return watchFolders({ folders: () => folders, isMeant, everyMs: LOOK_EVERY_MS }, signal);
}

/** Yields whenever something in folders may have changed; see `watchFile`. */
export async function* watchFolders(
  { folders, isMeant = () => true, everyMs }: WatchedFolders,
  signal?: AbortSignal,
): AsyncGenerator<void, void> {
  const wakeUps = new WakeUps();
  const { note } = wakeUps;
  const watchers = new Map<string, FSWatcher>();
  const watchAll = () => {
    const wanted = new Set(folders());
    for (const [folder, watcher] of watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of wanted) {
      if (watchers.has(folder)) continue;
      const watcher = tryWatch(folder, (_event, changed) => {
        if (changed === null || isMeant(changed)) note();
      });
      if (watcher === undefined) continue;
      watchers.set(folder, watcher);
      // For what has changed since its consumer looked at it.
      note();
      watcher.on("error", () => {
        // From then on the timer does the work: another watcher may fail as fast.
        watcher.close();
        note();
      });
    }
  };
  watchAll();
  const timer = setInterval(note, everyMs);
  // At once, since a consumer that has aborted may never ask again.
  const end = () => {
    clearInterval(timer);
    for (const watcher of watchers.values()) watcher.close();
    note();
  };
  const forget = onAbort(signal, end);
  try {
    for await (const _ of wakeUps.until(() => signal?.aborted === true)) {
      yield;
      if (signal?.aborted !== true) watchAll();
    }
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
