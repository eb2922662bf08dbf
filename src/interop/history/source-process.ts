import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { getHeapStatistics } from "node:v8";
import { onAbort } from "../../core/format/abort.ts";
import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import { getAllowedMs } from "./source-file.ts";
import type { SourceTasks } from "./source-tasks.ts";

/** A task for the reading process. */
export interface SourceRequest {
  readonly name: keyof SourceTasks;
  readonly args: readonly unknown[];
}

/** Result of a task, or the error that it threw. */
export type SourceAnswer<Value = unknown> =
  | { readonly value: Value }
  | {
      readonly message: string;
      readonly code: unknown;
      /** Details of a `SessionError`; undefined for all other errors. */
      readonly details: SessionError["details"] | undefined;
    };

/** Returned if the system does not allow this process to start another process. */
export const NO_PROCESS = Symbol("no process");

/** First message from the process, sent when the process has started. */
export const READY = "ready";

/** Fraction of this process's memory that the other process may use, because its results must fit in this process. */
const MEMORY_SHARE = 0.75;

/**
 * A process that reads other programs' files. If a file crashes or blocks it, the main process continues.
 *
 * Starts when first needed, and restarts if it has exited. Runs one task at a time.
 */
export class SourceProcess {
  readonly #program: URL | undefined;
  readonly #signal: AbortSignal | undefined;
  #child: ChildProcess | undefined;
  #cannotStart = false;

  /** @param program - Built file of `source-worker`; undefined if it does not exist, for example in a bundle. */
  constructor(program: URL | undefined, signal: AbortSignal | undefined) {
    this.#program = program;
    this.#signal = signal;
  }

  /**
   * Runs a task in the process, within the time allowed for files of the given total size.
   *
   * @returns The task's result, or `NO_PROCESS` if no process can be started.
   * @throws {SessionError} `READ_FAILED` if the process exited, or was killed because it took too long or the signal was aborted.
   */
  async run<Value>(request: SourceRequest, path: string, bytes: number): Promise<Value | typeof NO_PROCESS> {
    const child = await this.#start();
    if (child === undefined) return NO_PROCESS;
    const endsMs = Date.now() + getAllowedMs(bytes);
    child.send(request);
    const answer = await this.#next<SourceAnswer<Value>>(child, getAllowedMs(bytes));
    if (answer === undefined) throw makeEndedError(path, Date.now() >= endsMs);
    if ("value" in answer) return answer.value;
    throw toError(answer);
  }

  /** Kills the process. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    // Otherwise, a program that waits only for this would end here.
    child.ref();
    child.kill("SIGKILL");
    await exit;
  }

  async #start(): Promise<ChildProcess | undefined> {
    if (this.#child?.connected === true) return this.#child;
    const program = this.#program?.protocol === "file:" ? fileURLToPath(this.#program) : "";
    if (this.#cannotStart || !existsSync(program)) return undefined;
    try {
      const { NODE_OPTIONS: _, ...env } = process.env;
      const megabytes = Math.floor((getHeapStatistics().heap_size_limit * MEMORY_SHARE) / 1024 ** 2);
      const child = fork(program, [], {
        // Omit the options of this process, which may apply only to its own program.
        execArgv: [`--max-old-space-size=${megabytes}`],
        env,
        serialization: "advanced",
        stdio: ["ignore", "ignore", "ignore", "ipc"],
      });
      this.#child = child;
      this.#cannotStart = (await this.#next(child, getAllowedMs(0))) !== READY;
    } catch (error) {
      // The system may not allow this process to start others.
      if (!(error instanceof Error)) throw error;
      this.#cannotStart = true;
    }
    return this.#cannotStart ? undefined : this.#child;
  }

  /** Waits for a message. If no message arrives in time, kills the process and returns undefined. */
  async #next<Message>(child: ChildProcess, ms: number): Promise<Message | undefined> {
    const over = new AbortController();
    const end = () => over.abort();
    const timer = setTimeout(end, ms);
    const forget = onAbort(this.#signal, end);
    child.once("exit", end);
    // The other process keeps this one alive only while it is working.
    child.ref();
    child.channel?.ref();
    try {
      const [message]: Message[] = await once(child, "message", { signal: over.signal });
      return message;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      await this.close();
      return undefined;
    } finally {
      clearTimeout(timer);
      forget();
      child.off("exit", end);
      child.unref();
      child.channel?.unref();
    }
  }
}

/** Returns the message that the process sends instead of throwing an error. */
export function makeErrorAnswer(error: unknown): SourceAnswer {
  const { code, details } = Object(error);
  return { message: getErrorMessage(error), code, details: isSessionError(error) ? details : undefined };
}

function toError({ message, code, details }: Exclude<SourceAnswer, { readonly value: unknown }>): Error {
  if (details === undefined) return Object.assign(new Error(message), { code });
  return new SessionError(code === "READ_FAILED" ? code : "NOT_A_SESSION", message, { details });
}

function makeEndedError(path: string, isLate: boolean): SessionError {
  const what = isLate
    ? "took too long, and was stopped"
    : "crashed the process that reads it; there may be too little memory";
  const message = `Reading ${path} ${what}. If the file is intact, export its sessions with the program that wrote it, and import the exported files.`;
  return new SessionError("READ_FAILED", message, { details: { path } });
}
