import { readdirSync } from "node:fs";
import { uptime } from "node:os";
import { dirname, join } from "node:path";
import { readFront, readFrontBytes } from "../../catalog/list/deleted-imports.ts";
import type { AnySessionEntry } from "../../core/format/entry.ts";
import { callUnless } from "../../core/format/errors.ts";
import type { SessionHeader } from "../../core/format/header.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import { encodeRecord } from "../../core/jsonl/encode.ts";
import { type LineSource, makeLineSource } from "../../core/jsonl/line-source.ts";
import { getImportedRoot } from "../../session/files/user-folders.ts";
import {
  callIfPresent,
  type FileSystem,
  hasErrorCode,
  makeFolder,
  NotAPlainFileError,
  readPieces,
  readRange,
  realFileSystem,
  withOpenFile,
} from "../../session/fs/file-system.ts";
import { writeWhole } from "../../session/fs/write-whole.ts";
import { AppendFile } from "../../session/log/append-file.ts";
import { retryUntilUnchanged, toFileError } from "../../session/log/file-errors.ts";
import { FileLog } from "../../session/log/file-log.ts";
import { toLogLine } from "../../session/log/log-lines.ts";
import {
  awaitFile,
  replaceExclusively,
  replaceFile,
  retryAfterReplacement,
} from "../../session/log/replace-file.ts";
import {
  getSessionsRoot,
  joinProjectFolder,
  makeSessionFileName,
  toAbsolutePath,
} from "../../session/log/session-paths.ts";
import { findOldFileName } from "../../session/log/written-names.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { FileStore } from "../../stores/file/file-store.ts";
import { once } from "../../stores/remote/line-codec.ts";
import { findStrayLeaf, getEntryIds } from "./sync-plan.ts";

/** State of a session after an import. */
export interface WrittenSession {
  /** Size in bytes. Absent in a store. */
  readonly size?: number | undefined;
  /** Time when the session was written or last found intact, in Unix milliseconds. */
  readonly writtenMs?: number | undefined;
}

/** Bytes of a session. */
export type SessionBytes = Pick<AppendFile, "readRange">;

/** Returns the entries to append to a session in its current state; undefined to append nothing. */
type EntriesFor<Session> = (session: Session) => readonly AnySessionEntry[] | undefined;

/** Returns the lines that replace a session's bytes; undefined to keep the bytes. */
type LinesFor = (bytes: Uint8Array) => Iterable<string> | undefined;

/** Store that an import writes to. A location is a session's path, or its id in a store. */
export interface ImportTarget {
  /** Name of the store, used by the cache. */
  readonly name: string;
  /** Returns the location of a session, whether or not it exists yet. */
  getLocation(header: SessionHeader): string;
  /** Finds an existing session by id if this does not require a request. */
  find(id: string): string | undefined;
  /**
   * Returns whether a session exists.
   *
   * @param written - State after the last import, if known. A session that has since been damaged by a power failure is treated
   *   as missing.
   */
  has(location: string, written?: WrittenSession): Promise<boolean>;
  /** Returns a session's size in bytes if this does not require a request. */
  getSize(location: string): number | undefined;
  /** Reads a session's header and first entry; undefined if the session is missing. */
  readFront(location: string): Promise<Uint8Array | undefined>;
  /** Reads a whole session; undefined if it is missing. */
  read(location: string): Promise<Uint8Array | undefined>;
  /** Creates a session. Returns false if it already exists. */
  create(location: string, lines: Iterable<string>): Promise<boolean>;
  /**
   * Appends entries to a session. If another writer continues the session in the meantime, that writer's leaf is kept.
   *
   * @returns False if nothing was appended, because there was nothing to append or the session no longer exists.
   */
  grow(location: string, entriesFor: EntriesFor<LineSource>): Promise<boolean>;
  /**
   * Appends entries to a session that has not changed since the last import, without indexing the session. Absent if the store
   * does not support this.
   *
   * @param size - Size of the session after the last import, in bytes.
   * @returns False if nothing was appended.
   */
  extend?(location: string, size: number, entriesFor: EntriesFor<SessionBytes>): Promise<boolean>;
  /**
   * Replaces the lines of a session. Absent if the store does not support this.
   *
   * @returns False if nothing was replaced, because the session has changed or no longer exists.
   */
  replace?(location: string, linesFor: LinesFor): Promise<boolean>;
}

/** Location of new session files. */
interface FileLayout {
  /** Folder for all sessions; undefined to use a folder for each project. */
  readonly folder: string | undefined;
  /** Parent of the project folders, if there is no single folder for all sessions. */
  readonly root: string;
}

/** Options for the target of an import. */
interface TargetOptions {
  /** A single flat folder. Default: the folder for imported sessions. */
  readonly sessionDir?: string;
  readonly store?: SessionStore;
  /** Name of the store. Required for a store other than a file store. */
  readonly storeName?: string;
  /** Additional folders that may contain imported sessions. */
  readonly earlierDirs?: readonly string[];
}

/** Creates the target of an import. Throws if a store other than a file store has no name, or if there are two targets. */
export function importTarget({
  sessionDir,
  store,
  storeName,
  earlierDirs = [],
}: TargetOptions): ImportTarget {
  if (sessionDir !== undefined && store !== undefined)
    throw new TypeError("Specify the target of an import as sessionDir or store, but not both.");
  if (store === undefined || store instanceof FileStore) {
    const own = sessionDir === undefined ? undefined : toAbsolutePath(sessionDir);
    const { folder, root } = store ?? { folder: own, root: getImportedRoot() };
    const roots = [...earlierDirs.map(toAbsolutePath), getSessionsRoot(), getImportedRoot(), root];
    const list = () =>
      new Map(folder === undefined ? roots.flatMap(findSessionsBelow) : findSessions(folder));
    return new FileTarget({ folder, root }, list);
  }
  if (storeName !== undefined) return new StoreTarget(store, storeName);
  throw new TypeError("Name the store with storeName. The import cache identifies the store by this name.");
}

/** Finds the sessions in a folder and in its immediate subfolders. */
function findSessionsBelow(folder: string): [id: string, path: string][] {
  return [folder, ...listSessionNames(folder).map((name) => join(folder, name))].flatMap(findSessions);
}

/** Finds sessions by the ids in their file names, even if the files were moved. */
function findSessions(folder: string): [id: string, path: string][] {
  return listSessionNames(folder).flatMap((name): [string, string][] => {
    // While a file is being replaced, it may exist only under another name for a moment.
    const own = findOldFileName(name) ?? name;
    const id = /_([^/\\]+)\.jsonl$/.exec(own)?.[1];
    return id === undefined ? [] : [[id, join(folder, own)]];
  });
}

/** @throws {SessionError} If the system denies access. Otherwise, even redacted sessions would be imported again. */
function listSessionNames(folder: string): string[] {
  try {
    return callIfPresent(() => readdirSync(folder)) ?? [];
  } catch (error) {
    // The folder is a link that points to itself.
    if (hasErrorCode(error, "ELOOP")) return [];
    throw toFileError(folder, "read", error);
  }
}

/**
 * Returns whether the operating system was started after the given time. Data written before the system was started may have been
 * lost in a power failure.
 */
export function isOlderThanSystem(writtenMs: number): boolean {
  return writtenMs <= Date.now() - uptime() * 1000;
}

/** Imports into session files, either in a single folder or in a folder for each project. */
export class FileTarget implements ImportTarget {
  readonly name: string;
  readonly #folder: string | undefined;
  readonly #root: string;
  readonly #list: () => ReadonlyMap<string, string>;
  readonly #fs: FileSystem;
  #byId: ReadonlyMap<string, string> | undefined;

  /** @param list - Finds the paths of sessions by id. Called only when the paths are needed. */
  constructor(
    { folder, root }: FileLayout,
    list: () => ReadonlyMap<string, string>,
    fs: FileSystem = realFileSystem,
  ) {
    this.#fs = fs;
    this.#folder = folder;
    this.#root = root;
    this.#list = list;
    this.name = folder ?? root;
  }

  getLocation({ id, timestamp, cwd }: SessionHeader): string {
    const folder = this.#folder ?? joinProjectFolder(this.#root, cwd || "/");
    return this.find(id) ?? join(folder, makeSessionFileName(timestamp, id));
  }

  find(id: string): string | undefined {
    this.#byId ??= this.#list();
    return this.#byId.get(id);
  }

  async has(path: string, { size, writtenMs = 0 }: WrittenSession = {}): Promise<boolean> {
    if (size !== undefined) return isWholeFile(this.#fs, path, size, isOlderThanSystem(writtenMs));
    return this.getSize(path) !== undefined;
  }

  getSize(path: string): number | undefined {
    return callIfPresent(() => retryAfterReplacement(this.#fs, path, () => this.#fs.statSync(path)))?.size;
  }

  async readFront(path: string): Promise<Uint8Array | undefined> {
    return readFront(path);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const fs = this.#fs;
    // While a file is being replaced, its path may not exist.
    if (!isPlainFile(fs, path)) awaitFile(fs, path);
    if (!isPlainFile(fs, path)) return undefined;
    return callIfPresent(() => withOpenFile(fs, path, (fd) => readRange(fs, fd, 0, fs.fstatSync(fd).size)));
  }

  async create(path: string, lines: Iterable<string>): Promise<boolean> {
    try {
      makeFolder(this.#fs, dirname(path));
      writeWhole({ fs: withoutFlush(this.#fs), path, pieces: lines });
      return true;
    } catch (error) {
      if (hasErrorCode(error, "EEXIST")) return false;
      throw toFileError(path, "write", error);
    }
  }

  async grow(path: string, entriesFor: EntriesFor<LineSource>): Promise<boolean> {
    const fs = this.#fs;
    return (
      writeUnlessRemoved(fs, path, () =>
        replaceExclusively(fs, path, () => growFile(fs, path, entriesFor)),
      ) ?? false
    );
  }

  async extend(path: string, size: number, entriesFor: EntriesFor<SessionBytes>): Promise<boolean> {
    const fs = this.#fs;
    const extend = () => extendFile(fs, path, size, entriesFor);
    return writeUnlessRemoved(fs, path, () => replaceExclusively(fs, path, extend)) ?? false;
  }

  async replace(path: string, linesFor: LinesFor): Promise<boolean> {
    const fs = this.#fs;
    const replace = (fd: number) => {
      const copied = fs.fstatSync(fd).size;
      const pieces = linesFor(readRange(fs, fd, 0, copied));
      if (pieces === undefined) return false;
      replaceFile({ old: { fs, path, fd, copied }, pieces });
      return true;
    };
    const exclusive = () =>
      retryUntilUnchanged(() => replaceExclusively(fs, path, () => withOpenFile(fs, path, replace)));
    return writeUnlessRemoved(fs, path, exclusive) ?? false;
  }
}

function growFile(fs: FileSystem, path: string, entriesFor: EntriesFor<LineSource>): boolean {
  const log = FileLog.open(path, { fs });
  if (log === undefined) return false;
  try {
    const before = getEntryIds(log);
    const entries = entriesFor(log);
    if (entries === undefined || entries.length === 0) return false;
    log.append(entries.map(toLogLine), true);
    log.refresh();
    const isAlone = log.index.tree.size === before.size + entries.length;
    const stray = isAlone ? undefined : findStrayLeaf(log, before, entries);
    if (stray !== undefined) log.append([toLogLine(stray)], true);
    return true;
  } finally {
    log.release();
  }
}

function extendFile(
  fs: FileSystem,
  path: string,
  size: number,
  entriesFor: EntriesFor<SessionBytes>,
): boolean {
  const file = new AppendFile(fs, path);
  try {
    const { header, version } = makeLineSource(readFront(path) ?? "").index;
    const isOurs = header !== undefined && version === CURRENT_SESSION_VERSION && file.state().size === size;
    const entries = isOurs ? file.read(() => entriesFor(file)) : undefined;
    if (entries === undefined || entries.length === 0) return false;
    const bytes = Buffer.from(entries.map((entry) => `${encodeRecord(entry)}\n`).join(""));
    // As with a new file, another import restores data lost in a power failure.
    if (file.append(bytes, bytes.length, size, false) === undefined) return false;
    if (file.state().size !== size + bytes.length) keepStrayLeaf(fs, path, size, entries);
    return true;
  } finally {
    file.release();
  }
}

/** Preserves the leaf of another writer that continued a file of the given size before entries were appended. */
function keepStrayLeaf(
  fs: FileSystem,
  path: string,
  size: number,
  entries: readonly AnySessionEntry[],
): void {
  const log = FileLog.open(path, { fs });
  if (log === undefined) return;
  try {
    const { tree, spans } = log.index;
    const before = Array.from(tree.ordinals()).filter((ordinal) => spans.offsetAt(ordinal) < size);
    const stray = findStrayLeaf(log, new Set(before.map((ordinal) => tree.idAt(ordinal))), entries);
    if (stray !== undefined) log.append([toLogLine(stray)], true);
  } finally {
    log.release();
  }
}

/**
 * Returns a file system that does not flush writes. The next import completes files after a power failure, and a thousand flushes
 * would take longer than the rest of the import.
 */
function withoutFlush(fs: FileSystem): FileSystem {
  return { ...fs, fsyncSync: () => undefined };
}

/** Runs a function that writes to a file. Returns undefined if the file was removed in the meantime. */
function writeUnlessRemoved<T>(fs: FileSystem, path: string, write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (isPlainFile(fs, path)) throw toFileError(path, "write", error);
    return undefined;
  }
}

/** Returns false if the path does not exist. Throws if the path is a link, a folder, or a pipe. */
function isPlainFile(fs: FileSystem, path: string): boolean {
  const stats = callIfPresent(() => fs.lstatSync(path));
  if (stats === undefined || stats.isFile()) return stats !== undefined;
  throw toFileError(path, "write", new NotAPlainFileError(`${path} is not a plain file`));
}

/**
 * Returns whether a file has at least the given size and ends with a line break, which may not be the case after a power failure.
 * A suspect file also must not contain zero bytes.
 */
function isWholeFile(fs: FileSystem, path: string, size: number, isSuspect: boolean): boolean {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.size < size || stats.size === 0) return false;
  const isWhole = (fd: number) => {
    if (readRange(fs, fd, stats.size - 1, 1)[0] !== LINE_FEED) return false;
    if (isSuspect) for (const piece of readPieces(fs, fd, 0, stats.size)) if (piece.includes(0)) return false;
    return true;
  };
  // The file may be removed in the meantime.
  return callIfPresent(() => withOpenFile(fs, path, isWhole)) ?? false;
}

const LINE_FEED = 0x0a;

/** Imports into any other store, without ever replacing sessions. */
class StoreTarget implements ImportTarget {
  readonly name: string;
  readonly #store: SessionStore;
  /** Ids of the sessions that existed at the time of the first request. */
  #ids: Set<string> | undefined;

  constructor(store: SessionStore, name: string) {
    this.#store = store;
    this.name = name;
  }

  getLocation({ id }: SessionHeader): string {
    return id;
  }

  find(id: string): string {
    return id;
  }

  async has(id: string): Promise<boolean> {
    if (this.#ids === undefined) {
      const ids = new Set<string>();
      for await (const session of this.#store.list()) ids.add(session.id);
      this.#ids = ids;
    }
    return this.#ids.has(id);
  }

  getSize(): undefined {
    return undefined;
  }

  readFront(id: string): Promise<Uint8Array | undefined> {
    return callUnless("SESSION_NOT_FOUND", () => readFrontBytes(this.#store.exportBytes(id)));
  }

  read(id: string): Promise<Uint8Array | undefined> {
    return callUnless("SESSION_NOT_FOUND", async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of this.#store.exportBytes(id)) pieces.push(piece.slice());
      return Buffer.concat(pieces);
    });
  }

  async create(id: string, lines: Iterable<string>): Promise<boolean> {
    const importLines = () => this.#store.importBytes(once(Buffer.from([...lines].join(""))));
    if ((await callUnless("SESSION_EXISTS", importLines)) === undefined) return false;
    this.#ids?.add(id);
    return true;
  }

  async grow(id: string, entriesFor: EntriesFor<LineSource>): Promise<boolean> {
    const bytes = await this.read(id);
    const session = bytes && makeLineSource(bytes);
    const entries = session && entriesFor(session);
    if (session === undefined || entries === undefined || entries.length === 0) return false;
    const append = async (added: readonly AnySessionEntry[]) => {
      await this.#store.appendEntries(id, added);
      return true;
    };
    if (!(await callUnless("SESSION_NOT_FOUND", () => append(entries)))) return false;
    const now = await this.read(id);
    const stray = now && findStrayLeaf(makeLineSource(now), getEntryIds(session), entries);
    if (stray !== undefined) await callUnless("SESSION_NOT_FOUND", () => append([stray]));
    return true;
  }
}
