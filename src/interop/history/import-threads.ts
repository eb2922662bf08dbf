import { Worker } from "node:worker_threads";
import type { FileLayout } from "./import-target.ts";
import type { RunFacts } from "./run-summary.ts";
import type { MadeSession } from "./session-importer.ts";
import type { SourceSession } from "./source-program.ts";

/** The task of a thread. */
export interface ThreadTask {
  readonly layout: FileLayout;
  readonly facts: RunFacts;
}

/** A thread's result for a session. */
export interface ThreadResult {
  readonly made: readonly MadeSession[];
  /** False if something failed: the caller must import the rest of the session. */
  readonly isWhole: boolean;
}

/** Result for a session that no thread could import. */
export const NOTHING_MADE: ThreadResult = { made: [], isWhole: false };

/** Number of sessions given to a thread at a time, so that it need not wait for the next one. */
const MOST_AT_ONCE = 2;

interface Request {
  readonly session: SourceSession;
  readonly done: Promise<ThreadResult>;
  readonly resolve: (result: ThreadResult) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Sent but unanswered requests; answers come in the same order. */
  readonly open: Request[];
}

/** File name of the threads' program, beside the built file; a host's bundle has none. */
export const THREAD_PROGRAM = "./sessiontree-import-worker.js";

/**
 * Threads that import sessions into files; each session is handled by one thread.
 *
 * If a thread cannot start or ends early, the caller must do its work.
 */
export class ImportThreads {
  readonly #threads: Thread[] = [];
  readonly #queue: Request[] = [];

  /** @throws {Error} If the process may not start threads. */
  constructor(program: URL, count: number, task: ThreadTask) {
    for (let number = 0; number < count; number++) this.#start(program, task);
  }

  /** Imports a session in a thread; the result is incomplete if it failed, or if there is no thread. */
  import(session: SourceSession): Promise<ThreadResult> {
    let resolve: Request["resolve"] = () => undefined;
    const done = new Promise<ThreadResult>((settle) => {
      resolve = settle;
    });
    this.#queue.push({ session, done, resolve });
    this.#send();
    return done;
  }

  /** Ends the threads after their current sessions, so that nothing is left unfinished. */
  async close(): Promise<void> {
    leave(this.#queue);
    await Promise.all(this.#threads.flatMap(({ open }) => open.map(({ done }) => done)));
    await Promise.all(this.#threads.splice(0).map(({ worker }) => worker.terminate()));
  }

  #start(program: URL, task: ThreadTask): void {
    // Without the options of this process, which may apply only to its own program.
    const worker = new Worker(program, { workerData: task, execArgv: [] });
    const thread: Thread = { worker, open: [] };
    this.#threads.push(thread);
    worker.on("message", (result: ThreadResult) => {
      thread.open.shift()?.resolve(result);
      this.#send();
    });
    worker.on("error", () => this.#lose(thread));
    worker.on("exit", () => this.#lose(thread));
    worker.unref();
  }

  /** Sends waiting requests to the least busy threads. */
  #send(): void {
    for (const thread of this.#threads) {
      // Only a working thread keeps the process alive.
      if (thread.open.length === 0) thread.worker.unref();
    }
    while (this.#queue.length > 0) {
      const [thread] = this.#threads.toSorted((one, other) => one.open.length - other.open.length);
      if (thread === undefined) leave(this.#queue);
      if (thread === undefined || thread.open.length >= MOST_AT_ONCE) return;
      const request = this.#queue.shift();
      if (request === undefined) return;
      thread.open.push(request);
      thread.worker.ref();
      thread.worker.postMessage(request.session);
    }
  }

  #lose(thread: Thread): void {
    const place = this.#threads.indexOf(thread);
    if (place !== -1) this.#threads.splice(place, 1);
    leave(thread.open);
    this.#send();
  }
}

/** Returns requests to their callers unfinished. */
function leave(requests: Request[]): void {
  for (const { resolve } of requests.splice(0)) resolve(NOTHING_MADE);
}
