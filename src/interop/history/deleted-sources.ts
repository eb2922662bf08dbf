import { statSync } from "node:fs";
import { sep } from "node:path";
import { makeSourceKey } from "../../core/format/import-origin.ts";
import { callUnlessRefused } from "../../session/files/skipped-files.ts";
import type { SourceName } from "../import/imported-session.ts";
import type { ImportCache, KnownImport } from "./import-cache.ts";
import type { ImportTarget } from "./import-target.ts";
import { isDatabaseName } from "./source-file.ts";
import type { SourceSession } from "./source-program.ts";
import { getPaths, type SourceQuery } from "./source-query.ts";
import { SOURCE_PROGRAMS } from "./source-table.ts";

/** A session whose source was deleted. */
export interface GoneImport {
  readonly source: SourceName;
  readonly known: KnownImport;
}

/**
 * Finds sessions in the target whose sources were deleted, based on the imports recorded in the cache, and marks them in the
 * cache.
 *
 * @param found - All sessions that were found.
 * @returns Sessions under the paths of the query. Empty if the query selects a project or a time, because these are unknown for
 *   a deleted source.
 */
export async function findGone(
  found: readonly SourceSession[],
  target: ImportTarget,
  query: SourceQuery,
  cache: ImportCache,
): Promise<GoneImport[]> {
  if (query.project !== undefined || query.sinceMs !== undefined) return [];
  const paths = getPaths(query);
  const isMeant = (path: string) => paths.some((one) => path === one || path.startsWith(one + sep));
  const keys = new Set(found.map(makeSourceKey));
  const gone: GoneImport[] = [];
  for (const [key, stamp, sessions] of cache.allImports()) {
    const source = SOURCE_PROGRAMS.find(({ name }) => key.startsWith(`${name} `))?.name;
    const isAsked = source !== undefined && (query.sources?.includes(source) ?? true);
    const isGone = (one: KnownImport) => isMissing(one) || isDeleted(cache, one);
    if (!isAsked || keys.has(key) || !sessions.every((one) => isMeant(one.sourcePath) && isGone(one)))
      continue;
    for (const known of sessions) {
      if (known.isDeleted !== true && (await target.has(known.location))) gone.push({ source, known });
    }
    const marked = sessions.map((one) => ({ ...one, isGone: true }));
    if (sessions.some(({ isGone }) => isGone !== true)) cache.putImports(key, stamp, marked);
  }
  return gone;
}

/** Returns whether a session was deleted from a database, as of the last time that the database was read. */
function isDeleted(cache: ImportCache, { sourcePath: path, sourceId }: KnownImport): boolean {
  return (
    isDatabaseName(path) && cache.getLastFacts({ path }).every(({ sessionId }) => sessionId !== sourceId)
  );
}

function isMissing({ sourcePath }: KnownImport): boolean {
  // A compressed source still exists, even if this version of Node cannot decompress it.
  const paths = [sourcePath, `${sourcePath}.zst`];
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  // If the system denies access, the source is not considered deleted.
  return callUnlessRefused(() => !paths.some(isThere)) ?? false;
}
