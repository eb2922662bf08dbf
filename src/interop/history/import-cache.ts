import { join } from "node:path";
import { toRecord } from "../../core/context/entry-fields.ts";
import { isJsonRecord, type JsonRecord } from "../../core/format/json.ts";
import { importCacheName } from "../../session/files/folder-cache.ts";
import { getCacheFolder } from "../../session/files/user-folders.ts";
import { readAtomicJson, writeAtomicJson } from "../../session/fs/atomic-json.ts";
import { hasErrorCode } from "../../session/fs/file-system.ts";
import type { ImportCounts } from "../import/imported-session.ts";
import type { WrittenSession } from "./import-target.ts";
import { makeStamp, type SourceFile } from "./source-file.ts";
import type { FileFacts } from "./source-program.ts";

/** State of a session's files after an import. The next import continues from there. */
export interface ReadState {
  /** Size of the main file, in bytes. */
  readonly size: number;
  /** State of all other data belonging to the session. */
  readonly others: string;
}

/** A session created by an import. */
export interface KnownImport extends WrittenSession {
  readonly sourceId: string;
  readonly sourcePath: string;
  readonly id: string;
  /** Path of the session, or its id in a store. */
  readonly location: string;
  readonly counts: ImportCounts;
  readonly dropped: { readonly [reason: string]: number };
  /** Whether the session was skipped because it was deleted from the target. */
  readonly isDeleted?: boolean | undefined;
  /** Id of the sessiontree session that it continues. Equal to `id` if the new entries were added to that session. */
  readonly continuedId?: string | undefined;
  /** State of the source when it was last read. Set for the session itself, not for its subagents. */
  readonly read?: ReadState | undefined;
  /** Whether the session's source is known to be deleted. */
  readonly isGone?: boolean | undefined;
}

/** Incremented whenever the cache format or the conversion of records changes. */
const CACHE_VERSION = 9;

/**
 * Records, for one target, the files of each session and the results of importing them.
 *
 * Without the cache, an import rereads all files but still writes only new entries.
 */
export class ImportCache {
  readonly #path: string;
  readonly #files: JsonRecord;
  readonly #imports: JsonRecord;
  /** Values added since the cache was last read or saved. */
  #fresh: Kept = { files: {}, imports: {} };

  /** @param target - Name of the import's target. */
  constructor(target: string, folder: string = getCacheFolder()) {
    this.#path = join(folder, importCacheName(target));
    const { files, imports } = readKept(this.#path);
    this.#files = files;
    this.#imports = imports;
  }

  /** Returns the facts about the sessions in a file; undefined if the file must be reread. */
  getFacts(file: SourceFile): readonly FileFacts[] | undefined {
    const { stamp, facts } = toRecord(this.#files[file.path]);
    if (stamp !== makeStamp(file) || !Array.isArray(facts)) return undefined;
    return facts.filter(isFileFacts);
  }

  /** Returns the facts about a file's sessions as of the last time the file was read. */
  getLastFacts({ path }: Pick<SourceFile, "path">): readonly FileFacts[] {
    const { facts } = toRecord(this.#files[path]);
    return Array.isArray(facts) ? facts.filter(isFileFacts) : [];
  }

  putFacts(file: SourceFile, facts: readonly FileFacts[]): void {
    this.#files[file.path] = this.#fresh.files[file.path] = { stamp: makeStamp(file), facts };
  }

  /** Returns the sessions imported from files in this state; undefined if the files were not imported in this state. */
  getImports(key: string, stamp: string): readonly KnownImport[] | undefined {
    const { stamp: known, sessions } = toRecord(this.#imports[key]);
    if (known !== stamp || !Array.isArray(sessions) || !sessions.every(isKnownImport)) return undefined;
    return sessions;
  }

  /** Returns the sessions of all previous imports, by source key. */
  allImports(): [key: string, stamp: string, sessions: readonly KnownImport[]][] {
    return Object.entries(this.#imports).flatMap(([key, kept]): [string, string, KnownImport[]][] => {
      const { stamp, sessions } = toRecord(kept);
      return typeof stamp === "string" && Array.isArray(sessions) && sessions.every(isKnownImport)
        ? [[key, stamp, sessions]]
        : [];
    });
  }

  /**
   * Returns the sessions from the last import of a source, even if the source has changed since then; empty if the source has
   * never been imported.
   */
  getLastImports(key: string): readonly KnownImport[] {
    const { stamp } = toRecord(this.#imports[key]);
    return (typeof stamp === "string" ? this.getImports(key, stamp) : undefined) ?? [];
  }

  putImports(key: string, stamp: string, sessions: readonly KnownImport[]): void {
    this.#imports[key] = this.#fresh.imports[key] = { stamp, sessions };
  }

  /**
   * Merges new values with values that other imports have saved in the meantime. Values removed by a redaction are not restored.
   */
  async save(): Promise<void> {
    const fresh = this.#fresh;
    if (Object.keys({ ...fresh.files, ...fresh.imports }).length === 0) return;
    const { files, imports } = readKept(this.#path);
    const all = { files: { ...files, ...fresh.files }, imports: { ...imports, ...fresh.imports } };
    try {
      await writeAtomicJson(this.#path, { version: CACHE_VERSION, ...all });
      this.#fresh = { files: {}, imports: {} };
    } catch (error) {
      // A redaction also deletes the file that is being written.
      if (!hasErrorCode(error, "ENOENT")) throw error;
    }
  }
}

interface Kept {
  readonly files: { [path: string]: unknown };
  readonly imports: { [key: string]: unknown };
}

/** Reads the saved values. Returns empty values if the file is missing or has a different version. */
function readKept(path: string): Kept {
  const { version, files, imports } = toRecord(readAtomicJson(path)?.value);
  if (version !== CACHE_VERSION) return { files: {}, imports: {} };
  return { files: { ...toRecord(files) }, imports: { ...toRecord(imports) } };
}

function isFileFacts(value: unknown): value is FileFacts {
  return isJsonRecord(value) && typeof value["source"] === "string" && typeof value["sessionId"] === "string";
}

function isKnownImport(value: unknown): value is KnownImport {
  if (!isJsonRecord(value) || !isJsonRecord(value["counts"]) || !isJsonRecord(value["dropped"])) return false;
  return ["sourceId", "sourcePath", "id", "location"].every((name) => typeof value[name] === "string");
}
