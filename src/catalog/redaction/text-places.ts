import { readdirSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isSessionError } from "../../core/format/errors.ts";
import { cacheFolders } from "../../session/files/forget-session.ts";
import { belongsTo, type CatalogScope, foldersOf } from "../../session/files/session-files.ts";
import { ignoreSkipped } from "../../session/files/skipped-files.ts";
import { ifPresent } from "../../session/fs/file-system.ts";
import { TEMPORARY_FOLDER_PREFIX } from "../../session/fs/temporary-files.ts";
import { Descent, type SessionLineage } from "../list/lineage.ts";
import { listSessions } from "../list/list-sessions.ts";
import { listTrashed, type TrashedSession } from "../trash/restore.ts";

/**
 * What holds text of sessions.
 *
 * `session`: a session file; `stored`: a session in a store; `trash`: a session in the trash; `backup`: what an upgrade, a repair or
 * an interrupted replacement left; `temporary`: what a killed process left; `cache`: cached rows of lists and imports; `page`: a
 * page that `view` wrote for the browser; `other`: a file of another program, which is never changed.
 */
export type PlaceKind = "session" | "stored" | "trash" | "backup" | "temporary" | "cache" | "page" | "other";

/** A file that may hold text of sessions. */
export interface TextPlace {
  readonly kind: PlaceKind;
  /** Absolute. */
  readonly path: string;
}

/** Which sessions a redaction is about. */
export interface PlaceQuery {
  /** All sessions of these scopes, and what else is in their folders. */
  readonly scopes: readonly CatalogScope[];
  /** Only these session files, those they were forked from, and all that were forked from those. */
  readonly paths?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Names of what this library leaves beside a session file, behind the name of the session. */
const BACKUP = /^(.+\.jsonl)(?:\.v\d+)?\.(?:bak|damaged)(?:\.\d+)?$/;

/** An old file whose last lines were not copied yet. */
const RETIRED = /^\.(.+)\.old$/;

const TEMPORARY = /^\.[0-9a-f-]+\.tmp$/;

/** Finds everything that may hold text of some sessions. */
export async function findPlaces(query: PlaceQuery): Promise<TextPlace[]> {
  const { scopes, paths, signal } = query;
  const sessions = new Map<string, SessionLineage>();
  for (const scope of scopes) {
    for (const row of await listSessions({ ...scope, cache: false, ...(signal && { signal }) }))
      sessions.set(row.path, row);
  }
  const folders = new Set(scopes.flatMap((scope) => foldersOf(scope, ignoreSkipped)));
  const trashed = await trashedIn([...folders]);
  const family = paths && familyOf(paths, [...sessions.values()], trashed);
  const places = new Map<string, TextPlace>();
  const put = (kind: PlaceKind, path: string) => {
    if (!places.has(path)) places.set(path, { kind, path });
  };
  for (const path of family ?? sessions.keys())
    if (sessions.has(path) || paths?.includes(path)) put("session", path);
  const isWhole = (folder: string) =>
    family === undefined && scopes.some((scope) => holdsOnly(scope, folder));
  const names = new Set(family ?? sessions.keys());
  for (const folder of new Set([...folders, ...[...names].map((path) => dirname(path))])) {
    for (const { kind, path, of } of besideIn(folder)) {
      if (isWhole(folder) || (of !== undefined && names.has(of)) || kind === "temporary") put(kind, path);
    }
  }
  for (const one of trashed)
    if (family?.has(one.path) ?? isInScopes(one, scopes)) put("trash", one.trashPath);
  for (const path of cacheFiles()) put("cache", path);
  for (const path of pageFiles()) put("page", path);
  return [...places.values()];
}

/** Tells whether all in a folder is of a scope. */
function holdsOnly(scope: CatalogScope, folder: string): boolean {
  if (scope.sessionDir !== undefined && scope.cwd !== undefined) return false;
  return foldersOf(scope, ignoreSkipped).includes(folder);
}

function isInScopes({ path, session }: TrashedSession, scopes: readonly CatalogScope[]): boolean {
  return scopes.some((scope) => {
    const isThere = scope.sessionDir === undefined || dirname(path) === scope.sessionDir;
    return isThere && belongsTo(scope)(session.cwd, dirname(path));
  });
}

/** Returns sessions, those that they descend from, and all that descend from those, by path. */
function familyOf(
  paths: readonly string[],
  sessions: readonly SessionLineage[],
  trashed: readonly TrashedSession[],
): ReadonlySet<string> {
  const gone = trashed.map(({ path, session }): SessionLineage => {
    const { id, parentSession } = session;
    return { path, id, ...(parentSession !== undefined && { parentSession }) };
  });
  const all = [...sessions, ...gone];
  const family = new Descent(all).familyOf(all.filter(({ path }) => paths.includes(path)));
  return new Set([...paths, ...[...family].map(({ path }) => path)]);
}

/** Yields what is in a folder of sessions beside them, and the path of the session that it belongs to. */
function* besideIn(folder: string): Generator<TextPlace & { readonly of?: string }, void> {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const of = BACKUP.exec(name)?.[1] ?? RETIRED.exec(name)?.[1];
    if (!isFile(path)) continue;
    if (of !== undefined) yield { kind: "backup", path, of: join(folder, of) };
    else if (TEMPORARY.test(name)) yield { kind: "temporary", path };
    else if (/\.jsonl/.test(name) && !name.endsWith(".lease")) {
      yield { kind: "other", path, of: join(folder, name.replace(/(\.jsonl).*$/, "$1")) };
    }
  }
}

/** Systems whose trash no program can read have none to look through. */
async function trashedIn(folders: readonly string[]): Promise<TrashedSession[]> {
  try {
    return await listTrashed(folders.length > 0 ? { folders } : {});
  } catch (error) {
    if (isSessionError(error, "SESSION_NOT_FOUND")) return [];
    throw error;
  }
}

function cacheFiles(): string[] {
  return [...cacheFolders()].flatMap((folder) =>
    filesIn(folder).filter((path) => /\.json(?:\.\d+)?$/.test(path)),
  );
}

/** Lists the pages in the folder for temporary files, and copies of stored sessions that a killed process left. */
function pageFiles(): string[] {
  const temporary = ifPresent(() => realpathSync(tmpdir())) ?? tmpdir();
  return namesIn(temporary)
    .filter((name) => name.startsWith(TEMPORARY_FOLDER_PREFIX))
    .flatMap((name) => filesIn(join(temporary, name)))
    .filter((path) => path.endsWith(".html"));
}

function filesIn(folder: string): string[] {
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter(isFile);
}

function namesIn(folder: string): string[] {
  if (ifPresent(() => statSync(folder))?.isDirectory() !== true) return [];
  return ifPresent(() => readdirSync(folder)) ?? [];
}

function isFile(path: string): boolean {
  return ifPresent(() => statSync(path))?.isFile() === true;
}

/** Returns the path of the session whose old file this is; undefined if it is something else. */
export function sessionOfRetired(path: string): string | undefined {
  const name = RETIRED.exec(basename(path))?.[1];
  return name === undefined ? undefined : join(dirname(path), name);
}
