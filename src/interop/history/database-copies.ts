import { chmodSync, constants, copyFileSync, rmSync, statSync } from "node:fs";
import { SessionError } from "../../core/format/errors.ts";
import { FILE_MODE, makeFolder, realFileSystem } from "../../session/fs/file-system.ts";
import {
  BESIDE_DATABASE,
  makeTemporaryPath,
  removeLeftovers,
  removeTemporary,
} from "../../session/fs/temporary-files.ts";
import { canReadDatabases, type LookupColumns, prepareDatabase } from "./sqlite.ts";

/** Maximum size of a database that is copied without being explicitly specified by the caller: 1 GB. */
const LARGE_BYTES = 1024 ** 3;

/** Maximum number of attempts to copy files while other processes write to them. */
const MAX_ATTEMPTS = 20;

/** Suffixes of a database's files: the database itself, its log, and the rollback journal of an interrupted change. */
const PARTS = ["", "-wal", "-journal"] as const;

/** Copies a database to a path. */
type CopyDatabase = (path: string, copy: string, bytes: number) => Promise<void>;

/**
 * Copies of other programs' databases, which a run reads instead of the originals.
 *
 * Reading a database changes files next to it, so the originals are never opened.
 */
export class DatabaseCopies {
  readonly #parent: string;
  readonly #named: ReadonlySet<string>;
  readonly #copy: CopyDatabase;
  readonly #copies = new Map<string, string>();

  /**
   * @param parent - Folder for the copies.
   * @param named - Paths of databases specified by the caller.
   */
  constructor(parent: string, named: Iterable<string>, copy: CopyDatabase) {
    this.#parent = parent;
    this.#named = new Set(named);
    this.#copy = copy;
  }

  /** Returns the path of a database's copy, which includes the content of its log. */
  async of(path: string): Promise<string> {
    const known = this.#copies.get(path);
    if (known !== undefined) return known;
    if (!canReadDatabases()) throw makeNoDatabasesError(path);
    const bytes = readStates(path).reduce((sum, { size }) => sum + size, 0);
    if (bytes > LARGE_BYTES && !this.#named.has(path)) throw makeDatabaseTooLargeError(path, bytes);
    const copy = makeCopyPath(this.#parent);
    try {
      await this.#copy(path, copy, bytes);
    } catch (error) {
      removeCopy(copy);
      throw error;
    }
    this.#copies.set(path, copy);
    return copy;
  }

  /** Removes all copies. */
  remove(): void {
    for (const copy of this.#copies.values()) removeCopy(copy);
    this.#copies.clear();
  }
}

/** Returns a path for a copy, and removes copies left by killed imports. */
export function makeCopyPath(folder: string): string {
  makeFolder(realFileSystem, folder);
  removeLeftovers(realFileSystem, folder);
  return makeTemporaryPath(folder);
}

/** Copies a database and prepares the copy for reading. The caller must remove the copy, even after a failure. */
export function copyDatabase(path: string, copy: string, lookups: LookupColumns): void {
  copyWhole(path, copy);
  prepareDatabase(copy, lookups);
}

/** Removes the copy of a database, and the files that were created next to it during reading. */
export function removeCopy(copy: string): void {
  for (const suffix of ["", ...BESIDE_DATABASE]) removeTemporary(realFileSystem, copy + suffix);
}

/** State of a file, used to detect changes. */
interface FileState {
  readonly suffix: string;
  readonly size: number;
  readonly key: string;
}

function readStates(path: string): FileState[] {
  return PARTS.flatMap((suffix) => {
    const stats = statSync(path + suffix, { bigint: true, throwIfNoEntry: suffix === "" });
    if (stats === undefined) return [];
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return { suffix, size: Number(size), key: `${suffix} ${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` };
  });
}

/** Copies a database and its accompanying files consistently. Files that changed in the meantime are copied again. */
function copyWhole(path: string, copy: string): void {
  let copied: readonly FileState[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const states = readStates(path);
    for (const suffix of PARTS) {
      const key = makeStateKey(states, suffix);
      if (key === makeStateKey(copied, suffix)) continue;
      // The copy of a read-only file could not be overwritten.
      rmSync(copy + suffix, { force: true });
      if (key === undefined) continue;
      copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
      chmodSync(copy + suffix, FILE_MODE);
    }
    copied = states;
    const now = readStates(path);
    if (PARTS.every((suffix) => makeStateKey(now, suffix) === makeStateKey(copied, suffix))) return;
  }
  throw makeDatabaseBusyError(path);
}

function makeStateKey(states: readonly FileState[], suffix: string): string | undefined {
  return states.find((one) => one.suffix === suffix)?.key;
}

function makeNoDatabasesError(path: string): SessionError {
  const message = `${path} is a database, which this version of Node cannot read. Use Node 22.13 or later, or export its sessions, for example with "opencode export", and import the exported files.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function makeDatabaseTooLargeError(path: string, bytes: number): SessionError {
  const size = (bytes / LARGE_BYTES).toFixed(1);
  const message = `${path} has ${size} GB, and an import would have to copy it first. To import it anyway, name it: sessiontree import ${path}`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function makeDatabaseBusyError(path: string): SessionError {
  const message = `Cannot read ${path}: another program keeps writing to it. Try again later.`;
  return new SessionError("READ_FAILED", message, { details: { path } });
}
