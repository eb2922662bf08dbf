import { readdirSync, statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { getOrAdd } from "../../core/format/group-by.ts";
import { realFileSystem } from "../fs/file-system.ts";
import { retryAfterReplacement } from "../log/replace-file.ts";
import {
  getProjectKey,
  getSessionsRoot,
  joinProjectFolder,
  type SessionPlaces,
  toAbsolutePath,
} from "../log/session-paths.ts";
import { findOldFileName } from "../log/written-names.ts";
import { type FileMark, toFileMark } from "./file-mark.ts";
import { callUnlessRefused, reportSkipped, type SkipReport } from "./skipped-files.ts";
import type { Pace } from "./time-slices.ts";
import { getImportedRoot } from "./user-folders.ts";

/** Set of sessions. */
export interface CatalogScope {
  /** Project whose sessions are included. Default: all. */
  readonly cwd?: string;
  /** A single flat folder. Default: the project's folder, or the folders of all projects. */
  readonly sessionDir?: string;
  /** Locations of sessions, if they differ from pi's locations. */
  readonly places?: SessionPlaces;
  /** Whether to include sessions imported from other programs, which are in a separate folder. Default: false. */
  readonly includeImported?: boolean;
  /** Additional flat folders belonging to other programs that write this format. */
  readonly otherDirs?: readonly string[];
}

/** File that may be a session. */
export interface SessionFile extends FileMark {
  readonly path: string;
  readonly folder: string;
  readonly name: string;
}

const SUFFIX = ".jsonl";

/** Yields the files of one folder that may be sessions, without opening them. The folder may be missing. */
export function* listSessionFiles(folder: string, report: SkipReport): Generator<SessionFile, void> {
  // Equivalent to calling `join` for each name, but takes a fraction of the time.
  const front = join(folder, sep);
  for (const name of addReplacedNames(listNames(folder, report))) {
    const file = name.endsWith(SUFFIX) ? statSessionFile(front + name, folder, name, report) : undefined;
    if (file !== undefined) yield file;
  }
}

/** Returns the names in a folder, including those of sessions that are being replaced or whose replacement was interrupted. */
function addReplacedNames(names: readonly string[]): readonly string[] {
  const replaced = names
    .flatMap((name) => findOldFileName(name) ?? [])
    .filter((name) => !names.includes(name));
  return [...names, ...replaced];
}

function statSessionFile(
  path: string,
  folder: string,
  name: string,
  report: SkipReport,
): SessionFile | undefined {
  try {
    const stats = retryAfterReplacement(realFileSystem, path, () => statSync(path));
    if (stats.isFile()) return { path, folder, name, ...toFileMark(stats) };
    report({ path, reason: "not-a-file" });
  } catch (error) {
    reportSkipped(path, error, report);
  }
  return undefined;
}

/**
 * Returns the folders of a scope and the files in them, most recently written first.
 *
 * File system calls are synchronous, because each one takes only microseconds and a promise would take longer.
 */
export async function findSessionFiles(
  scope: CatalogScope,
  report: SkipReport,
  pace: Pace,
): Promise<{ folders: string[]; files: SessionFile[] }> {
  const folders = getScopeFolders(scope, report);
  const files: SessionFile[] = [];
  for (const folder of folders) {
    for (const file of listSessionFiles(folder, report)) {
      if (scope.otherDirs?.includes(folder) && CHECKPOINT.test(file.name)) continue;
      files.push(file);
      if (pace.isDue) await pace.rest();
    }
  }
  return { folders, files: files.sort(compareNewestFirst) };
}

const CHECKPOINT = /\.checkpoint\.[^.]+\.jsonl$/;

/** Orders files: most recently written first, then by path. */
export function compareNewestFirst(a: SessionFile, b: SessionFile): number {
  return b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1);
}

/**
 * Creates a function that returns whether a session belongs to a scope.
 *
 * The header determines the project, because folder names are ambiguous. If it has no working directory, the folder determines
 * it.
 */
export function makeScopeTest(scope: CatalogScope): (headerCwd: string, folder: string) => boolean {
  const { cwd } = scope;
  if (cwd === undefined) return () => true;
  const key = makeProjectKey(cwd);
  const folderNames = new Set(
    listProjectFolders(cwd, getSessionsRoot(scope.places)).map((folder) => basename(folder)),
  );
  const keys = new Map<string, string>();
  return (headerCwd, folder) => {
    if (headerCwd === "") return folderNames.has(basename(folder));
    return getOrAdd(keys, headerCwd, () => makeProjectKey(headerCwd)) === key;
  };
}

/** Returns the folders of a scope, which may be missing. */
export function getScopeFolders(scope: CatalogScope, report: SkipReport): string[] {
  const { cwd, sessionDir, places, includeImported = false } = scope;
  const roots = includeImported ? [getImportedRoot()] : [];
  if (sessionDir === undefined) roots.unshift(getSessionsRoot(places));
  const folders = roots.flatMap((root) => {
    if (cwd !== undefined) return listProjectFolders(cwd, root);
    return listNames(root, report).map((name) => join(root, name));
  });
  const others = [...folders, ...(scope.otherDirs ?? [])];
  return sessionDir === undefined ? others : [toAbsolutePath(sessionDir), ...others];
}

/**
 * Returns the folders of a project's sessions below a folder: one for the given path of the project, and one for its real path.
 */
function listProjectFolders(cwd: string, root: string): string[] {
  return [...new Set([joinProjectFolder(root, cwd), joinProjectFolder(root, makeProjectKey(cwd))])];
}

/** Returns the string that identifies a project. A header may contain a path that is invalid on this system. */
export function makeProjectKey(cwd: string): string {
  return callUnlessRefused(() => getProjectKey(cwd)) ?? cwd;
}

/** Returns the names in a folder. Empty if it does not exist, or if the system denies access, which is reported. */
export function listNames(folder: string, report: SkipReport): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    reportSkipped(folder, error, report);
    return [];
  }
}
