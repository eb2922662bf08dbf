import { getErrorMessage, isSessionError, SessionError } from "../../core/format/errors.ts";
import type { LogLine } from "../../session/log/session-log.ts";
import { formatReason, type RetryPace, retryDelay } from "./retries.ts";

/** Work that is performed in order and retried until it succeeds or is refused. */
export interface Job {
  /** Does the work. Called again after an error, except that a `SessionError` is a final refusal. */
  run(): Promise<void>;
  /** Whether to drop the job if it is refused or no caller waits for it. Other jobs remain in the queue. */
  readonly isOptional: boolean;
}

interface Waiter {
  readonly job: Job;
  /** Whether the waiter waits for this job only. Otherwise, it waits for all jobs up to and including this one. */
  readonly isOwner: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/** Options for a queue. */
interface QueueOptions extends RetryPace {
  /** Called when jobs begin to fail, and when they succeed again. */
  readonly onState: (state: "ok" | "degraded", error?: Error) => void;
  /** Called when the queue receives its first job, and when it is empty again. */
  readonly onBusy: (isBusy: boolean) => void;
}

/**
 * Runs jobs one at a time, in order, and retries each job until it succeeds or is refused.
 *
 * A refused job that must not be lost remains first in the queue and is retried with the next `push` or wait.
 */
export class RetryQueue {
  readonly #options: QueueOptions;
  readonly #jobs: Job[] = [];
  #waiters: Waiter[] = [];
  #isWorking = false;
  #isDegraded = false;
  #attempts = 0;
  #lastError: Error | undefined;
  #progressAt = 0;
  /** Ends the pause before the next attempt. */
  #wake: (() => void) | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Whether jobs currently fail. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** Whether the queue is empty. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Adds a job to the end of the queue. The job starts after the current task at the earliest. */
  push(job: Job): void {
    if (this.#jobs.push(job) === 1) this.#options.onBusy(true);
    this.#start();
  }

  /**
   * Waits until all jobs pushed so far are done. Rejects with the error of a refused job, or if there is no response
   * for `giveUpAfterMs`.
   */
  drained(): Promise<void> {
    const last = this.#jobs.at(-1);
    return last === undefined ? Promise.resolve() : this.#waitFor(last, false);
  }

  /** Waits until a queued job is done. Rejects if the job is refused, and in the same cases as `drained`. */
  wait(job: Job): Promise<void> {
    return this.#waitFor(job, true);
  }

  #waitFor(job: Job, isOwner: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { job, isOwner, resolve, reject };
      this.#waiters.push(waiter);
      this.#setTimer(waiter, performance.now());
      this.#start();
      // A caller is waiting, so retry now.
      this.#wake?.();
    });
  }

  /** Records progress of a long job, so that callers continue to wait. */
  noteAnswer(): void {
    this.#progressAt = performance.now();
  }

  /** Drops all jobs. The current job is not retried. */
  stop(): void {
    if (this.#jobs.splice(0).length > 0) this.#options.onBusy(false);
    this.#wake?.();
    for (const waiter of this.#take(() => true)) waiter.reject(makeGivenUpError(this.#lastError));
  }

  #start(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    queueMicrotask(() => void this.#work());
  }

  async #work(): Promise<void> {
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      try {
        await job.run();
        this.#finish(job);
      } catch (error) {
        if (!isSessionError(error)) await this.#pauseAfter(error);
        else if (job.isOptional) this.#drop(job, error);
        else {
          this.#refuse(error);
          break;
        }
      }
    }
    this.#isWorking = false;
  }

  #finish(job: Job): void {
    this.#progress();
    this.#remove(job);
    this.#emitState("ok");
    for (const waiter of this.#take((one) => one.job === job)) waiter.resolve();
  }

  #drop(job: Job, error: Error): void {
    this.#progress();
    this.#remove(job);
    // A refusal also shows that the backend responds.
    this.#emitState("ok");
    for (const waiter of this.#take((one) => one.job === job)) {
      if (waiter.isOwner) waiter.reject(error);
      else waiter.resolve();
    }
  }

  /** Keeps a refused job at the front of the queue, where it blocks the other jobs until it is done. */
  #refuse(error: Error): void {
    this.#attempts = 0;
    this.#emitState("degraded", error);
    for (const waiter of this.#take(() => true)) waiter.reject(error);
  }

  #progress(): void {
    this.#attempts = 0;
    this.#lastError = undefined;
    this.#progressAt = performance.now();
  }

  async #pauseAfter(error: unknown): Promise<void> {
    // The queue was stopped in the meantime, so there is nothing to retry.
    if (this.isEmpty) return;
    this.#attempts++;
    this.#lastError = error instanceof Error ? error : new Error(getErrorMessage(error));
    this.#emitState("degraded", this.#lastError);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, retryDelay(this.#options, this.#attempts));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #setTimer(waiter: Waiter, since: number): void {
    const { giveUpAfterMs } = this.#options;
    const left = Math.max(since, this.#progressAt) + giveUpAfterMs - performance.now();
    if (left > 0) waiter.timer = setTimeout(() => this.#setTimer(waiter, since), left);
    else this.#giveUp(waiter);
  }

  #giveUp(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter((one) => one !== waiter);
    if (waiter.isOwner && waiter.job.isOptional) this.#abandon(waiter.job);
    waiter.reject(notWritten(this.#lastError, this.#options.giveUpAfterMs));
  }

  /** Removes a job that no caller waits for. Callers that waited for all jobs up to this one now wait for the preceding jobs. */
  #abandon(job: Job): void {
    const at = this.#jobs.indexOf(job);
    this.#remove(job);
    const before = this.#jobs[at - 1];
    for (const waiter of this.#take((one) => one.job === job)) {
      if (before === undefined) waiter.resolve();
      else this.#waitFor(before, false).then(waiter.resolve, waiter.reject);
    }
  }

  #remove(job: Job): void {
    const at = this.#jobs.indexOf(job);
    if (at === -1) return;
    this.#jobs.splice(at, 1);
    if (this.isEmpty) this.#options.onBusy(false);
  }

  #take(isTaken: (waiter: Waiter) => boolean): Waiter[] {
    const taken = this.#waiters.filter(isTaken);
    this.#waiters = this.#waiters.filter((waiter) => !isTaken(waiter));
    for (const { timer } of taken) clearTimeout(timer);
    return taken;
  }

  #emitState(state: "ok" | "degraded", error?: Error): void {
    const isDegraded = state === "degraded";
    if (isDegraded === this.#isDegraded) return;
    this.#isDegraded = isDegraded;
    this.#options.onState(state, error);
  }
}

function notWritten(cause: Error | undefined, ms: number): SessionError {
  const reason = cause === undefined ? "no response" : formatReason(cause);
  const message = `The store has accepted nothing for ${ms} ms: ${reason}. Appended entries are kept in memory and retried; check the connection and flush again.`;
  return new SessionError("WRITE_FAILED", message, { cause });
}

function makeGivenUpError(cause: Error | undefined): SessionError {
  const message =
    "The store was closed, and pending writes were discarded. Append the entries again in an open store.";
  return new SessionError("WRITE_FAILED", message, { cause });
}

/** Maximum number of lines written in one batch. */
const MAX_LINES = 500;

/** Maximum number of characters written in one batch, unless a single call appends more. */
const MAX_CHARACTERS = 1024 * 1024;

/** Counts the characters of lines. */
export function countCharacters(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0);
}

/** Writes lines. `isRepeated` is true if they were sent before and may already be stored. */
type WriteLines = (lines: readonly LogLine[], isRepeated: boolean) => Promise<void>;

/**
 * Batch of lines to write in one call.
 *
 * A batch grows until it is first sent. It then remains the same, so that sending it again adds nothing.
 */
export class LineBatch implements Job {
  readonly isOptional = false;
  readonly #lines: LogLine[];
  readonly #write: WriteLines;
  #characters: number;
  #isSent = false;

  constructor(lines: readonly LogLine[], write: WriteLines) {
    this.#lines = [...lines];
    this.#write = write;
    this.#characters = countCharacters(lines);
  }

  /** Adds the lines of one call. Returns false and adds none of them if they do not fit or the batch has been sent. */
  add(lines: readonly LogLine[]): boolean {
    const characters = this.#characters + countCharacters(lines);
    const fits = this.#lines.length + lines.length <= MAX_LINES && characters <= MAX_CHARACTERS;
    if (this.#isSent || !fits) return false;
    this.#lines.push(...lines);
    this.#characters = characters;
    return true;
  }

  async run(): Promise<void> {
    const isRepeated = this.#isSent;
    this.#isSent = true;
    await this.#write(this.#lines, isRepeated);
  }
}
