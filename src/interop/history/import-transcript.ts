import { statSync } from "node:fs";
import { homedir } from "node:os";
import { sourceKeyOf } from "../../core/format/import-origin.ts";
import { absolutePath } from "../../session/log/session-paths.ts";
import { readFileFacts } from "./file-facts.ts";
import { cacheFor, type ImportSessionsOptions, importRound, type SessionImport } from "./import-sessions.ts";
import type { SourceProgram, SourceSession } from "./source-program.ts";
import { copiesFor } from "./source-query.ts";
import { programOf, sourceFolders } from "./source-table.ts";

/** A session of another program, as that program names it. */
export interface Transcript {
  /** A file of the session; undefined if the program does not name one. */
  readonly path: string | undefined;
  /** Id of the session in its program. */
  readonly sourceId: string | undefined;
}

/** What became of a transcript; with no imports if no session was found. */
export interface TranscriptImport {
  /** Whether the session was left alone because there is more to read than was allowed. */
  readonly isTooLarge: boolean;
  readonly imports: readonly SessionImport[];
}

/** Imports one session, with its subagents, unless more bytes than so many are to be read. */
export async function importTranscript(
  { path, sourceId }: Transcript,
  options: ImportSessionsOptions,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<TranscriptImport> {
  const file = path === undefined ? undefined : absolutePath(path);
  const folders = foldersFor(file, options);
  if (folders === undefined) return { isTooLarge: false, imports: [] };
  const cache = cacheFor(options);
  const imports: SessionImport[] = [];
  let isTooLarge = false;
  const isAllowed = (bytes: number) => {
    isTooLarge ||= bytes > mostBytes;
    return bytes <= mostBytes;
  };
  const round = importRound(
    undefined,
    { ...options, paths: folders },
    {
      cache,
      tellsGone: false,
      wants: (session) => {
        const isMeant =
          file === undefined ? session.sourceId === sourceId : session.files.some((one) => one.path === file);
        const known = cache.lastImportsOf(sourceKeyOf(session)).map(({ read }) => read?.size ?? 0);
        return isMeant && isAllowed(sizeOf(session) - Math.max(0, ...known));
      },
      mayReadAll: (session) => isAllowed(sizeOf(session)),
    },
  );
  for await (const one of round) imports.push(one);
  await cache.save();
  return { isTooLarge, imports };
}

function sizeOf({ files }: SourceSession): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Returns the files and folders in which the files of a session may be; undefined if a file holds none yet. */
function foldersFor(path: string | undefined, options: ImportSessionsOptions): string[] | undefined {
  const { env = process.env } = options;
  if (path === undefined) return sourceFolders(env);
  const program = programOfFile(path, options);
  if (program === undefined) return undefined;
  const home = program.homeOf?.(path);
  return home === undefined ? [path, ...program.folders(env, env["HOME"] || homedir())] : [home];
}

/** Returns the program of a file, by all of it, since a first line may be long. */
function programOfFile(path: string, options: ImportSessionsOptions): SourceProgram | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  const copies = copiesFor(options);
  try {
    const [facts] = readFileFacts({ path, size: stats.size, mtimeMs: stats.mtimeMs }, copies);
    return programOf(facts?.source);
  } finally {
    copies.remove();
  }
}
