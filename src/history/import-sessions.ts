import type { ImportCounts, ImportedSession, SourceName } from "../import/imported-session.ts";
import { sessionIdOf } from "../import/session-builder.ts";
import { isoTimeOf } from "../import/source-values.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { SessionError } from "../schema/errors.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { SessionIssue } from "../schema/issue.ts";
import { ImportCache, type KnownImport } from "./import-cache.ts";
import { readSourceSession } from "./read-session.ts";
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
}

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
 * @remarks Cost: O(bytes of what is new), one session in memory at a time; a look at each file of the rest.
 */
export async function* importSessions(
  options: ImportSessionsOptions,
): AsyncGenerator<SessionImport, void, undefined> {
  const { target, onProgress, signal, cacheDir } = options;
  const cache = new ImportCache(target.name, cacheDir);
  const all = findSourceSessions(options, cache);
  const wanted = selectSessions(all, options);
  const run = new ImportRun(options, all, cache);
  try {
    for (const [done, session] of wanted.entries()) {
      if (signal?.aborted) throw aborted(signal);
      onProgress?.(done, wanted.length);
      yield* run.import(session);
    }
    onProgress?.(wanted.length, wanted.length);
  } finally {
    if (options.dryRun !== true) await cache.save();
  }
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

class ImportRun {
  readonly #options: ImportSessionsOptions;
  readonly #cache: ImportCache;
  readonly #sources: ReadonlyMap<string, SourceSession>;
  readonly #importedAt: string;
  readonly #claudeStateFiles: readonly string[];

  constructor(options: ImportSessionsOptions, all: readonly SourceSession[], cache: ImportCache) {
    this.#options = options;
    this.#cache = cache;
    this.#sources = new Map(all.map((session) => [session.sourceId, session]));
    this.#importedAt = new Date((options.now ?? Date.now)()).toISOString();
    this.#claudeStateFiles = claudeStateFiles(options.env);
  }

  async *import(session: SourceSession): AsyncGenerator<SessionImport, void, undefined> {
    const key = `${session.source} ${session.sourceId}`;
    const known = await unchangedImports(session, this.#options.target, this.#cache);
    if (known !== undefined) {
      for (const one of known) yield this.#told(session, one, "unchanged", []);
      return;
    }
    const path = session.files[0]?.path ?? "";
    try {
      const made: KnownImport[] = [];
      for (const imported of await this.#read(session)) {
        const { known: one, status } = await this.#importOne(imported, path);
        made.push(one);
        yield this.#told(session, one, status, imported.issues);
      }
      this.#cache.putImports(key, session.stamp, made);
    } catch (error) {
      this.#skip(path, error);
    }
  }

  async #read(session: SourceSession): Promise<ImportedSession[]> {
    const { target } = this.#options;
    const isTimeless = session.source === "messages";
    return readSourceSession(session, {
      begunAt: isTimeless ? await target.begunAt(sessionIdOf(session.sourceId)) : undefined,
      importedAt: this.#importedAt,
      claudeStateFiles: this.#claudeStateFiles,
    });
  }

  async #importOne(
    imported: ImportedSession,
    path: string,
  ): Promise<{ known: KnownImport; status: ImportStatus }> {
    const { target, dryRun = false } = this.#options;
    const header = this.#headerOf(imported);
    const place = target.placeOf(header);
    const status = dryRun
      ? await target.compare(place, header, imported)
      : await target.sync(place, header, imported);
    const { sourceId, sourcePath = path, counts, dropped } = imported;
    const { id } = header;
    return { known: { sourceId, sourcePath, id, place, counts, dropped }, status };
  }

  /** Names the session that this one descends from, wherever it is or will be. */
  #headerOf({ header, parent }: ImportedSession): SessionHeader {
    if (parent === undefined) return header;
    const { target } = this.#options;
    const source = this.#sources.get(parent.sourceId);
    const timestamp = isoTimeOf(source?.startedAt);
    const parentSession =
      source === undefined || timestamp === undefined
        ? target.find(parent.sourceId)
        : target.placeOf({ ...header, id: parent.sourceId, timestamp, cwd: source.cwd });
    return parentSession === undefined ? header : { ...header, parentSession };
  }

  #told(
    { source }: SourceSession,
    { sourceId, sourcePath, id, place, counts, dropped }: KnownImport,
    status: ImportStatus,
    issues: readonly SessionIssue[],
  ): SessionImport {
    const path = this.#options.dryRun === true ? null : place;
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

function aborted(signal: AbortSignal): SessionError {
  return new SessionError("ABORTED", "The import was ended; run it again to go on.", {
    cause: signal.reason,
  });
}
