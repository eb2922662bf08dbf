import { existsSync } from "node:fs";
import { SessionError } from "../../core/format/errors.ts";
import { groupBy } from "../../core/format/group-by.ts";
import { sourceKeyOf } from "../../core/format/import-origin.ts";
import { projectKeyOf } from "../../session/files/session-files.ts";
import { defaultCacheFolder } from "../../session/files/user-folders.ts";
import { hasErrorCode } from "../../session/fs/file-system.ts";
import { fileError } from "../../session/log/file-errors.ts";
import { absolutePath } from "../../session/log/session-paths.ts";
import type { SourceName } from "../import/imported-session.ts";
import { DatabaseCopies } from "./database-copies.ts";
import { readFileFacts } from "./file-facts.ts";
import { findSourceFiles } from "./find-source-files.ts";
import type { ImportCache } from "./import-cache.ts";
import { type ReportSkipped, SideFiles, type SourceFile, stampOf } from "./source-file.ts";
import {
  type Environment,
  type FileFacts,
  type KnownFile,
  mainFileOf,
  type SessionBeside,
  type SourceProgram,
  type SourceScene,
  type SourceSession,
} from "./source-program.ts";
import { programOf, SOURCE_PROGRAMS, sourceFolders } from "./source-table.ts";

/** Selects sessions of other programs. */
export interface SourceQuery {
  /** Files or folders. Default: the programs' own folders. */
  readonly paths?: readonly string[];
  /** Only sessions of these programs. Default: all. */
  readonly sources?: readonly SourceName[];
  /** Only sessions of this working directory. */
  readonly project?: string;
  /** Only sessions written to since this time, Unix milliseconds. */
  readonly sinceMs?: number;
  /** Environment variables that locate the programs' folders. Default: those of the process. */
  readonly env?: Environment;
  /** Folder of the import cache. Default: in the user's cache folder. */
  readonly cacheDir?: string;
  /** Called for each file or folder that cannot be read. Default: throws the error. */
  readonly onSkipped?: (path: string, error: unknown) => void;
}

/** Returns the files and folders that a query looks into, as absolute paths. */
export function pathsOf({ paths, env }: SourceQuery): string[] {
  return (paths ?? sourceFolders(env)).map(absolutePath);
}

/** Finds sessions of other programs, earliest first. Of files that are not wanted, what is known counts. */
export function findSourceSessions(
  query: SourceQuery,
  cache: ImportCache,
  copies: DatabaseCopies,
  isWanted: (path: string) => boolean = () => true,
): SourceSession[] {
  const report = reportTo(query);
  const files: KnownFile[] = [];
  const paths = pathsOf(query);
  const named = new Set(query.paths === undefined ? [] : paths);
  for (const file of findSourceFiles(paths, report)) {
    // What else holds a session matters, even while its file is not looked at.
    const isLookedAt = isWanted(file.path);
    const all = isLookedAt ? factsOf(file, report, cache, copies) : cache.lastFactsOf(file);
    if (isLookedAt && all?.length === 0 && named.has(file.path)) report(file.path, holdsNone(file.path));
    for (const facts of all ?? []) {
      const isMeant = query.paths !== undefined || programOf(facts.source)?.isOnlyNamed !== true;
      if (isMeant) files.push({ ...file, facts });
    }
  }
  return groupSessions(files, report, query.env);
}

/** Returns where a run keeps copies of the databases that it reads; the caller removes them at its end. */
export function copiesFor({ paths = [], cacheDir = defaultCacheFolder() }: SourceQuery): DatabaseCopies {
  return new DatabaseCopies(cacheDir, paths.map(absolutePath));
}

/** Names the copies of the databases that a session is read from. */
export function withCopies(session: SourceSession, copies: DatabaseCopies): SourceSession {
  const copied = (file: KnownFile) =>
    file.facts.isInDatabase === true ? { ...file, copy: copies.of(file.path) } : file;
  const { files, others, origins } = session;
  return { ...session, files: files.map(copied), others: others.map(copied), origins: origins.map(copied) };
}

/**
 * Returns what takes files and folders that are left out: it tells the caller, or throws if nobody listens. One that its program has
 * removed since it was found is not missed.
 */
export function reportTo({ onSkipped }: SourceQuery): ReportSkipped {
  return (path, error) => {
    if (hasErrorCode(error, "ENOENT") && !existsSync(path)) return;
    const told = fileError(path, "read", error);
    if (onSkipped === undefined) throw told;
    onSkipped(path, told);
  };
}

/** Returns undefined if the file cannot be read. */
function factsOf(
  file: SourceFile,
  report: ReportSkipped,
  cache: ImportCache,
  copies: DatabaseCopies,
): readonly FileFacts[] | undefined {
  const known = cache.factsOf(file);
  if (known !== undefined) return known;
  try {
    const facts = readFileFacts(file, copies);
    cache.putFacts(file, facts);
    return facts;
  } catch (error) {
    report(file.path, error);
    return undefined;
  }
}

function holdsNone(path: string): SessionError {
  const message = `${path} holds no session that can be imported. If it should, it may be cut off: take a whole copy.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

/** Returns the sessions that a query selects. */
export function selectSessions(
  sessions: readonly SourceSession[],
  { sources, project, sinceMs }: SourceQuery,
): SourceSession[] {
  const key = project === undefined ? undefined : projectKeyOf(project);
  const keys = new Map<string, string>();
  const keyOf = (cwd: string) => {
    const known = keys.get(cwd) ?? projectKeyOf(cwd);
    keys.set(cwd, known);
    return known;
  };
  return sessions.filter(({ source, cwd, modifiedMs }) => {
    if (sources !== undefined && !sources.includes(source)) return false;
    if (sinceMs !== undefined && modifiedMs < sinceMs) return false;
    return key === undefined || (cwd !== "" && keyOf(cwd) === key);
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
    return own.length === 0 ? [] : sessionsOf(program, { ...common, files: own });
  });
  return sessions.sort(byStart);
}

function sessionsOf(program: SourceProgram, scene: SourceScene): readonly SourceSession[] {
  const files = program.withoutCopies?.(scene.files) ?? scene.files;
  const groups = groupBy(files, (file) => `${program.keyOf?.(file) ?? ""} ${file.facts.sessionId}`);
  const besideOf = program.beside?.(scene);
  const sessions = onePerId(Array.from(groups.values(), (group) => makeSession(group, besideOf)));
  return program.withOrigins?.(sessions) ?? sessions;
}

/** Sorts sessions in an order that depends only on them. */
function byStart(one: SourceSession, other: SourceSession): number {
  const keyOf = (session: SourceSession) => `${session.startedAt} ${sourceKeyOf(session)}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

function makeSession(
  group: KnownFile[],
  besideOf: (main: KnownFile, files: readonly KnownFile[]) => SessionBeside = () => ({}),
): SourceSession {
  const files = group.sort(byBeginning);
  const main = mainFileOf(files) ?? files[0];
  if (main === undefined) throw new Error("A session has a file.");
  const { source, sessionId, cwd = "", startedAt = "" } = main.facts;
  const more = besideOf(main, files);
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
    stamp: [...files.map(sessionStamp), more.title ?? ""].join("\n"),
    ...more,
  };
}

/** Returns a text that changes whenever a session in a file does. */
function sessionStamp(file: KnownFile): string {
  return file.facts.stamp ?? stampOf(file);
}

function byBeginning(one: KnownFile, other: KnownFile): number {
  const keyOf = ({ path, facts }: KnownFile) => `${facts.startedAt ?? ""} ${path}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

/** Keeps the largest of several sessions with the same id, and knows the others as its copies. */
function onePerId(sessions: readonly SourceSession[]): SourceSession[] {
  const best = new Map<string, SourceSession>();
  const sizeOf = ({ files }: SourceSession) => files.reduce((sum, { size }) => sum + size, 0);
  for (const session of sessions) {
    const key = sourceKeyOf(session);
    const rival = best.get(key);
    if (rival === undefined) best.set(key, session);
    else if (sizeOf(session) > sizeOf(rival)) best.set(key, withCopy(session, rival));
    else best.set(key, withCopy(rival, session));
  }
  return [...best.values()];
}

function withCopy(session: SourceSession, copy: SourceSession): SourceSession {
  const copies = [...session.copies, ...copy.files, ...copy.copies];
  return { ...session, copies, stamp: [session.stamp, ...copies.map(sessionStamp)].join("\n") };
}
