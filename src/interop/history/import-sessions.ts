import { isDeletedImport, UnreadableMarks } from "../../catalog/list/deleted-imports.ts";
import { refuseAborted } from "../../core/format/abort.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { makeOwnOrigin, makeSourceKey } from "../../core/format/import-origin.ts";
import type { SessionIssue } from "../../core/format/issue.ts";
import {
  assertKnownOptions,
  CALLBACK,
  COUNT,
  FLAG,
  OBJECT,
  type OptionRules,
  SIGNAL,
  TEXT,
  TEXTS,
} from "../../core/format/options.ts";
import { forgetReplaced } from "../../session/files/forget-session.ts";
import { isSystemError } from "../../session/files/skipped-files.ts";
import { getCacheFolder } from "../../session/files/user-folders.ts";
import { waitForTurn } from "../../session/fs/clock.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { type ImportCounts, NO_COUNTS, type SourceName } from "../import/imported-session.ts";
import { makeSessionId } from "../import/session-builder.ts";
import { findGone, type GoneImport } from "./deleted-sources.ts";
import { ImportCache, type KnownImport } from "./import-cache.ts";
import { type ImportTarget, importTarget, isOlderThanSystem } from "./import-target.ts";
import { makeReadState } from "./incremental-import.ts";
import {
  type MadeSession,
  type RunFacts,
  SessionImporter,
  type SourceBeginning,
} from "./session-importer.ts";
import type { SourceSession } from "./source-program.ts";
import { findSourceSessions, reportTo, type SourceQuery, selectSessions } from "./source-query.ts";
import { IMPORT_ENDED, SourceReader } from "./source-reader.ts";
import type { ImportStatus } from "./sync-plan.ts";

/** Options for an import. */
export interface ImportSessionsOptions extends SourceQuery {
  /** A single flat folder for the imported sessions. Default: the `imported` folder in the user's data folder. */
  readonly sessionDir?: string;
  /** Store to which sessions are written, instead of a folder. */
  readonly store?: SessionStore;
  /** Name that identifies the store in the cache. Required unless the store is a file store. */
  readonly storeName?: string;
  /** Additional folders with imported sessions, which stay there and are kept up to date. Default: pi's. */
  readonly earlierDirs?: readonly string[];
  /** Whether to report the results without writing anything. Default: false. */
  readonly dryRun?: boolean;
  /** Whether sessions that were deleted from the target are imported again. Default: false. */
  readonly again?: boolean;
  /** Whether to re-import sessions with the newest mapping, leaving existing sessions unchanged. Default: false. */
  readonly fresh?: boolean;
  /** Returns the current time, in Unix milliseconds. Default: the system clock. */
  readonly now?: () => number;
  /** Called with the number of finished sessions and the total number of sessions. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Aborts the import with an `ABORTED` error. Sessions that were already imported are kept. */
  readonly signal?: AbortSignal;
}

const IMPORT_RULES: OptionRules<ImportSessionsOptions> = {
  sessionDir: TEXT,
  store: OBJECT,
  storeName: TEXT,
  earlierDirs: TEXTS,
  dryRun: FLAG,
  again: FLAG,
  fresh: FLAG,
  now: CALLBACK,
  onProgress: CALLBACK,
  signal: SIGNAL,
  paths: TEXTS,
  sources: TEXTS,
  project: TEXT,
  sinceMs: COUNT,
  env: OBJECT,
  cacheDir: TEXT,
  onSkipped: CALLBACK,
};

/** Result of importing a session. */
export interface SessionImport {
  readonly source: SourceName;
  readonly sourceId: string;
  readonly sourcePath: string;
  /**
   * Path of the session file, or the session's id in a store. Null if nothing was written because of `dryRun`, or because the
   * session was deleted or is empty.
   */
  readonly path: string | null;
  /** Id of the session in the target. */
  readonly id: string;
  readonly status: ImportStatus;
  readonly counts: ImportCounts;
  readonly dropped: { readonly [reason: string]: number };
  /** Issues with the source. Empty if the source was unchanged and therefore not read. */
  readonly issues: readonly SessionIssue[];
}

/**
 * Imports other programs' sessions, creating one session for each session and one for each subagent.
 *
 * Changes imported sessions only by appending new entries. Skips sessions that cannot be read or written, and reports them to
 * `onSkipped`.
 *
 * @throws {SessionError} `ABORTED`
 * @throws {TypeError} If an option is invalid or unknown.
 * @remarks Cost: O(new bytes), with one session in memory at a time, plus a check of every other file.
 */
export function importSessions(
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  return importWith(undefined, options);
}

/** Scope and callbacks of a single import round. By default, everything is imported. */
export interface ImportRound {
  readonly cache: ImportCache;
  /** Whether to report sessions whose sources were deleted. */
  readonly tellsGone: boolean;
  /** Program that the reading process runs. Default: that of `SourceReader`. */
  readonly program?: URL | undefined;
  wantsFile?(path: string): boolean;
  /** Returns whether to import a session if it has changed. */
  wants?(session: SourceSession): boolean;
  /** Returns whether a session may be read completely if reading the appended part is not enough. */
  mayReadAll?(session: SourceSession): boolean;
  /** Called with all sessions found. */
  found?(sessions: readonly SourceSession[]): void;
  /** Called with each session that is now up to date. */
  done?(session: SourceSession): void;
}

/** Creates the cache for an import. */
export function cacheFor(options: ImportSessionsOptions): ImportCache {
  return new ImportCache(importTarget(options).name, options.cacheDir);
}

/** Imports sessions like `importSessions`, but with a different program for the reading process. */
export async function* importWith(
  program: URL | undefined,
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  assertKnownOptions(options, IMPORT_RULES);
  const cache = cacheFor(options);
  try {
    yield* importRound(options, { cache, tellsGone: true, program });
  } finally {
    if (options.dryRun !== true) await cache.save();
  }
}

/** Imports the sessions of one round. The caller must save the cache. */
export async function* importRound(
  options: ImportSessionsOptions,
  round: ImportRound,
): AsyncGenerator<SessionImport, void, undefined> {
  const { onProgress, signal, dryRun = false } = options;
  const { cache } = round;
  const target = importTarget(options);
  const reader = new SourceReader({ ...options, program: round.program });
  const jobs: Job[] = [];
  let run: ImportRun | undefined;
  try {
    const isWanted = (path: string) => round.wantsFile?.(path) !== false;
    const all = await findSourceSessions(options, cache, reader, isWanted);
    round.found?.(all);
    run = new ImportRun(options, target, all, round, reader);
    for (const session of selectSessions(all, options)) {
      if (round.wants?.(session) === false) continue;
      // If this fails, the same error occurs again when the session is imported, and is reported then.
      const known = await findUnchangedImports(session, target, options, cache, () => undefined);
      const readable = known === undefined ? await run.withCopies(session) : session;
      if (readable !== undefined) jobs.push({ session: readable, known });
    }
    // Unreadable folders stop the import, because their sessions would otherwise be imported a second time.
    if (jobs.some(({ known }) => known === undefined)) target.find("");
    for (const [done, job] of jobs.entries()) {
      // Allow the caller to abort between sessions.
      if (signal !== undefined) await waitForTurn();
      refuseAborted(signal, IMPORT_ENDED);
      onProgress?.(done, jobs.length);
      if (yield* run.import(job)) round.done?.(job.session);
    }
    onProgress?.(jobs.length, jobs.length);
    const gone = round.tellsGone ? await findGone(all, target, options, cache) : [];
    for (const one of gone) yield run.resultOfGone(one);
  } finally {
    await reader.close();
    if (!dryRun && run?.hasReplaced === true) forgetReplaced();
  }
}

/** Number of sessions for one program and working directory. */
export interface ImportPreview {
  readonly source: SourceName;
  /** Empty if the working directory is unknown. */
  readonly cwd: string;
  /** Number of sessions. */
  readonly sessions: number;
  /** Number of sessions that are new or have changed since the last import. */
  readonly changed: number;
}

/**
 * Counts the sessions that can be imported, by program and working directory. Only the beginning of each file is read.
 *
 * @remarks Cost: a check of each file, plus reading the beginning of files that are not in the cache.
 */
export async function previewImport(options: ImportSessionsOptions): Promise<ImportPreview[]> {
  assertKnownOptions(options, IMPORT_RULES);
  const target = importTarget(options);
  const cache = cacheFor(options);
  const report = makeReport(options);
  const groups = new Map<string, ImportPreview>();
  for (const session of selectSessions(await findFound(options, cache), options)) {
    if (await isOnlyExported(session, target)) continue;
    const { source, cwd } = session;
    const key = `${source} ${cwd}`;
    const { sessions = 0, changed = 0 } = groups.get(key) ?? {};
    const known = await findUnchangedImports(session, target, options, cache, (error) =>
      report(session, error),
    );
    const isChanged = known === undefined;
    groups.set(key, { source, cwd, sessions: sessions + 1, changed: changed + (isChanged ? 1 : 0) });
  }
  await cache.save();
  return Array.from(groups.entries())
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, group]) => group);
}

/** Returns whether a session is only an export of a session that is or was in the target, and has not been continued since. */
async function isOnlyExported({ files }: SourceSession, target: ImportTarget): Promise<boolean> {
  const [first, ...others] = files.map(({ facts }) => facts.exported);
  if (first === undefined || others.includes(undefined)) return false;
  const location = target.find(first.sessionId);
  if (location !== undefined && (await target.has(location))) return true;
  try {
    return isDeletedImport(makeOwnOrigin(first.sessionId));
  } catch (error) {
    if (!(error instanceof UnreadableMarks)) throw error;
    return false;
  }
}

/** Finds sessions without importing them. Removes all copies of databases. */
export async function findFound(
  options: ImportSessionsOptions,
  cache: ImportCache,
): Promise<SourceSession[]> {
  const reader = new SourceReader(options);
  try {
    return await findSourceSessions(options, cache, reader);
  } finally {
    await reader.close();
  }
}

/** Returns a function that reports session errors. It reports unreadable deletion marks only once. */
function makeReport(options: ImportSessionsOptions): (session: SourceSession, error: unknown) => void {
  const report = reportTo(options);
  let isTold = false;
  return ({ files }, error) => {
    if (!(error instanceof UnreadableMarks)) report(files[0]?.path ?? "", error);
    else if (!isTold) report(error.folder, error);
    isTold ||= error instanceof UnreadableMarks;
  };
}

/**
 * Returns a source's imported sessions, if the source is unchanged and all the sessions still exist or were deleted.
 *
 * @param onError - Called if the system denies access. The session must then be imported.
 */
async function findUnchangedImports(
  session: SourceSession,
  target: ImportTarget,
  options: ImportSessionsOptions,
  cache: ImportCache,
  onError: (error: unknown) => void,
): Promise<readonly KnownImport[] | undefined> {
  try {
    return await findUnchanged(session, target, options, cache);
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof UnreadableMarks)) throw error;
    onError(error);
    return undefined;
  }
}

async function findUnchanged(
  { source, sourceId, stamp }: SourceSession,
  target: ImportTarget,
  { again = false, fresh = false }: ImportSessionsOptions,
  cache: ImportCache,
): Promise<readonly KnownImport[] | undefined> {
  const key = makeSourceKey({ source, sourceId });
  const known = fresh ? undefined : cache.getImports(key, stamp);
  if (known === undefined) return undefined;
  const now: KnownImport[] = [];
  for (const { isDeleted = false, ...one } of known) {
    const names = [one.sourceId, ...(isDeleted ? [sourceId] : [])].map((id) => ({ source, sourceId: id }));
    const { continuedId } = one;
    const origins = continuedId === undefined ? names : [...names, makeOwnOrigin(continuedId)];
    const isThere = await target.has(one.location, isDeleted ? undefined : one);
    if (isThere && !isDeleted) now.push(markChecked(one));
    else if (!isThere && !again && !(await target.has(one.location)) && origins.some(isDeletedImport))
      now.push({ ...one, isDeleted: true });
    else return undefined;
  }
  if (now.some(({ writtenMs }, at) => writtenMs !== known[at]?.writtenMs)) cache.putImports(key, stamp, now);
  return now;
}

/** Returns the session with the current time if it was found intact, so that its file is not checked again. */
function markChecked(one: KnownImport): KnownImport {
  if (one.size === undefined || !isOlderThanSystem(one.writtenMs ?? 0)) return one;
  return { ...one, writtenMs: Date.now() };
}

/** A session and its known imports, which are undefined if the session must be imported. */
interface Job {
  readonly session: SourceSession;
  readonly known: readonly KnownImport[] | undefined;
}

class ImportRun {
  readonly #cache: ImportCache;
  readonly #round: ImportRound;
  readonly #facts: RunFacts;
  readonly #report: (session: SourceSession, error: unknown) => void;
  readonly #importer: SessionImporter;
  readonly #reader: SourceReader;
  /** Whether changed records may have caused a session's file to be replaced. */
  hasReplaced = false;

  constructor(
    options: ImportSessionsOptions,
    target: ImportTarget,
    all: readonly SourceSession[],
    round: ImportRound,
    reader: SourceReader,
  ) {
    const { now = Date.now, dryRun = false, again = false, fresh = false } = options;
    const { cacheDir = getCacheFolder() } = options;
    this.#report = makeReport(options);
    this.#cache = round.cache;
    this.#round = round;
    this.#facts = {
      importedAt: new Date(now()).toISOString(),
      cacheDir,
      isDryRun: dryRun,
      isFresh: fresh,
      isAgain: again,
      beginnings: collectBeginnings(all),
    };
    this.#reader = reader;
    this.#importer = new SessionImporter(target, this.#facts, reader);
  }

  /** Adds the copies of the databases from which a session is read. Reports databases that cannot be copied. */
  async withCopies(session: SourceSession): Promise<SourceSession | undefined> {
    try {
      return await this.#reader.withCopies(session);
    } catch (error) {
      if (isSessionError(error, "ABORTED")) throw error;
      this.#report(session, error);
      return undefined;
    }
  }

  /** @returns Whether the session is now up to date. */
  async *import({ session, known }: Job): AsyncGenerator<SessionImport, boolean, undefined> {
    if (known !== undefined) {
      for (const one of known) {
        const status = one.isDeleted === true ? "deleted" : "unchanged";
        yield this.#resultFor(session, { known: one, status, issues: [] });
      }
      if (known.length === 0) yield makeEmptyImport(session);
      return true;
    }
    const last = this.#cache.getLastImports(makeSourceKey(session));
    const grown = await this.#readOn(session, last);
    if (grown === undefined && this.#round.mayReadAll?.(session) === false) return false;
    const done: KnownImport[] = [];
    try {
      for await (const one of grown ?? this.#importer.import(session)) {
        done.push(one.known);
        this.#noteReplaced(one);
        yield this.#resultFor(session, one);
      }
      if (done.length === 0) yield makeEmptyImport(session);
      this.#remember(session, done);
      return true;
    } catch (error) {
      if (isSessionError(error, "ABORTED")) throw error;
      this.#report(session, error);
      return false;
    }
  }

  resultOfGone({ source, known }: GoneImport): SessionImport {
    return this.#resultFor({ source }, { known, status: "gone", issues: [] });
  }

  /** Continues reading where the last import stopped; undefined if the whole session must be read. */
  async #readOn(
    session: SourceSession,
    last: readonly KnownImport[],
  ): Promise<readonly MadeSession[] | undefined> {
    try {
      return await this.#importer.readOn(session, last);
    } catch (error) {
      // The same error occurs again when the whole session is read, and is reported then.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }

  #noteReplaced({ status, isAppended }: MadeSession): void {
    this.hasReplaced ||= status === "grown" && isAppended !== true;
  }

  #remember(session: SourceSession, made: readonly KnownImport[]): void {
    const read = makeReadState(session);
    const isOwn = (one: KnownImport) => one.sourceId === session.sourceId && one.continuedId !== one.id;
    const done = made.map((one) => (isOwn(one) ? { ...one, read } : one));
    this.#cache.putImports(makeSourceKey(session), session.stamp, done);
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

/** Returns the result for a source without messages, for which no session is created. */
function makeEmptyImport({ source, sourceId, files }: SourceSession): SessionImport {
  const [file] = files;
  const facts = { source, sourceId, sourcePath: file?.path ?? "", path: null, id: makeSessionId(sourceId) };
  return { ...facts, status: "empty", counts: NO_COUNTS, dropped: {}, issues: [] };
}

/** @param sessions - Sorted by start time, earliest first. */
function collectBeginnings(sessions: readonly SourceSession[]): Map<string, SourceBeginning> {
  const beginnings = new Map<string, SourceBeginning>();
  const names = new Set<string>();
  for (const session of sessions) {
    const { sourceId, startedAt, cwd } = session;
    const name = makeSessionId(sourceId);
    beginnings.set(makeSourceKey(session), { startedAt, cwd, isNameTaken: names.has(name) });
    names.add(name);
  }
  return beginnings;
}
