import { availableParallelism } from "node:os";
import type { ImportCounts, SourceName } from "../import/imported-session.ts";
import { sessionIdOf } from "../import/session-builder.ts";
import { nextTurn } from "../log/next-turn.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { refuseAborted } from "../schema/abort.ts";
import { SessionError } from "../schema/errors.ts";
import type { SessionIssue } from "../schema/issue.ts";
import {
  assertOptions,
  CALLBACK,
  COUNT,
  FLAG,
  numberFrom,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
  TEXTS,
} from "../schema/options.ts";
import { ImportCache, type KnownImport } from "./import-cache.ts";
import { ImportThreads, NOTHING_MADE, THREAD_PROGRAM, type ThreadResult } from "./import-threads.ts";
import { type MadeSession, type RunFacts, SessionImporter } from "./session-importer.ts";
import type { ImportStatus, SessionTarget } from "./session-target.ts";
import { claudeStateFiles } from "./source-folders.ts";
import { findSourceSessions, type SourceQuery, selectSessions } from "./source-query.ts";
import type { SourceSession } from "./source-session.ts";

/** What is imported, and where to. */
export interface ImportSessionsOptions extends SourceQuery {
  /** Where sessions go. */
  readonly target: SessionTarget;
  /** Whether nothing is written. Default false. */
  readonly dryRun?: boolean;
  /** Returns Unix milliseconds; default: the clock. */
  readonly now?: () => number;
  /** Told how many sessions are done, of how many. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Ends the import with `ABORTED`; what was imported before stays. */
  readonly signal?: AbortSignal;
  /**
   * How many threads import, beside the one that asks, 16 at most. Default: two if there is much to read, more than one core, and a
   * target of files; else none. Where threads cannot be started, as in a bundle, everything is done by the one that asks.
   */
  readonly threads?: number;
}

const IMPORT_RULES: OptionRules<ImportSessionsOptions> = {
  target: OBJECT,
  dryRun: FLAG,
  now: CALLBACK,
  onProgress: CALLBACK,
  signal: SIGNAL,
  threads: numberFrom(0, "threads"),
  paths: TEXTS,
  sources: TEXTS,
  project: TEXT,
  sinceMs: COUNT,
  env: OBJECT,
  cacheDir: TEXT,
  onSkipped: CALLBACK,
};

/** What became of a session of another program. */
export interface SessionImport {
  readonly source: SourceName;
  readonly sourceId: string;
  readonly sourcePath: string;
  /** Path of the session file, or the session's id in a store; null if nothing was written because of `dryRun`. */
  readonly path: string | null;
  /** Id of the session here. */
  readonly id: string;
  readonly status: ImportStatus;
  readonly counts: ImportCounts;
  readonly dropped: { readonly [reason: string]: number };
  /** What is wrong with the source; empty for one that was not read because it is unchanged. */
  readonly issues: readonly SessionIssue[];
}

/**
 * Imports sessions of other programs: a session for each of theirs, and for each of their subagents.
 *
 * What is there already is left as it is, and what has grown is added behind it. A session that cannot be read or written
 * is skipped and told to `onSkipped`.
 *
 * @throws {SessionError} `ABORTED`
 * @throws {TypeError} If an option is none.
 * @remarks Cost: O(bytes of what is new), one session of each thread in memory at a time; a look at each file of the rest.
 */
export function importSessions(
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  return importWith(threadProgram(), options);
}

/**
 * Does the same with another program for its threads.
 *
 * @param program - Undefined if there is none.
 */
export async function* importWith(
  program: URL | undefined,
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  assertOptions(options, IMPORT_RULES);
  const { target, onProgress, signal, cacheDir, dryRun = false } = options;
  const cache = new ImportCache(target.name, cacheDir);
  const all = findSourceSessions(options, cache);
  const jobs: Job[] = [];
  for (const session of selectSessions(all, options)) {
    jobs.push({ session, known: await unchangedImports(session, target, cache) });
  }
  const run = new ImportRun(options, all, cache);
  try {
    run.begin(program, jobs);
    for (const [done, job] of jobs.entries()) {
      // Lets whoever wants to end the import come to say so.
      if (signal !== undefined) await nextTurn();
      refuseAborted(signal, "The import was ended; run it again to go on.");
      onProgress?.(done, jobs.length);
      yield* run.import(job);
    }
    onProgress?.(jobs.length, jobs.length);
  } finally {
    await run.end();
    if (!dryRun) await cache.save();
  }
}

/** Where the program of the threads lies; undefined in a bundle of another format. */
function threadProgram(): URL | undefined {
  const base: string | undefined = import.meta.url;
  return base === undefined ? undefined : new URL(THREAD_PROGRAM, base);
}

/** Sessions of one program and one working directory. */
export interface ImportPreview {
  readonly source: SourceName;
  /** Empty if it is not known. */
  readonly cwd: string;
  /** How many sessions there are. */
  readonly sessions: number;
  /** How many of them are new, or were written to since they were imported. */
  readonly changed: number;
}

/**
 * Tells what there is to import, by program and working directory, without reading more than the front of each file.
 *
 * @remarks Cost: a look at each file, and the front of those that are not in the cache.
 */
export async function previewImport(options: ImportSessionsOptions): Promise<ImportPreview[]> {
  const { target, cacheDir } = options;
  const cache = new ImportCache(target.name, cacheDir);
  const groups = new Map<string, ImportPreview>();
  for (const session of selectSessions(findSourceSessions(options, cache), options)) {
    const { source, cwd } = session;
    const key = `${source} ${cwd}`;
    const { sessions = 0, changed = 0 } = groups.get(key) ?? {};
    const isChanged = (await unchangedImports(session, target, cache)) === undefined;
    groups.set(key, { source, cwd, sessions: sessions + 1, changed: changed + (isChanged ? 1 : 0) });
  }
  await cache.save();
  return Array.from(groups.entries())
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => group);
}

/** Returns what was imported of a session, if that is all there and nothing has changed since. */
async function unchangedImports(
  { source, sourceId, stamp }: SourceSession,
  target: SessionTarget,
  cache: ImportCache,
): Promise<readonly KnownImport[] | undefined> {
  const known = cache.importsOf(`${source} ${sourceId}`, stamp);
  if (known === undefined) return undefined;
  for (const { place } of known) if (!(await target.has(place))) return undefined;
  return known;
}

/** A session, and what is known to be imported of it; undefined if it is to be imported. */
interface Job {
  readonly session: SourceSession;
  readonly known: readonly KnownImport[] | undefined;
}

/** From so many bytes on threads are worth their start. */
const MUCH_BYTES = 16 * 1024 * 1024;

/** Threads that are started unless somebody asks for others, since each holds a session of its own in memory. */
const USUAL_THREADS = 2;

/** Threads that are started at most, whatever somebody asks for. */
const MOST_THREADS = 16;

/** How many sessions may be done by threads before somebody asks for them. */
const MOST_AHEAD = 32;

class ImportRun {
  readonly #options: ImportSessionsOptions;
  readonly #cache: ImportCache;
  readonly #facts: RunFacts;
  readonly #importer: SessionImporter;
  #threads: ImportThreads | undefined;
  /** Those that no thread was asked for yet. */
  #waiting: SourceSession[] = [];
  /** What threads make of those before them. */
  readonly #asked = new Map<SourceSession, Promise<ThreadResult>>();

  constructor(options: ImportSessionsOptions, all: readonly SourceSession[], cache: ImportCache) {
    const { target, env, now = Date.now, dryRun = false } = options;
    this.#options = options;
    this.#cache = cache;
    this.#facts = {
      importedAt: new Date(now()).toISOString(),
      isDryRun: dryRun,
      claudeStateFiles: claudeStateFiles(env),
      beginnings: new Map(all.map(({ sourceId, startedAt, cwd }) => [sourceId, { startedAt, cwd }])),
    };
    this.#importer = new SessionImporter(target, this.#facts);
  }

  /** Starts threads if that is worthwhile, and possible. */
  begin(program: URL | undefined, jobs: readonly Job[]): void {
    const changed = jobs.flatMap(({ session, known }) => (known === undefined ? session : []));
    const places = this.#options.target.filePlaces();
    const count = Math.min(this.#options.threads ?? usualThreads(changed), changed.length, MOST_THREADS);
    const ids = new Set(changed.map(({ sourceId }) => sessionIdOf(sourceId)));
    if (count < 1 || changed.length < 2 || places === undefined || program === undefined) return;
    // Two sources of one session are imported one after the other.
    if (ids.size < changed.length) return;
    try {
      this.#threads = new ImportThreads(program, count, { target: places, facts: this.#facts });
      this.#waiting = changed;
    } catch (error) {
      // Where a process may have no threads, it does without.
      if (!(error instanceof Error)) throw error;
    }
  }

  /** Ends the threads. */
  async end(): Promise<void> {
    await this.#threads?.close();
  }

  async *import({ session, known }: Job): AsyncGenerator<SessionImport, void, undefined> {
    if (known !== undefined) {
      for (const one of known) yield this.#told(session, { known: one, status: "unchanged", issues: [] });
      return;
    }
    const { made, isWhole } = await this.#resultOf(session);
    const done: KnownImport[] = [];
    try {
      for await (const one of isWhole ? made : this.#importer.import(session, made)) {
        done.push(one.known);
        yield this.#told(session, one);
      }
      this.#remember(session, done);
    } catch (error) {
      this.#skip(session.files[0]?.path ?? "", error);
    }
  }

  /** Returns what threads made of a session; nothing if there are none. */
  async #resultOf(session: SourceSession): Promise<ThreadResult> {
    const threads = this.#threads;
    if (threads === undefined) return NOTHING_MADE;
    for (const next of this.#waiting.splice(0, MOST_AHEAD - this.#asked.size)) {
      const result = threads.import(next).then((one) => {
        // At once: whoever asks may end before it is this one's turn.
        if (one.isWhole)
          this.#remember(
            next,
            one.made.map(({ known }) => known),
          );
        return one;
      });
      this.#asked.set(next, result);
    }
    const result = await this.#asked.get(session);
    this.#asked.delete(session);
    return result ?? NOTHING_MADE;
  }

  #remember({ source, sourceId, stamp }: SourceSession, done: readonly KnownImport[]): void {
    this.#cache.putImports(`${source} ${sourceId}`, stamp, done);
  }

  #told({ source }: SourceSession, { known, status, issues }: MadeSession): SessionImport {
    const { sourceId, sourcePath, id, place, counts, dropped } = known;
    const path = this.#facts.isDryRun ? null : place;
    return { source, sourceId, sourcePath, path, id, status, counts, dropped, issues };
  }

  #skip(path: string, error: unknown): void {
    const { onSkipped } = this.#options;
    const isExpected =
      error instanceof SessionError ||
      (error instanceof Error && hasErrorCode(error, "ENOENT", "EACCES", "EPERM", "EISDIR"));
    if (onSkipped === undefined || !isExpected) throw error;
    onSkipped(path, error);
  }
}

function usualThreads(sessions: readonly SourceSession[]): number {
  const bytes = sessions.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
  return bytes >= MUCH_BYTES && availableParallelism() > 1 ? USUAL_THREADS : 0;
}
