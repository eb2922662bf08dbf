import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import type { SessionFile } from "../../session/files/session-files.ts";
import { findBuiltProgram } from "../../session/fs/built-program.ts";
import type { ReadTable } from "./term-tables.ts";

/** Program that the thread runs, next to the built file; absent in an application's bundle. */
const PROGRAM = "./sessiontree-search-worker.js";

/** Minimum number of bytes for which starting a thread saves time. */
const MIN_BYTES = 16 * 1024 * 1024;

/** Files read by two threads, one starting at the front and the other at the end. */
export interface SharedFiles {
  readonly paths: readonly string[];
  /** For each file, 1 once a thread has claimed the file. In shared memory. */
  readonly claims: Int32Array;
}

/** Message from the thread with the words in a file; `read` is undefined if the file cannot be read or is not a session. */
export interface ThreadMessage {
  readonly at: number;
  readonly read: ReadTable | undefined;
}

/** Claims a file; returns false if the other thread has already claimed it. */
export function claimFile(claims: Int32Array, at: number): boolean {
  return Atomics.compareExchange(claims, at, 0, 1) === 0;
}

/** Thread that reads the words of session files from last to first, while the caller reads them from first to last. */
export class TableThread {
  readonly #worker: Worker;
  readonly #claims: Int32Array;
  readonly #places: ReadonlyMap<SessionFile, number>;
  readonly #read = new Map<number, ReadTable | undefined>();
  #hasEnded = false;
  #wake: (() => void) | undefined;
  /** Resolves when the thread has exited, for any reason. */
  readonly ended: Promise<void>;

  private constructor(worker: Worker, claims: Int32Array, files: readonly SessionFile[]) {
    this.#worker = worker;
    this.#claims = claims;
    this.#places = new Map(files.map((file, at) => [file, at]));
    worker.on("message", ({ at, read }: ThreadMessage) => {
      this.#read.set(at, read);
      this.#wake?.();
    });
    // The caller reads the files that a failed thread has not read. An exit event follows.
    worker.on("error", () => undefined);
    this.ended = new Promise((resolve) => worker.once("exit", () => resolve()));
    void this.ended.then(() => {
      this.#hasEnded = true;
      this.#wake?.();
    });
  }

  /**
   * Starts a thread for files whose words are unknown.
   *
   * @returns Undefined if there are too few bytes or no thread can be started.
   */
  static start(
    files: readonly SessionFile[],
    program: URL | undefined = findBuiltProgram(PROGRAM),
  ): TableThread | undefined {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (bytes < MIN_BYTES || availableParallelism() < 2) return undefined;
    if (program?.protocol !== "file:" || !existsSync(fileURLToPath(program))) return undefined;
    const claims = new Int32Array(new SharedArrayBuffer(files.length * Int32Array.BYTES_PER_ELEMENT));
    const workerData: SharedFiles = { paths: files.map(({ path }) => path), claims };
    try {
      // Loaded only when needed, and not by an import, which bundlers for browsers reject.
      const { Worker } = process.getBuiltinModule("node:worker_threads");
      // Omits the options of this process, which may apply only to its own program.
      return new TableThread(new Worker(program, { workerData, execArgv: [] }), claims, files);
    } catch (error) {
      // The process may not have permission to start a thread.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }

  /** Returns the words in a file that the thread has read; undefined if the caller must read them. */
  async take(file: SessionFile): Promise<ReadTable | undefined> {
    const at = this.#places.get(file);
    if (at === undefined || claimFile(this.#claims, at)) return undefined;
    while (!this.#read.has(at) && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const read = this.#read.get(at);
    this.#read.delete(at);
    return read;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
