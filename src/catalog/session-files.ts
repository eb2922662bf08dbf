import { readdirSync, statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import {
  absolutePath,
  projectFolder,
  projectKey,
  type SessionPlaces,
  sessionsRoot,
} from "../log/session-paths.ts";
import type { FileMark } from "./open-file.ts";
import type { Pace } from "./pace.ts";
import { isSystemError, reportSkipped, type SkipReport } from "./skipping.ts";

/** Which sessions are meant. */
export interface CatalogScope {
  /** Only sessions of this project. Default: all. */
  readonly cwd?: string;
  /** One flat folder. Default: the project's folder, or those of all projects. */
  readonly sessionDir?: string;
  /** Where sessions live, if not where pi keeps them. */
  readonly places?: SessionPlaces;
}

/** A file that may be a session. */
export interface SessionFile extends FileMark {
  readonly path: string;
  readonly folder: string;
  readonly name: string;
}

const SUFFIX = ".jsonl";

/**
 * Yields the files of one folder that may be sessions; nothing is opened.
 *
 * @returns Nothing for a folder that is missing.
 * @remarks Cost: one look at each file.
 */
export function* sessionFilesIn(folder: string, report: SkipReport): Generator<SessionFile, void> {
  // What comes of joining each name for itself, in a fraction of the time.
  const front = join(folder, sep);
  for (const name of namesIn(folder, report)) {
    const file = name.endsWith(SUFFIX) ? fileAt(front + name, folder, name, report) : undefined;
    if (file !== undefined) yield file;
  }
}

function fileAt(path: string, folder: string, name: string, report: SkipReport): SessionFile | undefined {
  try {
    const stats = statSync(path);
    if (stats.isFile())
      return { path, folder, name, size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino };
    report({ path, reason: "not-a-file" });
  } catch (error) {
    reportSkipped(path, error, report);
  }
  return undefined;
}

/**
 * Returns the folders of a scope and the files in them, those written to last first.
 *
 * The system is asked synchronously, because an answer takes microseconds and a promise for each would take longer.
 *
 * @throws {SessionError} `ABORTED`
 */
export async function findSessionFiles(
  scope: CatalogScope,
  report: SkipReport,
  pace: Pace,
): Promise<{ folders: string[]; files: SessionFile[] }> {
  const folders = foldersOf(scope, report);
  const files: SessionFile[] = [];
  for (const folder of folders) {
    for (const file of sessionFilesIn(folder, report)) {
      files.push(file);
      if (pace.isDue) await pace.rest();
    }
  }
  return { folders, files: files.sort(newestFirst) };
}

/** Orders files by time of writing, the last first, then by path. */
export function newestFirst(a: SessionFile, b: SessionFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}

/**
 * Makes the question whether a session belongs to a scope.
 *
 * The header says whose session it is, since the names of folders are lossy; where it does not, the folder counts.
 */
export function belongsTo(scope: CatalogScope): (headerCwd: string, folder: string) => boolean {
  const { cwd } = scope;
  if (cwd === undefined) return () => true;
  const key = projectKeyOf(cwd);
  const folderNames = new Set(projectFolders(cwd, scope.places).map((folder) => basename(folder)));
  const keys = new Map<string, string>();
  return (headerCwd, folder) => {
    if (headerCwd === "") return folderNames.has(basename(folder));
    const known = keys.get(headerCwd) ?? projectKeyOf(headerCwd);
    keys.set(headerCwd, known);
    return known === key;
  };
}

/** Returns the folders of a scope; they may be missing. */
export function foldersOf({ cwd, sessionDir, places }: CatalogScope, report: SkipReport): string[] {
  if (sessionDir !== undefined) return [absolutePath(sessionDir)];
  if (cwd !== undefined) return projectFolders(cwd, places);
  const root = sessionsRoot(places);
  return namesIn(root, report).map((name) => join(root, name));
}

/** The folders in which a project's sessions are by default: by the name that was given, and by its real one. */
function projectFolders(cwd: string, places: SessionPlaces | undefined): string[] {
  return [...new Set([projectFolder(cwd, places), projectFolder(projectKeyOf(cwd), places)])];
}

/** Returns the text by which a project is known; a header can name a folder that the system cannot even look for. */
function projectKeyOf(cwd: string): string {
  try {
    return projectKey(cwd);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return cwd;
  }
}

/** Returns the names in a folder; none if it is gone or the system refuses, which is reported. */
function namesIn(folder: string, report: SkipReport): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    reportSkipped(folder, error, report);
    return [];
  }
}
