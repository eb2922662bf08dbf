import type { SourceName } from "../import/imported-session.ts";
import { absolutePath, projectKey } from "../log/session-paths.ts";
import { hasErrorCode } from "../log/system-error.ts";
import { isSessionError } from "../schema/errors.ts";
import { readFileFacts } from "./file-facts.ts";
import type { ImportCache } from "./import-cache.ts";
import { findSourceFiles, type SourceFile } from "./source-file.ts";
import { type Environment, sourceFolders } from "./source-folders.ts";
import { groupSessions, type KnownFile, type SourceSession } from "./source-session.ts";

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
  /** Called for each file that cannot be read. Default: throws the error. */
  readonly onSkipped?: (path: string, error: unknown) => void;
}

/**
 * Finds sessions of other programs, earliest first.
 *
 * @remarks Cost: a check of each file, plus the front of those that are not in the cache.
 */
export function findSourceSessions(query: SourceQuery, cache: ImportCache): SourceSession[] {
  const paths = (query.paths ?? sourceFolders(query.env)).map(absolutePath);
  const found = new Map(paths.flatMap(findSourceFiles).map((file) => [file.path, file]));
  const files: KnownFile[] = [];
  for (const file of found.values()) {
    const facts = factsOf(file, query, cache);
    // Arrays of messages in a program's folder are not its sessions.
    const isMeant = query.paths !== undefined || facts?.source !== "messages";
    if (facts !== undefined && isMeant) files.push({ ...file, facts });
  }
  return groupSessions(files);
}

function factsOf(file: SourceFile, { onSkipped }: SourceQuery, cache: ImportCache) {
  const known = cache.factsOf(file);
  if (known !== undefined) return known ?? undefined;
  try {
    const facts = readFileFacts(file);
    cache.putFacts(file, facts);
    return facts;
  } catch (error) {
    const isExpected =
      isSessionError(error) || (error instanceof Error && hasErrorCode(error, "ENOENT", "EACCES", "EPERM"));
    if (onSkipped === undefined || !isExpected) throw error;
    onSkipped(file.path, error);
    return undefined;
  }
}

/** Returns the sessions that a query selects. */
export function selectSessions(
  sessions: readonly SourceSession[],
  { sources, project, sinceMs }: SourceQuery,
): SourceSession[] {
  const key = project === undefined ? undefined : projectKey(project);
  const keys = new Map<string, string>();
  const keyOf = (cwd: string) => {
    const known = keys.get(cwd) ?? projectKey(cwd);
    keys.set(cwd, known);
    return known;
  };
  return sessions.filter(({ source, cwd, modifiedMs }) => {
    if (sources !== undefined && !sources.includes(source)) return false;
    if (sinceMs !== undefined && modifiedMs < sinceMs) return false;
    return key === undefined || (cwd !== "" && keyOf(cwd) === key);
  });
}
