import { type BigIntStats, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { isSessionError, SessionError } from "../../core/format/errors.ts";
import { getOrAdd, groupBy } from "../../core/format/group-by.ts";
import { makeSourceKey } from "../../core/format/import-origin.ts";
import { makeProjectKey } from "../../session/files/session-files.ts";
import { callIfPresent, hasErrorCode, isFolder, NotAPlainFileError } from "../../session/fs/file-system.ts";
import { toFileError } from "../../session/log/file-errors.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import type { SourceName } from "../import/imported-session.ts";
import type { ImportCache } from "./import-cache.ts";
import { makeStamp, makeTitleStamp, type ReportSkipped, SideFiles, type SourceFile } from "./source-file.ts";
import {
  type Environment,
  type FileFacts,
  findMainFile,
  type KnownFile,
  type SessionBeside,
  type SourceProgram,
  type SourceScene,
  type SourceSession,
} from "./source-program.ts";
import type { SourceReader } from "./source-reader.ts";
import { findProgram, SOURCE_PROGRAMS, sourceFolders } from "./source-table.ts";

/** Filters for other programs' sessions. */
export interface SourceQuery {
  /** Files or folders to search. Default: the programs' own folders. */
  readonly paths?: readonly string[];
  /** Selects only sessions of these programs. Default: all programs. */
  readonly sources?: readonly SourceName[];
  /** Selects only sessions with this working directory. */
  readonly project?: string;
  /** Selects only sessions written to since this time, in Unix milliseconds. */
  readonly sinceMs?: number;
  /** Environment variables that determine the programs' folders. Default: those of the process. */
  readonly env?: Environment;
  /** Folder of the import cache. Default: a folder in the user's cache folder. */
  readonly cacheDir?: string;
  /** Called for each file or folder that cannot be read. By default, the error is thrown. */
  readonly onSkipped?: (path: string, error: unknown) => void;
}

/** Returns the absolute paths of the files and folders that a query searches. */
export function getPaths({ paths, env }: SourceQuery): string[] {
  return (paths ?? sourceFolders(env)).map(toAbsolutePath);
}

/** Finds other programs' sessions, earliest first. Unwanted files are not read; cached facts about them are used instead. */
export async function findSourceSessions(
  query: SourceQuery,
  cache: ImportCache,
  reader: SourceReader,
  isWanted: (path: string) => boolean = () => true,
): Promise<SourceSession[]> {
  const report = reportTo(query);
  const files: KnownFile[] = [];
  const paths = getPaths(query);
  const named = new Set(query.paths === undefined ? [] : paths);
  for (const file of findSourceFiles(paths, report)) {
    // Cached facts about a session's other files are used even if those files are not read.
    const isLookedAt = isWanted(file.path);
    const all = isLookedAt ? await readFileFacts(file, report, cache, reader) : cache.getLastFacts(file);
    if (isLookedAt && all?.length === 0 && named.has(file.path))
      report(file.path, makeNoSessionsError(file.path));
    for (const facts of all ?? []) {
      const isMeant = query.paths !== undefined || findProgram(facts.source)?.isOnlyNamed !== true;
      if (isMeant) files.push({ ...file, facts });
    }
  }
  return groupSessions(files, report, query.env);
}

/**
 * Returns a function that reports skipped files and folders to `onSkipped`, or throws if it is not set. Ignores a file that has
 * been removed by its program since it was found.
 */
export function reportTo({ onSkipped }: SourceQuery): ReportSkipped {
  return (path, error) => {
    if (hasErrorCode(error, "ENOENT") && !existsSync(path)) return;
    const told = toFileError(path, "read", error);
    if (onSkipped === undefined) throw told;
    onSkipped(path, told);
  };
}

/** Reads facts about a file, from the cache if possible; undefined if the file cannot be read. */
async function readFileFacts(
  file: SourceFile,
  report: ReportSkipped,
  cache: ImportCache,
  reader: SourceReader,
): Promise<readonly FileFacts[] | undefined> {
  const known = cache.getFacts(file);
  if (known !== undefined) return known;
  try {
    const facts = await reader.readFacts(file);
    cache.putFacts(file, facts);
    return facts;
  } catch (error) {
    if (isSessionError(error, "ABORTED")) throw error;
    report(file.path, error);
    return undefined;
  }
}

function makeNoSessionsError(path: string): SessionError {
  const message = `${path} contains no session that can be imported. If it should, the file may be incomplete: use a complete copy.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

/** Returns the sessions that a query selects. */
export function selectSessions(
  sessions: readonly SourceSession[],
  { sources, project, sinceMs }: SourceQuery,
): SourceSession[] {
  const key = project === undefined ? undefined : makeProjectKey(project);
  const keys = new Map<string, string>();
  const makeKey = (cwd: string) => getOrAdd(keys, cwd, () => makeProjectKey(cwd));
  return sessions.filter(({ source, cwd, modifiedMs }) => {
    if (sources !== undefined && !sources.includes(source)) return false;
    if (sinceMs !== undefined && modifiedMs < sinceMs) return false;
    return key === undefined || (cwd !== "" && makeKey(cwd) === key);
  });
}

/** Groups files into sessions, earliest first. */
function groupSessions(
  files: readonly KnownFile[],
  report: ReportSkipped,
  env: Environment = process.env,
): SourceSession[] {
  const folders = new Set(files.map(({ facts }) => facts.cwd ?? ""));
  const common = { folders, beside: new SideFiles(report), env };
  const sessions = SOURCE_PROGRAMS.flatMap((program) => {
    const own = files.filter(({ facts }) => facts.source === program.name);
    return own.length === 0 ? [] : makeSessions(program, { ...common, files: own });
  });
  return sessions.sort(byStart);
}

function makeSessions(program: SourceProgram, scene: SourceScene): readonly SourceSession[] {
  const files = program.withoutCopies?.(scene.files) ?? scene.files;
  const groups = groupBy(files, (file) => `${program.makeKey?.(file) ?? ""} ${file.facts.sessionId}`);
  const findBeside = program.beside?.(scene);
  const sessions = chooseOnePerId(Array.from(groups.values(), (group) => makeSession(group, findBeside)));
  return program.withOrigins?.(sessions) ?? sessions;
}

/** Compares sessions for an order that depends only on the sessions themselves. */
function byStart(one: SourceSession, other: SourceSession): number {
  const makeKey = (session: SourceSession) => `${session.startedAt} ${makeSourceKey(session)}`;
  return makeKey(one) < makeKey(other) ? -1 : 1;
}

function makeSession(
  group: KnownFile[],
  findBeside: (main: KnownFile, files: readonly KnownFile[]) => SessionBeside = () => ({}),
): SourceSession {
  const files = group.sort(compareBeginnings);
  const main = findMainFile(files) ?? files[0];
  if (main === undefined) throw new Error("A session must have a file.");
  const { source, sessionId, cwd = "", startedAt = "" } = main.facts;
  const more = findBeside(main, files);
  return {
    source,
    sourceId: sessionId,
    files,
    others: [],
    cwd,
    startedAt,
    origins: [],
    copies: [],
    title: undefined,
    modifiedMs: Math.max(
      ...files.map(
        ({ facts, mtimeMs, beside = [] }) =>
          facts.modifiedMs ?? Math.max(mtimeMs, ...beside.map((one) => one.mtimeMs)),
      ),
    ),
    stamp: [...files.map(makeSessionStamp), makeTitleStamp(more.title)].join("\n"),
    ...more,
  };
}

/** Returns a string that changes whenever the session in a file changes. */
function makeSessionStamp(file: KnownFile): string {
  return file.facts.stamp ?? makeStamp(file);
}

function compareBeginnings(one: KnownFile, other: KnownFile): number {
  const makeKey = ({ path, facts }: KnownFile) => `${facts.startedAt ?? ""} ${path}`;
  return makeKey(one) < makeKey(other) ? -1 : 1;
}

/** Keeps the largest of several sessions with the same id, and records the others as its copies. */
function chooseOnePerId(sessions: readonly SourceSession[]): SourceSession[] {
  const best = new Map<string, SourceSession>();
  const countBytes = ({ files }: SourceSession) => files.reduce((sum, { size }) => sum + size, 0);
  for (const session of sessions) {
    const key = makeSourceKey(session);
    const rival = best.get(key);
    if (rival === undefined) best.set(key, session);
    else if (countBytes(session) > countBytes(rival)) best.set(key, withCopy(session, rival));
    else best.set(key, withCopy(rival, session));
  }
  return [...best.values()];
}

function withCopy(session: SourceSession, copy: SourceSession): SourceSession {
  const copies = [...session.copies, ...copy.files, ...copy.copies];
  return { ...session, copies, stamp: [session.stamp, ...copies.map(makeSessionStamp)].join("\n") };
}

/**
 * Returns files that may contain sessions, without opening them: the specified files, and the files in the specified folders.
 *
 * Follows links last, and never to a folder or file that was already found.
 */
function findSourceFiles(paths: readonly string[], report: ReportSkipped): SourceFile[] {
  const walk = new SourceWalk(report);
  for (const path of paths) walk.follow(path);
  walk.followLinks();
  return [...walk.files.values()];
}

class SourceWalk {
  readonly files = new Map<string, SourceFile>();
  readonly #report: ReportSkipped;
  /** Folders and files that were already found, identified by device and inode. */
  readonly #seen = new Set<string>();
  #links: string[] = [];

  constructor(report: ReportSkipped) {
    this.#report = report;
  }

  /** Adds the file or folder at a path, unless it was already found. */
  follow(path: string): void {
    this.#try(path, () => {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined || this.#seen.has(makeFileIdentity(stats))) return;
      if (stats.isDirectory()) this.#takeFolders(path);
      else this.#takeFile(path, stats);
    });
  }

  /** Adds the targets of links. Reports a link that points to one of its parent folders. */
  followLinks(): void {
    for (let path = this.#links.shift(); path !== undefined; path = this.#links.shift()) {
      const link = path;
      this.#try(link, () => {
        if (isLeadingUpwards(link)) throw new NotAPlainFileError("it is a link to a folder that contains it");
        if (mayHoldSessions(link) || isFolder(link)) this.follow(link);
      });
    }
  }

  #takeFolders(path: string): void {
    const folders = [path];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      folders.push(...this.#takeFolder(folder).reverse());
    }
  }

  /** Adds the files in a folder and returns its subfolders. */
  #takeFolder(folder: string): string[] {
    const inside: string[] = [];
    this.#try(folder, () => {
      const identity = makeFileIdentity(statSync(folder, { bigint: true }));
      if (this.#seen.has(identity)) return;
      this.#seen.add(identity);
      const entries = readdirSync(folder, { withFileTypes: true });
      for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) this.#links.push(path);
        else if (entry.isDirectory()) inside.push(path);
        else if (mayHoldSessions(path))
          this.#try(path, () => this.#takeFile(path, statSync(path, { bigint: true })));
      }
    });
    return inside;
  }

  #takeFile(path: string, stats: BigIntStats): void {
    if (!stats.isFile()) throw new NotAPlainFileError("it is not a file");
    this.#seen.add(makeFileIdentity(stats));
    const beside = SOURCE_PROGRAMS.flatMap((program) => program.filesBeside?.(path) ?? []);
    const states = beside.flatMap((other) => {
      const state = statSync(other, { bigint: true, throwIfNoEntry: false });
      return state === undefined ? [] : toSourceFile(other, state);
    });
    this.files.set(path, { ...toSourceFile(path, stats), ...(states.length > 0 && { beside: states }) });
  }

  /** Runs a function and reports its error, unless the file no longer exists. */
  #try(path: string, call: () => void): void {
    try {
      callIfPresent(call);
    } catch (error) {
      this.#report(path, error);
    }
  }
}

function toSourceFile(path: string, { size, mtimeNs, ctimeNs }: BigIntStats): SourceFile {
  return { path, size: Number(size), mtimeMs: Number(mtimeNs) / 1e6, ctimeMs: Number(ctimeNs) / 1e6 };
}

/** Returns whether a file may contain sessions, based on its path. */
function mayHoldSessions(path: string): boolean {
  const answers = SOURCE_PROGRAMS.flatMap((program) => program.isOwn?.(path) ?? []);
  return answers.includes(true) || (/\.jsonl?$/.test(path) && !answers.includes(false));
}

function makeFileIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Returns whether a link points to one of its parent folders. */
function isLeadingUpwards(link: string): boolean {
  const target = realpathSync(link);
  const folder = realpathSync(dirname(link));
  return folder === target || folder.startsWith(target.endsWith(sep) ? target : `${target}${sep}`);
}
