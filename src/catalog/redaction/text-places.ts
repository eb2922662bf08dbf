import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { callUnless } from "../../core/format/errors.ts";
import { canHoldText, listCacheFiles } from "../../session/files/cache-files.ts";
import { cacheFolders } from "../../session/files/forget-session.ts";
import { listPages } from "../../session/files/page-files.ts";
import { type CatalogScope, getScopeFolders, makeScopeTest } from "../../session/files/session-files.ts";
import { ignoreSkipped } from "../../session/files/skipped-files.ts";
import { callIfPresent } from "../../session/fs/file-system.ts";
import { parseWrittenName } from "../../session/log/written-names.ts";
import { Descent, type SessionLineage } from "../list/lineage.ts";
import { listSessions } from "../list/list-sessions.ts";
import { listTrashed, listTrashedBackups, listTrashFolders, type TrashedSession } from "../trash/restore.ts";

/**
 * Type of place that contains session text.
 *
 * `session`: a session file; `stored`: a session in a store; `trash`: a session in the trash; `backup`: a file left by
 * an upgrade, a repair, or an interrupted replacement; `temporary`: a file left by a killed process; `cache`: cached
 * rows of lists and imports; `page`: a page that `view` wrote for the browser; `other`: another program's file,
 * which is never changed.
 */
export type PlaceKind = "session" | "stored" | "trash" | "backup" | "temporary" | "cache" | "page" | "other";

/** File that may contain session text. */
export interface TextPlace {
  readonly kind: PlaceKind;
  /** Absolute path. */
  readonly path: string;
}

/** Sessions included in a redaction. */
export interface PlaceQuery {
  /** All sessions in these scopes, and other files in their folders. */
  readonly scopes: readonly CatalogScope[];
  /** Only these session files, the sessions they were forked from, and all forks of any of these sessions. */
  readonly paths?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Finds all files that may contain text of the selected sessions. */
export async function findPlaces(query: PlaceQuery): Promise<TextPlace[]> {
  const { scopes, paths, signal } = query;
  const sessions = new Map<string, SessionLineage>();
  for (const scope of scopes) {
    for (const row of await listSessions({ ...scope, cache: false, ...(signal && { signal }) }))
      sessions.set(row.path, row);
  }
  const folders = new Set(scopes.flatMap((scope) => getScopeFolders(scope, ignoreSkipped)));
  const trashed = await findTrashed([...folders]);
  const family = paths && findFamily(paths, [...sessions.values()], trashed);
  const places = new Map<string, TextPlace>();
  const put = (kind: PlaceKind, path: string) => {
    if (!places.has(path)) places.set(path, { kind, path });
  };
  for (const path of family ?? sessions.keys())
    if (sessions.has(path) || paths?.includes(path)) put("session", path);
  const isWhole = (folder: string) =>
    family === undefined && scopes.some((scope) => isOnlyOfScope(scope, folder));
  const names = new Set(family ?? sessions.keys());
  for (const folder of new Set([...folders, ...[...names].map((path) => dirname(path))])) {
    for (const { kind, path, of } of findBeside(folder, names)) {
      if (isWhole(folder) || (of !== undefined && names.has(of)) || kind === "temporary") put(kind, path);
    }
  }
  for (const one of trashed)
    if (family?.has(one.path) ?? isInScopes(one, scopes)) put("trash", one.trashPath);
  for (const { kind, path, of } of findBesideTrashed(trashed, [...folders]))
    if (kind === "temporary" || isWhole(dirname(of)) || names.has(of)) put(kind, path);
  for (const { kind, path } of [...cacheFiles(), ...listPages()]) put(kind, path);
  return [...places.values()];
}

/** Returns whether everything in a folder belongs to a scope. */
function isOnlyOfScope(scope: CatalogScope, folder: string): boolean {
  if (scope.sessionDir !== undefined && scope.cwd !== undefined) return false;
  return getScopeFolders(scope, ignoreSkipped).includes(folder);
}

function isInScopes({ path, session }: TrashedSession, scopes: readonly CatalogScope[]): boolean {
  return scopes.some((scope) => {
    const isThere = scope.sessionDir === undefined || dirname(path) === scope.sessionDir;
    return isThere && makeScopeTest(scope)(session.cwd, dirname(path));
  });
}

/** Returns the paths of the given sessions, their ancestors, and the descendants of all of these sessions. */
function findFamily(
  paths: readonly string[],
  sessions: readonly SessionLineage[],
  trashed: readonly TrashedSession[],
): ReadonlySet<string> {
  const gone = trashed.map(({ path, session }): SessionLineage => {
    const { id, parentSession } = session;
    return { path, id, ...(parentSession !== undefined && { parentSession }) };
  });
  const all = [...sessions, ...gone];
  const family = new Descent(all).findFamily(all.filter(({ path }) => paths.includes(path)));
  return new Set([...paths, ...[...family].map(({ path }) => path)]);
}

/** Yields the files next to sessions in a folder, each with the path of its session. */
function* findBeside(
  folder: string,
  sessions: Pick<ReadonlySet<string>, "has">,
): Generator<TextPlace & { readonly of?: string | undefined }, void> {
  const isSession = (name: string) => name.endsWith(".jsonl") || sessions.has(join(folder, name));
  for (const name of listNames(folder)) {
    const path = join(folder, name);
    if (!isFile(path)) continue;
    const { kind, session } = parseWrittenName(name, isSession) ?? {};
    if (kind === "temporary") yield { kind, path };
    else if (kind !== undefined) yield { kind: "backup", path, of: session && join(folder, session) };
    else if (/\.jsonl/.test(name) && !name.endsWith(".lease")) {
      yield { kind: "other", path, of: join(folder, name.replace(/(\.jsonl).*$/, "$1")) };
    }
  }
}

/** Returns the sessions in the trash; empty on systems where programs cannot read the trash. */
async function findTrashed(folders: readonly string[]): Promise<TrashedSession[]> {
  const list = () => listTrashed(folders.length > 0 ? { folders } : {});
  return (await callUnless("SESSION_NOT_FOUND", list)) ?? [];
}

/**
 * Yields the backups and abandoned temporary files in the trash, each with the former path of its session.
 */
function* findBesideTrashed(
  trashed: readonly TrashedSession[],
  folders: readonly string[],
): Generator<TextPlace & { readonly of: string }, void> {
  const before = new Map(trashed.map(({ path, trashPath }) => [trashPath, path]));
  for (const { path, trashPath } of listTrashedBackups(folders)) {
    const { session = "" } = parseWrittenName(basename(path)) ?? {};
    yield { kind: "backup", path: trashPath, of: join(dirname(path), session) };
  }
  for (const folder of listTrashFolders(folders))
    for (const { kind, path, of = "" } of findBeside(join(folder.path, "files"), before)) {
      const session = before.get(of);
      if (kind === "temporary") yield { kind, path, of };
      else if (kind === "backup" && session !== undefined) yield { kind, path, of: session };
    }
}

function cacheFiles(): TextPlace[] {
  return [...cacheFolders()].flatMap((folder) => [
    ...listCacheFiles(folder, "folder", "imports", "unfinished")
      .filter(canHoldText)
      .map((path): TextPlace => ({ kind: "cache", path })),
    ...listCacheFiles(folder, "temporary").map((path): TextPlace => ({ kind: "temporary", path })),
  ]);
}

function listNames(folder: string): string[] {
  if (callIfPresent(() => statSync(folder))?.isDirectory() !== true) return [];
  return callIfPresent(() => readdirSync(folder)) ?? [];
}

function isFile(path: string): boolean {
  return callIfPresent(() => statSync(path))?.isFile() === true;
}

/** Returns the session path that an old file belongs to; undefined for other files. */
export function findSessionOfOld(path: string): string | undefined {
  const { kind, session } = parseWrittenName(basename(path), () => true) ?? {};
  return kind === "old" && session !== undefined ? join(dirname(path), session) : undefined;
}
