import { refuseAborted } from "../../core/format/abort.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { getCacheFolder } from "../../session/files/user-folders.ts";
import { findBuiltProgram } from "../../session/fs/built-program.ts";
import { callIfPresent, realFileSystem } from "../../session/fs/file-system.ts";
import { removeLeftovers } from "../../session/fs/temporary-files.ts";
import { toAbsolutePath } from "../../session/log/session-paths.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { DatabaseCopies } from "./database-copies.ts";
import { isDatabase } from "./file-facts.ts";
import { isSmall, MAX_OWN_BYTES, type SourceFile } from "./source-file.ts";
import { NO_PROCESS, SourceProcess } from "./source-process.ts";
import type { FileFacts, KnownFile, ReadOptions, SourceSession } from "./source-program.ts";
import { findProgram } from "./source-table.ts";
import { SOURCE_TASKS, type SourceTasks } from "./source-tasks.ts";

/** File name of the reading process's program, next to the built file. A host's bundle does not include it. */
const PROGRAM = "./sessiontree-import-worker.js";

/** Error message for an import that was aborted by its caller. */
export const IMPORT_ENDED = "The import was aborted; run it again to continue.";

interface SourceReaderOptions {
  readonly paths?: readonly string[];
  readonly cacheDir?: string;
  readonly signal?: AbortSignal;
  /** Program that the reading process runs. Default: the program next to the built file. */
  readonly program?: URL | undefined;
}

/**
 * Reads other programs' files for one run. The caller must close it.
 *
 * Databases and large files could crash or block this process, so they are read in another process. If that process is not
 * available, for example in a bundle, they are read in this process, and only the limits of `Database` apply.
 */
export class SourceReader {
  readonly #cacheDir: string;
  readonly #signal: AbortSignal | undefined;
  readonly #process: SourceProcess;
  readonly #copies: DatabaseCopies;

  constructor({
    paths = [],
    cacheDir = getCacheFolder(),
    signal,
    program = findBuiltProgram(PROGRAM),
  }: SourceReaderOptions) {
    this.#cacheDir = cacheDir;
    this.#signal = signal;
    this.#process = new SourceProcess(program, signal);
    this.#copies = new DatabaseCopies(cacheDir, paths.map(toAbsolutePath), (path, copy, bytes) =>
      this.#isolate("prepareCopy", [path, copy], path, bytes),
    );
  }

  /**
   * Reads facts about the sessions in a file.
   *
   * @throws {SessionError} `NOT_A_SESSION`, `READ_FAILED`, `ABORTED`
   */
  async readFacts(file: SourceFile): Promise<readonly FileFacts[]> {
    const { path, size } = file;
    const copy = isDatabase(path) ? await this.#copies.of(path) : undefined;
    if (copy === undefined && isSmall(file)) return SOURCE_TASKS.readFileFacts(file, copy);
    return this.#isolate("readFileFacts", [file, copy], path, size);
  }

  /** Adds the copies of the databases from which a session is read. */
  async withCopies(session: SourceSession): Promise<SourceSession> {
    const copied = async (files: readonly KnownFile[]) => {
      const all: KnownFile[] = [];
      for (const file of files)
        all.push(
          file.facts.isInDatabase === true ? { ...file, copy: await this.#copies.of(file.path) } : file,
        );
      return all;
    };
    const { files, others, origins } = session;
    return {
      ...session,
      files: await copied(files),
      others: await copied(others),
      origins: await copied(origins),
    };
  }

  /**
   * Converts the files of a session to sessiontree sessions, the main session first. Empty if the files contain no conversation.
   *
   * @throws {SessionError} `NOT_A_SESSION`, `READ_FAILED`, `ABORTED`
   */
  async readSession(session: SourceSession, options: ReadOptions): Promise<ImportedSession[]> {
    const { files, others, origins, copies } = session;
    const all = [...files, ...others, ...origins, ...copies];
    const bytes = all.reduce((sum, { size }) => sum + size, 0);
    const isHere =
      bytes <= MAX_OWN_BYTES &&
      all.every((file) => isSmall(file) && file.facts.isInDatabase !== true) &&
      findProgram(session.source)?.readsDatabase?.(session) !== true;
    if (isHere) return SOURCE_TASKS.readSourceSession(session, options);
    return this.#isolate("readSourceSession", [session, options], files[0]?.path ?? "", bytes);
  }

  /** Ends the process and removes the copies of databases. */
  async close(): Promise<void> {
    await this.#process.close();
    this.#copies.remove();
  }

  /** Runs a task in the other process, or in this process if no other process can be started. */
  async #isolate<Name extends keyof SourceTasks>(
    name: Name,
    args: Parameters<SourceTasks[Name]>,
    path: string,
    bytes: number,
  ): Promise<ReturnType<SourceTasks[Name]>> {
    refuseAborted(this.#signal, IMPORT_ENDED);
    try {
      const value = await this.#process.run<ReturnType<SourceTasks[Name]>>({ name, args }, path, bytes);
      return value === NO_PROCESS ? Reflect.apply(SOURCE_TASKS[name], undefined, args) : value;
    } catch (error) {
      refuseAborted(this.#signal, IMPORT_ENDED);
      // Remove copies that the process made but could not remove.
      if (isSessionError(error, "READ_FAILED"))
        callIfPresent(() => removeLeftovers(realFileSystem, this.#cacheDir));
      throw error;
    }
  }
}
