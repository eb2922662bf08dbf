import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { afterAll, beforeAll } from "vitest";
import { PATIENCE_MS } from "../../support/patience.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { bundle } from "./bundle.ts";
import type { ReplacementName } from "./replacements.ts";
import type { System } from "./systems.ts";

/** Task of a thread: the replacement of a file. */
export interface Job {
  readonly task: ReplacementName;
  readonly path: string;
  /** Kind of system. */
  readonly system: System;
}

/** Result of a job. */
export interface Done {
  readonly error: string | undefined;
  /** Number of calls of the file system from the first rename on. */
  readonly calls: number;
}

/** Number of allowed calls, and the thread's position. */
export type StoppedBy = Int32Array<SharedArrayBuffer>;

/** Position of a thread that has finished. */
export const DONE = 0x7fffffff;

const [ALLOWED, ARRIVED] = [0, 1];

/**
 * Thread that replaces files, and stops before each call of the file system, from the rename on, until it is allowed.
 *
 * All its methods block: others can act between any two calls, in a deterministic order.
 */
export class StoppedReplacement {
  readonly #state: StoppedBy = new Int32Array(new SharedArrayBuffer(8));
  readonly #port: MessageChannel = new MessageChannel();
  #worker: Worker | undefined;

  constructor() {
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "sessiontree-thread-"));
      const program = join(folder, "worker.mjs");
      await bundle("fault/support/replace-worker.ts", program);
      const { port2 } = this.#port;
      this.#worker = new Worker(program, {
        workerData: { state: this.#state, port: port2 },
        transferList: [port2],
      });
    });
    afterAll(async () => {
      await this.#worker?.terminate();
      this.#port.port1.close();
      removeFolder(folder);
    });
  }

  /** Begins a job; returns when it is about to rename the new file. */
  start(job: Job): void {
    Atomics.store(this.#state, ALLOWED, 0);
    Atomics.store(this.#state, ARRIVED, 0);
    this.#port.port1.postMessage(job);
    this.#waitFor(1);
  }

  /** Allows the given number of calls, the rename included, or fewer if there are fewer. */
  allow(calls: number): void {
    Atomics.store(this.#state, ALLOWED, calls);
    Atomics.notify(this.#state, ALLOWED);
    this.#waitFor(calls + 1);
  }

  /** Allows the remaining calls and returns the result. */
  finish(): Done {
    this.allow(DONE - 1);
    const received: { message: Done } | undefined = receiveMessageOnPort(this.#port.port1);
    if (received === undefined) throw new Error("the thread has said nothing");
    return received.message;
  }

  #waitFor(call: number): void {
    for (;;) {
      const arrived = Atomics.load(this.#state, ARRIVED);
      if (arrived >= call) return;
      if (Atomics.wait(this.#state, ARRIVED, arrived, PATIENCE_MS) === "timed-out")
        throw new Error(`the thread has not come to call ${call}, only to ${arrived}`);
    }
  }
}
