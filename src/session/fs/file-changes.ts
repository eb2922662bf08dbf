import { type FSWatcher, type WatchListener, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { onAbort } from "../../core/format/abort.ts";
import { callQuietly } from "../../core/format/errors.ts";
import { WakeUps } from "./notifications.ts";

/** Interval at which to check a file if the system does not report changes, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Options for watching folders. */
interface WatchedFolders {
  /**
   * Returns the folders. Called before every wait. Folders that are missing or exceed the system's limit on watchers are covered
   * only by the timer.
   */
  readonly folders: () => Iterable<string>;
  /** Returns whether a change to the file with a given name is relevant. By default, every change is relevant. */
  readonly isMeant?: (name: string) => boolean;
  /** Interval at which to check if the system does not report changes, in milliseconds. */
  readonly everyMs: number;
}

/**
 * Yields whenever a file may have changed: immediately, whenever the system reports a change, and once per second.
 *
 * Watches the folder instead of the file, to also detect a file that is created later or replaced. Changes that occur while the
 * consumer is busy are combined.
 */
export function watchFile(path: string, signal?: AbortSignal): AsyncGenerator<void, void> {
  const folders = [dirname(path)];
  const isMeant = (name: string) => name === basename(path);
  return watchFolders({ folders: () => folders, isMeant, everyMs: LOOK_EVERY_MS }, signal);
}

/** Yields whenever a file in the given folders may have changed. See `watchFile`. */
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
      // The folder may have changed since the consumer last read it.
      note();
      watcher.on("error", () => {
        // From then on, only the timer reports changes, because another watcher may fail just as quickly.
        watcher.close();
        note();
      });
    }
  };
  watchAll();
  const timer = setInterval(note, everyMs);
  // Runs immediately on abort, because a consumer that has aborted may never request the next value.
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

/** Watches a folder. If it is missing, or the system has no watchers left, only the timer reports changes. */
function tryWatch(folder: string, listener: WatchListener<string>): FSWatcher | undefined {
  return callQuietly(() => watch(folder, listener));
}
