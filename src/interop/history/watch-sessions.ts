import { dirname, sep } from "node:path";
import { onAbort } from "../../core/format/abort.ts";
import { getErrorMessage, isSessionError } from "../../core/format/errors.ts";
import { makeSourceKey } from "../../core/format/import-origin.ts";
import { watchFolders } from "../../session/fs/file-changes.ts";
import type { ImportCache } from "./import-cache.ts";
import {
  cacheFor,
  type ImportRound,
  type ImportSessionsOptions,
  importRound,
  type SessionImport,
} from "./import-sessions.ts";
import { isDatabaseName } from "./source-file.ts";
import type { SourceSession } from "./source-program.ts";
import { getPaths } from "./source-query.ts";

/** Milliseconds between checks on systems that do not report changes. */
const LOOK_EVERY_MS = 5_000;

/** Minimum pause between rounds, to collect changes: in milliseconds, and as a multiple of the duration of the last round. */
const PAUSE_MS = 500;
const PAUSE_FACTOR = 5;

/** Milliseconds between rounds that also read databases and retry failed imports. */
const RARELY_MS = 60_000;

/** Milliseconds between saves of the cache. */
const SAVE_EVERY_MS = 30_000;

/** Maximum number of sessions whose folders are watched, latest first. Changes to other sessions are detected by the timer. */
const MAX_WATCHED = 200;

/**
 * Imports changes until the signal is aborted: new sessions, sessions that have grown, and sessions whose source was deleted.
 *
 * Existing sessions are brought up to date first. A failure is reported to `onSkipped` once, and the import is retried later.
 */
export async function* watchSessions(
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  const { signal, onSkipped } = options;
  const rounds = new WatchRounds(options);
  let told = new Set<string>();
  try {
    for await (const _ of watchFolders({ folders: () => rounds.folders, everyMs: LOOK_EVERY_MS }, signal)) {
      const failures = new Set<string>();
      const report = (path: string, error: unknown) => {
        const failure = `${path} ${getErrorMessage(error)}`;
        failures.add(failure);
        if (!told.has(failure)) onSkipped?.(path, error);
      };
      yield* rounds.run(report);
      // The next round may skip failed imports and databases, so only a complete round may forget which failures were reported.
      told = rounds.isRare ? failures : new Set([...told, ...failures]);
      await rounds.pause();
    }
  } catch (error) {
    if (!isSessionError(error, "ABORTED") || signal?.aborted !== true) throw error;
  } finally {
    await rounds.cache.save();
  }
}

class WatchRounds implements ImportRound {
  readonly cache: ImportCache;
  readonly tellsGone = true;
  folders: ReadonlySet<string>;
  /** Whether the last round also read databases and retried failed imports, which happens once a minute. */
  isRare = true;
  readonly #options: ImportSessionsOptions;
  /** States of sessions at their last import, or at their last import attempt since the last complete round. */
  readonly #done = new Map<string, string>();
  readonly #tried = new Map<string, string>();
  /** Ids of sessions whose sources are known to be deleted. */
  readonly #gone: Set<string>;
  readonly #roots: readonly string[];
  #rareAtMs = 0;
  #savedAtMs = 0;
  #tookMs = 0;

  constructor(options: ImportSessionsOptions) {
    this.#options = options;
    this.cache = cacheFor(options);
    this.#roots = getPaths(options);
    this.folders = new Set(this.#roots);
    const known = this.cache.allImports().flatMap(([, , sessions]) => sessions);
    this.#gone = new Set(known.flatMap(({ id, isGone }) => (isGone === true ? id : [])));
  }

  /** Runs one import. Also reports errors that affect the whole import. */
  async *run(onSkipped: (path: string, error: unknown) => void): AsyncGenerator<SessionImport, void> {
    const beganAtMs = Date.now();
    this.isRare = beganAtMs - this.#rareAtMs >= RARELY_MS;
    if (this.isRare) {
      this.#rareAtMs = beganAtMs;
      this.#tried.clear();
    }
    try {
      for await (const one of importRound({ ...this.#options, onSkipped }, this)) {
        if (this.#isNews(one)) yield one;
      }
    } catch (error) {
      if (isSessionError(error, "ABORTED")) throw error;
      onSkipped(this.#roots[0] ?? "", error);
    }
    this.#tookMs = Date.now() - beganAtMs;
    if (Date.now() - this.#savedAtMs < SAVE_EVERY_MS) return;
    this.#savedAtMs = Date.now();
    await this.cache.save();
  }

  #isNews({ id, status }: SessionImport): boolean {
    const wasGone = this.#gone.has(id);
    if (status === "gone") this.#gone.add(id);
    else this.#gone.delete(id);
    return status === "gone" ? !wasGone : status === "new" || status === "grown";
  }

  wantsFile(path: string): boolean {
    return this.isRare || !isDatabaseName(path);
  }

  wants(session: SourceSession): boolean {
    const { stamp } = session;
    const key = makeSourceKey(session);
    if (this.#done.get(key) === stamp || this.#tried.get(key) === stamp) return false;
    this.#tried.set(key, stamp);
    return true;
  }

  done(session: SourceSession): void {
    this.#done.set(makeSourceKey(session), session.stamp);
    this.#tried.delete(makeSourceKey(session));
  }

  found(sessions: readonly SourceSession[]): void {
    const latest = sessions.toSorted((one, other) => other.modifiedMs - one.modifiedMs).slice(0, MAX_WATCHED);
    const folders = new Set(this.#roots);
    const isBelow = (folder: string) => this.#roots.some((root) => folder.startsWith(root + sep));
    for (const { path } of latest.flatMap(({ files }) => files)) {
      for (let folder = dirname(path); isBelow(folder); folder = dirname(folder)) folders.add(folder);
    }
    this.folders = folders;
  }

  /** Waits before the next round, so that a continuously growing session is not read continuously. */
  async pause(): Promise<void> {
    const { signal } = this.#options;
    let wake: () => void = () => undefined;
    const isOver = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(wake, PAUSE_MS + PAUSE_FACTOR * this.#tookMs);
    const forget = onAbort(signal, wake);
    await isOver;
    clearTimeout(timer);
    forget();
  }
}
