import { Worker } from "node:worker_threads";
import type { MadeSession, RunFacts } from "./session-importer.ts";
import type { FilePlaces } from "./session-target.ts";
import type { SourceSession } from "./source-session.ts";

/** What a thread is told when it begins. */
export interface ThreadTask {
  readonly target: FilePlaces;
  readonly facts: RunFacts;
}

/** What a thread made of a session. */
export interface ThreadResult {
  readonly made: readonly MadeSession[];
  /** False if something failed: then the rest of the session is still to be imported. */
  readonly isWhole: boolean;
}

/** Of a session that no thread could take. */
export const NOTHING_MADE: ThreadResult = { made: [], isWhole: false };

/** Sessions that a thread has at a time, so that it need not wait for the next one. */
const MOST_AT_ONCE = 2;

interface Request {
  readonly session: SourceSession;
  readonly done: Promise<ThreadResult>;
  readonly resolve: (result: ThreadResult) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Sent, and not answered yet; answers come in the same order. */
  readonly open: Request[];
}

/** The program of a thread, beside the file that this one becomes part of; a bundle has none. */
export const THREAD_PROGRAM = "./sessiontree-import-worker.js";

/**
 * Threads that import sessions into files, each session whole in one of them.
 *
 * A thread that cannot be started, or ends early, leaves to the caller what it was to do.
 */
export class ImportThreads {
  readonly #threads: Thread[] = [];
  readonly #queue: Request[] = [];

  /**
   * @param program - What the threads run.
   * @throws {Error} If the process may have no threads.
   */
  constructor(program: URL, count: number, task: ThreadTask) {
    for (let number = 0; number < count; number++) this.#start(program, task);
  }

  /**
   * Imports a session when its turn comes.
   *
   * @returns What was made of it; not whole if that failed, or if there is no thread to do it.
   */
  import(session: SourceSession): Promise<ThreadResult> {
    let resolve: Request["resolve"] = () => undefined;
    const done = new Promise<ThreadResult>((settle) => {
      resolve = settle;
    });
    this.#queue.push({ session, done, resolve });
    this.#send();
    return done;
  }

  /** Ends the threads once they have finished what they are at, so that nothing is left half done. */
  async close(): Promise<void> {
    leave(this.#queue);
    await Promise.all(this.#threads.flatMap(({ open }) => open.map(({ done }) => done)));
    await Promise.all(this.#threads.splice(0).map(({ worker }) => worker.terminate()));
  }

  #start(program: URL, task: ThreadTask): void {
    // Without the options of this process, which may say how its own program is to be read.
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

  /** Sends what waits to the threads that have least to do. */
  #send(): void {
    for (const thread of this.#threads) {
      // Only a thread that is at work keeps the process alive.
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

/** Leaves what was asked for to whoever asked. */
function leave(requests: Request[]): void {
  for (const { resolve } of requests.splice(0)) resolve(NOTHING_MADE);
}
