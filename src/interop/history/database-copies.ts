import { chmodSync, constants, copyFileSync, rmSync, statSync } from "node:fs";
import { SessionError } from "../../core/format/errors.ts";
import { FILE_MODE, makeFolder, realFileSystem } from "../../session/fs/file-system.ts";
import { removeLeftovers, removeTemporary, temporaryPath } from "../../session/fs/temporary-files.ts";
import { canReadDatabases, foldLog } from "./sqlite.ts";

/** Size from which a database is only copied if the caller has named it: 1 GB. */
const LARGE_BYTES = 1024 ** 3;

/** How often files are looked at that others write to meanwhile. */
const MAX_ATTEMPTS = 20;

/** What stands beside a database: its log, or what an interrupted change must be undone with. */
const BESIDE = ["", "-wal", "-journal"] as const;

/**
 * Copies of other programs' databases, which a run reads in their place.
 *
 * Reading a database changes files beside it, so that nothing ever opens the original.
 */
export class DatabaseCopies {
  readonly #parent: string;
  readonly #named: ReadonlySet<string>;
  readonly #copies = new Map<string, string>();

  /**
   * @param parent - Folder of the copies.
   * @param named - Paths that the caller has named.
   */
  constructor(parent: string, named: Iterable<string>) {
    this.#parent = parent;
    this.#named = new Set(named);
  }

  /** Returns the path of the copy of a database, with all that its log holds. */
  of(path: string): string {
    const known = this.#copies.get(path);
    if (known !== undefined) return known;
    if (!canReadDatabases()) throw noDatabases(path);
    const bytes = statesOf(path).reduce((sum, { size }) => sum + size, 0);
    if (bytes > LARGE_BYTES && !this.#named.has(path)) throw tooLarge(path, bytes);
    makeFolder(realFileSystem, this.#parent);
    if (this.#copies.size === 0) removeLeftovers(realFileSystem, this.#parent);
    const copy = temporaryPath(this.#parent);
    try {
      copyWhole(path, copy);
      foldLog(copy);
    } catch (error) {
      removeCopy(copy);
      throw error;
    }
    this.#copies.set(path, copy);
    return copy;
  }

  /** Removes all copies; those of imports that were killed go before the first one is made. */
  remove(): void {
    for (const copy of this.#copies.values()) removeCopy(copy);
    this.#copies.clear();
  }
}

function removeCopy(copy: string): void {
  for (const suffix of [...BESIDE, "-shm"]) removeTemporary(realFileSystem, copy + suffix);
}

/** State of a file, by which it is known whether it has changed. */
interface FileState {
  readonly suffix: string;
  readonly size: number;
  readonly key: string;
}

function statesOf(path: string): FileState[] {
  return BESIDE.flatMap((suffix) => {
    const stats = statSync(path + suffix, { bigint: true, throwIfNoEntry: suffix === "" });
    if (stats === undefined) return [];
    const { dev, ino, size, mtimeNs } = stats;
    return { suffix, size: Number(size), key: `${suffix} ${dev}:${ino}:${size}:${mtimeNs}` };
  });
}

/** Copies a database and what stands beside it, as they were at one moment: what has changed by the end is copied again. */
function copyWhole(path: string, copy: string): void {
  let copied: readonly FileState[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const states = statesOf(path);
    for (const suffix of BESIDE) {
      const key = keyOf(states, suffix);
      if (key === keyOf(copied, suffix)) continue;
      // A copy of one that may only be read could not be written again.
      rmSync(copy + suffix, { force: true });
      if (key === undefined) continue;
      copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
      chmodSync(copy + suffix, FILE_MODE);
    }
    copied = states;
    const now = statesOf(path);
    if (BESIDE.every((suffix) => keyOf(now, suffix) === keyOf(copied, suffix))) return;
  }
  throw busy(path);
}

function keyOf(states: readonly FileState[], suffix: string): string | undefined {
  return states.find((one) => one.suffix === suffix)?.key;
}

function noDatabases(path: string): SessionError {
  const message = `${path} is a database, which this version of Node cannot read. Use Node 22.13 or later; or export its sessions, as with "opencode export", and import those files.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function tooLarge(path: string, bytes: number): SessionError {
  const size = (bytes / LARGE_BYTES).toFixed(1);
  const message = `${path} has ${size} GB, which an import copies before it reads them. If that is meant, name it: sessiontree import ${path}`;
  return new SessionError("NOT_A_SESSION", message, { details: { path } });
}

function busy(path: string): SessionError {
  const message = `Cannot read ${path}: another program writes to it without a pause. Try again later.`;
  return new SessionError("READ_FAILED", message, { details: { path } });
}
