import { availableParallelism } from "node:os";
import { isDeletedImport, UnreadableMarks } from "../../catalog/list/deleted-imports.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import { sourceKeyOf } from "../../core/format/import-origin.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
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
} from "../../core/format/options.ts";
import { forgetReplaced } from "../../session/files/forget-session.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import { defaultCacheFolder } from "../../session/files/user-folders.ts";
import { nextTurn } from "../../session/fs/clock.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { type ImportCounts, NO_COUNTS, type SourceName } from "../import/imported-session.ts";
import { sessionIdOf } from "../import/session-builder.ts";
import type { DatabaseCopies } from "./database-copies.ts";
import { findGone, type GoneImport } from "./deleted-sources.ts";
import { ImportCache, type KnownImport } from "./import-cache.ts";
import { type ImportTarget, importTarget, isOlderThanSystem } from "./import-target.ts";
import { ImportThreads, NOTHING_MADE, THREAD_PROGRAM, type ThreadResult } from "./import-threads.ts";
import { readStateOf } from "./incremental-import.ts";
import type { RunFacts, SourceBeginning } from "./run-summary.ts";
import { type MadeSession, SessionImporter } from "./session-importer.ts";
import type { SourceSession } from "./source-program.ts";
import {
  copiesFor,
  findSourceSessions,
  reportTo,
  type SourceQuery,
  selectSessions,
  withCopies,
} from "./source-query.ts";
import type { ImportStatus } from "./sync-plan.ts";

/** Options of an import. */
export interface ImportSessionsOptions extends SourceQuery {
  /** Where to write sessions. Default: files in the folder `imported` in the user's data folder. */
  readonly store?: SessionStore;
  /** Name of a store that is none of files, by which the cache knows it again. */
  readonly storeName?: string;
  /** Further folders with imported sessions, which stay there and are kept up to date. Default: pi's. */
  readonly earlierDirs?: readonly string[];
  /** Whether to write nothing. Default false. */
  readonly dryRun?: boolean;
  /** Whether to import sessions that were deleted here. Default false. */
  readonly again?: boolean;
  /** Whether to import with the newest mapping beside sessions that exist, which stay as they are. Default false. */
  readonly fresh?: boolean;
  /** Returns Unix milliseconds. Default: the clock. */
  readonly now?: () => number;
  /** Called with the number of finished sessions and their total. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Ends the import with `ABORTED`; sessions already imported are kept. */
  readonly signal?: AbortSignal;
  /**
   * Number of additional threads, at most 16. Default: two if there is much to read, more than one core, and the
   * target is files; else none. Where threads cannot start, as in a bundle, the calling thread does all the work.
   */
  readonly threads?: number;
}

const IMPORT_RULES: OptionRules<ImportSessionsOptions> = {
  store: OBJECT,
  storeName: TEXT,
  earlierDirs: TEXTS,
  dryRun: FLAG,
  again: FLAG,
  fresh: FLAG,
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

/** The result of importing a session. */
export interface SessionImport {
  readonly source: SourceName;
  readonly sourceId: string;
  readonly sourcePath: string;
  /** Path of the session file, or the session's id in a store; null if nothing was written: because of `dryRun`, or because it was deleted or is empty. */
  readonly path: string | null;
  /** Id of the session here. */
  readonly id: string;
  readonly status: ImportStatus;
  readonly counts: ImportCounts;
  readonly dropped: { readonly [reason: string]: number };
  /** Issues with the source; empty if it was unchanged and not read. */
  readonly issues: readonly SessionIssue[];
}

/**
 * Imports sessions of other programs: one session for each of theirs and each of their subagents.
 *
 * Leaves imported sessions unchanged, except for appending what is new. Skips sessions that cannot be read or
 * written, and reports them to `onSkipped`.
 *
 * @throws {SessionError} `ABORTED`
 * @throws {TypeError} If an option is invalid.
 * @remarks Cost: O(new bytes), with one session per thread in memory at a time; a check of each other file.
 */
export function importSessions(
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  return importWith(threadProgram(), options);
}

/** What an import that is one of several looks at, by default everything, and what it leaves for the next one. */
export interface ImportRound {
  readonly cache: ImportCache;
  /** Whether to look for sessions whose sources were deleted. */
  readonly tellsGone: boolean;
  wantsFile?(path: string): boolean;
  /** Tells whether to import a session, if it has changed. */
  wants?(session: SourceSession): boolean;
  /** Tells whether to read all of a session, if reading on is not enough. */
  mayReadAll?(session: SourceSession): boolean;
  /** Takes all sessions that were found. */
  found?(sessions: readonly SourceSession[]): void;
  /** Takes a session that is up to date now. */
  done?(session: SourceSession): void;
}

/** Makes the cache for an import. */
export function cacheFor(options: ImportSessionsOptions): ImportCache {
  return new ImportCache(importTarget(options).name, options.cacheDir);
}

/** Imports as `importSessions` does, with a program for the threads, if there is one. */
export async function* importWith(
  program: URL | undefined,
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  assertOptions(options, IMPORT_RULES);
  const cache = cacheFor(options);
  try {
    yield* importRound(program, options, { cache, tellsGone: true });
  } finally {
    if (options.dryRun !== true) await cache.save();
  }
}

/** Imports what one round is about; the caller saves the cache. */
export async function* importRound(
  program: URL | undefined,
  options: ImportSessionsOptions,
  round: ImportRound,
): AsyncGenerator<SessionImport, void, undefined> {
  const { onProgress, signal, dryRun = false } = options;
  const { cache } = round;
  const target = importTarget(options);
  const copies = copiesFor(options);
  const jobs: Job[] = [];
  let run: ImportRun | undefined;
  try {
    const all = findSourceSessions(options, cache, copies, (path) => round.wantsFile?.(path) !== false);
    round.found?.(all);
    run = new ImportRun(options, target, all, round);
    for (const session of selectSessions(all, options)) {
      if (round.wants?.(session) === false) continue;
      // An error is met again, and reported, when the session is imported.
      const known = await unchangedImports(session, target, options, cache, () => undefined);
      const readable = known === undefined ? run.withCopies(session, copies) : session;
      if (readable !== undefined) jobs.push({ session: readable, known });
    }
    run.begin(program, jobs);
    for (const [done, job] of jobs.entries()) {
      // Lets the caller abort between sessions.
      if (signal !== undefined) await nextTurn();
      refuseAborted(signal, "The import was ended; run it again to go on.");
      onProgress?.(done, jobs.length);
      if (yield* run.import(job)) round.done?.(job.session);
    }
    onProgress?.(jobs.length, jobs.length);
    const gone = round.tellsGone ? await findGone(all, target, options, cache) : [];
    for (const one of gone) yield run.resultOfGone(one);
  } finally {
    await run?.end();
    copies.remove();
    if (!dryRun && run?.hasReplaced === true) forgetReplaced();
  }
}

/** Returns the program of the threads; undefined in a bundle of another format. */
export function threadProgram(): URL | undefined {
  const base: string | undefined = import.meta.url;
  return base === undefined ? undefined : new URL(THREAD_PROGRAM, base);
}

/** Sessions of one program and one working directory. */
export interface ImportPreview {
  readonly source: SourceName;
  /** Empty if unknown. */
  readonly cwd: string;
  /** Number of sessions. */
  readonly sessions: number;
  /** How many of them are new, or have changed since they were imported. */
  readonly changed: number;
}

/**
 * Counts what can be imported, by program and working directory, reading only the front of each file.
 *
 * @remarks Cost: a check of each file, plus the front of those that are not in the cache.
 */
export async function previewImport(options: ImportSessionsOptions): Promise<ImportPreview[]> {
  assertOptions(options, IMPORT_RULES);
  const target = importTarget(options);
  const cache = cacheFor(options);
  const report = reportOf(options);
  const groups = new Map<string, ImportPreview>();
  for (const session of selectSessions(foundIn(options, cache), options)) {
    const { source, cwd } = session;
    const key = `${source} ${cwd}`;
    const { sessions = 0, changed = 0 } = groups.get(key) ?? {};
    const known = await unchangedImports(session, target, options, cache, (error) => report(session, error));
    const isChanged = known === undefined;
    groups.set(key, { source, cwd, sessions: sessions + 1, changed: changed + (isChanged ? 1 : 0) });
  }
  await cache.save();
  return Array.from(groups.entries())
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => group);
}

/** Finds sessions without reading them; leaves no copies of databases. */
export function foundIn(options: ImportSessionsOptions, cache: ImportCache): SourceSession[] {
  const copies = copiesFor(options);
  try {
    return findSourceSessions(options, cache, copies);
  } finally {
    copies.remove();
  }
}

/** Returns what takes errors about sessions; of marks that cannot be read it tells the caller once. */
function reportOf(options: ImportSessionsOptions): (session: SourceSession, error: unknown) => void {
  const report = reportTo(options);
  let isTold = false;
  return ({ files }, error) => {
    if (!(error instanceof UnreadableMarks)) report(files[0]?.path ?? "", error);
    else if (!isTold) report(error.folder, error);
    isTold ||= error instanceof UnreadableMarks;
  };
}

/**
 * Returns the imported sessions of a source, if all are still there or were deleted, and the source is unchanged.
 *
 * @param onError - Called if the system does not tell, and then the session must be imported.
 */
async function unchangedImports(
  session: SourceSession,
  target: ImportTarget,
  options: ImportSessionsOptions,
  cache: ImportCache,
  onError: (error: unknown) => void,
): Promise<readonly KnownImport[] | undefined> {
  try {
    return await unchangedIn(session, target, options, cache);
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof UnreadableMarks)) throw error;
    onError(error);
    return undefined;
  }
}

async function unchangedIn(
  { source, sourceId, stamp }: SourceSession,
  target: ImportTarget,
  { again = false, fresh = false }: ImportSessionsOptions,
  cache: ImportCache,
): Promise<readonly KnownImport[] | undefined> {
  const key = sourceKeyOf({ source, sourceId });
  const known = fresh ? undefined : cache.importsOf(key, stamp);
  if (known === undefined) return undefined;
  const now: KnownImport[] = [];
  for (const { isDeleted = false, ...one } of known) {
    const origins = [one.sourceId, ...(isDeleted ? [sourceId] : [])].map((id) => ({ source, sourceId: id }));
    const isThere = await target.has(one.location, isDeleted ? undefined : one);
    if (isThere && !isDeleted) now.push(checked(one));
    else if (!isThere && !again && !(await target.has(one.location)) && origins.some(isDeletedImport))
      now.push({ ...one, isDeleted: true });
    else return undefined;
  }
  if (now.some(({ writtenMs }, at) => writtenMs !== known[at]?.writtenMs)) cache.putImports(key, stamp, now);
  return now;
}

/** Returns a session that was found whole as such, so that it is not looked through again. */
function checked(one: KnownImport): KnownImport {
  if (one.size === undefined || !isOlderThanSystem(one.writtenMs ?? 0)) return one;
  return { ...one, writtenMs: Date.now() };
}

/** A session, and its known imports; undefined if it must be imported. */
interface Job {
  readonly session: SourceSession;
  readonly known: readonly KnownImport[] | undefined;
}

/** Minimum number of bytes for which threads are worth starting. */
const MUCH_BYTES = 16 * 1024 * 1024;

/** Default number of threads; each holds a session in memory. */
const USUAL_THREADS = 2;

/** Maximum number of threads. */
const MOST_THREADS = 16;

/** How many sessions threads may import ahead of the caller. */
const MOST_AHEAD = 32;

class ImportRun {
  readonly #options: ImportSessionsOptions;
  readonly #target: ImportTarget;
  readonly #cache: ImportCache;
  readonly #round: ImportRound;
  readonly #facts: RunFacts;
  readonly #report: (session: SourceSession, error: unknown) => void;
  readonly #importer: SessionImporter;
  #threads: ImportThreads | undefined;
  /** Whether records that have changed may have replaced a session's file. */
  hasReplaced = false;
  /** Sessions not yet given to a thread. */
  #waiting: SourceSession[] = [];
  readonly #asked = new Map<SourceSession, Promise<ThreadResult>>();

  constructor(
    options: ImportSessionsOptions,
    target: ImportTarget,
    all: readonly SourceSession[],
    round: ImportRound,
  ) {
    const { now = Date.now, dryRun = false, again = false, fresh = false } = options;
    const { cacheDir = defaultCacheFolder() } = options;
    this.#options = options;
    this.#report = reportOf(options);
    this.#target = target;
    this.#cache = round.cache;
    this.#round = round;
    this.#facts = {
      importedAt: new Date(now()).toISOString(),
      cacheDir,
      isDryRun: dryRun,
      isFresh: fresh,
      isAgain: again,
      beginnings: beginningsOf(all),
    };
    this.#importer = new SessionImporter(target, this.#facts);
  }

  /** Names the copies of databases that a session is read from; reports what cannot be copied. */
  withCopies(session: SourceSession, copies: DatabaseCopies): SourceSession | undefined {
    try {
      return withCopies(session, copies);
    } catch (error) {
      this.#report(session, error);
      return undefined;
    }
  }

  /** Starts threads if that is worthwhile and possible. */
  begin(program: URL | undefined, jobs: readonly Job[]): void {
    const changed = jobs.flatMap(({ session, known }) => (known === undefined ? session : []));
    const { layout } = this.#target;
    const count = Math.min(this.#options.threads ?? usualThreads(changed), changed.length, MOST_THREADS);
    if (count < 1 || changed.length < 2 || layout === undefined || program === undefined) return;
    try {
      this.#threads = new ImportThreads(program, count, { layout, facts: this.#facts });
      this.#waiting = changed;
    } catch (error) {
      // If the process may not start threads, the calling thread does all the work.
      if (!(error instanceof Error)) throw error;
    }
  }

  async end(): Promise<void> {
    await this.#threads?.close();
  }

  /** @returns Whether the session is up to date now. */
  async *import({ session, known }: Job): AsyncGenerator<SessionImport, boolean, undefined> {
    if (known !== undefined) {
      for (const one of known) {
        const status = one.isDeleted === true ? "deleted" : "unchanged";
        yield this.#resultFor(session, { known: one, status, issues: [] });
      }
      if (known.length === 0) yield emptySource(session);
      return true;
    }
    const last = this.#cache.lastImportsOf(sourceKeyOf(session));
    const grown = await this.#readOn(session, last);
    if (grown === undefined && this.#round.mayReadAll?.(session) === false) return false;
    const { made, isWhole } = grown ?? (await this.#resultOf(session));
    const done: KnownImport[] = [];
    try {
      for await (const one of isWhole ? made : this.#importer.import(session, made)) {
        done.push(one.known);
        this.#noteReplaced(one);
        yield this.#resultFor(session, one);
      }
      if (done.length === 0) yield emptySource(session);
      this.#remember(session, done);
      return true;
    } catch (error) {
      this.#report(session, error);
      return false;
    }
  }

  resultOfGone({ source, known }: GoneImport): SessionImport {
    return this.#resultFor({ source }, { known, status: "gone", issues: [] });
  }

  /** Reads on where the last import ended; undefined if all of the session must be read, or another thread does it. */
  async #readOn(session: SourceSession, last: readonly KnownImport[]): Promise<ThreadResult | undefined> {
    if (this.#threads !== undefined) return undefined;
    try {
      const made = await this.#importer.readOn(session, last);
      return made && { made, isWhole: true };
    } catch (error) {
      // What is wrong is met again, and reported, when all of it is read.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }

  /** Returns a thread's result for a session; nothing without threads. */
  async #resultOf(session: SourceSession): Promise<ThreadResult> {
    const threads = this.#threads;
    if (threads === undefined) return NOTHING_MADE;
    for (const next of this.#waiting.splice(0, MOST_AHEAD - this.#asked.size)) {
      const result = threads.import(next).then((one) => {
        // Immediately, because the caller may stop before this one's turn.
        for (const made of one.made) this.#noteReplaced(made);
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

  #noteReplaced({ status, isAppended }: MadeSession): void {
    this.hasReplaced ||= status === "grown" && isAppended !== true;
  }

  #remember(session: SourceSession, made: readonly KnownImport[]): void {
    const read = readStateOf(session);
    const done = made.map((one) => (one.sourceId === session.sourceId ? { ...one, read } : one));
    this.#cache.putImports(sourceKeyOf(session), session.stamp, done);
  }

  #resultFor(
    { source }: Pick<SourceSession, "source">,
    { known, status, issues }: MadeSession,
  ): SessionImport {
    const { sourceId, sourcePath, id, location, counts, dropped } = known;
    const path = this.#facts.isDryRun || status === "deleted" ? null : location;
    return { source, sourceId, sourcePath, path, id, status, counts, dropped, issues };
  }
}

/** Returns the result for a source without a message, of which no session is made. */
function emptySource({ source, sourceId, files }: SourceSession): SessionImport {
  const [file] = files;
  const facts = { source, sourceId, sourcePath: file?.path ?? "", path: null, id: sessionIdOf(sourceId) };
  return { ...facts, status: "empty", counts: NO_COUNTS, dropped: {}, issues: [] };
}

/** @param sessions - Earliest first. */
function beginningsOf(sessions: readonly SourceSession[]): Map<string, SourceBeginning> {
  const beginnings = new Map<string, SourceBeginning>();
  const names = new Set<string>();
  for (const session of sessions) {
    const { sourceId, startedAt, cwd } = session;
    const name = sessionIdOf(sourceId);
    beginnings.set(sourceKeyOf(session), { startedAt, cwd, isNameTaken: names.has(name) });
    names.add(name);
  }
  return beginnings;
}

function usualThreads(sessions: readonly SourceSession[]): number {
  const bytes = sessions.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
  return bytes >= MUCH_BYTES && availableParallelism() > 1 ? USUAL_THREADS : 0;
}
