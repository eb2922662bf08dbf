import { statSync } from "node:fs";
import { homedir } from "node:os";
import { makeSourceKey } from "../../core/format/import-origin.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import { cacheFor, type ImportSessionsOptions, importRound, type SessionImport } from "./import-sessions.ts";
import type { SourceProgram, SourceSession } from "./source-program.ts";
import { SourceReader } from "./source-reader.ts";
import { findProgram, sourceFolders } from "./source-table.ts";

/** Another program's session, as identified by that program. */
export interface Transcript {
  /** Path of one of the session's files; undefined if the program does not specify a path. */
  readonly path: string | undefined;
  /** Id of the session in the program. */
  readonly sourceId: string | undefined;
}

/** Result of importing a transcript. Contains no imports if no session was found. */
export interface TranscriptImport {
  /** Whether the session was skipped because it would require reading too many bytes. */
  readonly isTooLarge: boolean;
  readonly imports: readonly SessionImport[];
}

/** Imports one session with its subagents, unless that requires reading more than the given number of bytes. */
export async function importTranscript(
  { path, sourceId }: Transcript,
  options: ImportSessionsOptions,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<TranscriptImport> {
  const file = path === undefined ? undefined : toAbsolutePath(path);
  const folders = await findSourceFolders(file, options);
  if (folders === undefined) return { isTooLarge: false, imports: [] };
  const cache = cacheFor(options);
  const imports: SessionImport[] = [];
  let isTooLarge = false;
  const isAllowed = (bytes: number) => {
    isTooLarge ||= bytes > maxBytes;
    return bytes <= maxBytes;
  };
  const round = importRound(
    { ...options, paths: folders },
    {
      cache,
      tellsGone: false,
      wants: (session) => {
        const isMeant =
          file === undefined ? session.sourceId === sourceId : session.files.some((one) => one.path === file);
        const known = cache.getLastImports(makeSourceKey(session)).map(({ read }) => read?.size ?? 0);
        return isMeant && isAllowed(countSourceBytes(session) - Math.max(0, ...known));
      },
      mayReadAll: (session) => isAllowed(countSourceBytes(session)),
    },
  );
  for await (const one of round) imports.push(one);
  await cache.save();
  return { isTooLarge, imports };
}

function countSourceBytes({ files }: SourceSession): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Returns the files and folders that may contain a session's files; undefined if the given file does not contain a session yet.
 */
async function findSourceFolders(
  path: string | undefined,
  options: ImportSessionsOptions,
): Promise<string[] | undefined> {
  const { env = process.env } = options;
  if (path === undefined) return sourceFolders(env);
  const program = await findProgramOfFile(path, options);
  if (program === undefined) return undefined;
  const home = program.getHome?.(path);
  return home === undefined ? [path, ...program.folders(env, env["HOME"] || homedir())] : [home];
}

/** Returns the program that a file belongs to. Reads the whole file if necessary, because its first line may be long. */
async function findProgramOfFile(
  path: string,
  options: ImportSessionsOptions,
): Promise<SourceProgram | undefined> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  const reader = new SourceReader(options);
  try {
    const { size, mtimeMs, ctimeMs } = stats;
    const [facts] = await reader.readFacts({ path, size, mtimeMs, ctimeMs });
    return findProgram(facts?.source);
  } finally {
    await reader.close();
  }
}
