import { isSessionError, messageOf, SessionError } from "../schema/errors.ts";
import { type RetryPace, reasonOf, retryDelay } from "./retries.ts";

/** Something that is to be done in its turn, again and again until it is answered. */
export interface Job {
  /** Does it; may be called again after an error. A `SessionError` is an answer: no. */
  run(): Promise<void>;
  /** Whether it is given up when the answer is no, or when nobody waits for it any more; others stay in the queue. */
  readonly isOptional: boolean;
}

interface Waiter {
  readonly job: Job;
  /** Whether the job is the waiter's own; otherwise it is only the last one before it could be done. */
  readonly isOwner: boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/** What a queue is made with. */
export interface QueueOptions extends RetryPace {
  /** Told when work stops being done, and when it is done again. */
  readonly onState: (state: "ok" | "degraded", error?: Error) => void;
  /** Told when there is something to do, and when there is nothing left. */
  readonly onBusy: (isBusy: boolean) => void;
}

/**
 * Does jobs one after the other, in order, each until it is answered.
 *
 * A job that must not get lost and is refused stays in front, and is tried again with the next job or the next wait.
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

  /** Whether jobs are not answered at present. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  /** Whether there is nothing to do. */
  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  /** Puts a job behind the others. Work on it begins when the present task has ended. */
  push(job: Job): void {
    if (this.#jobs.push(job) === 1) this.#options.onBusy(true);
    this.#start();
  }

  /**
   * Waits until everything pushed so far is done.
   *
   * @throws {SessionError} What the job in front was refused with, or `WRITE_FAILED` when nothing was answered for too long.
   */
  drained(): Promise<void> {
    const last = this.#jobs.at(-1);
    return last === undefined ? Promise.resolve() : this.#waitFor(last, false);
  }

  /** Waits until a job that is in the queue is done, and fails if it is refused; see `drained`. */
  wait(job: Job): Promise<void> {
    return this.#waitFor(job, true);
  }

  #waitFor(job: Job, isOwner: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { job, isOwner, resolve, reject };
      this.#waiters.push(waiter);
      this.#setTimer(waiter, performance.now());
      this.#start();
      // Whoever waits wants to know now.
      this.#wake?.();
    });
  }

  /** Says that answers come, though the job that is being done takes long: whoever waits goes on waiting. */
  noteAnswer(): void {
    this.#progressAt = performance.now();
  }

  /** Gives up all jobs; the one that is being done is not done again. */
  stop(): void {
    if (this.#jobs.splice(0).length > 0) this.#options.onBusy(false);
    this.#wake?.();
    for (const waiter of this.#take(() => true)) waiter.reject(givenUp(this.#lastError));
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
    this.#tell("ok");
    for (const waiter of this.#take((one) => one.job === job)) waiter.resolve();
  }

  #drop(job: Job, error: Error): void {
    this.#progress();
    this.#remove(job);
    // No is an answer, too.
    this.#tell("ok");
    for (const waiter of this.#take((one) => one.job === job)) {
      if (waiter.isOwner) waiter.reject(error);
      else waiter.resolve();
    }
  }

  /** The job in front stays there, and nothing can be done before it is. */
  #refuse(error: Error): void {
    this.#attempts = 0;
    this.#tell("degraded", error);
    for (const waiter of this.#take(() => true)) waiter.reject(error);
  }

  #progress(): void {
    this.#attempts = 0;
    this.#lastError = undefined;
    this.#progressAt = performance.now();
  }

  async #pauseAfter(error: unknown): Promise<void> {
    // Stopped meanwhile: there is nothing to try again.
    if (this.isEmpty) return;
    this.#attempts++;
    this.#lastError = error instanceof Error ? error : new Error(messageOf(error));
    this.#tell("degraded", this.#lastError);
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

  /** Takes a job out that nobody waits for any more; whoever waited for all up to it waits for those before it. */
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

  #tell(state: "ok" | "degraded", error?: Error): void {
    const isDegraded = state === "degraded";
    if (isDegraded === this.#isDegraded) return;
    this.#isDegraded = isDegraded;
    this.#options.onState(state, error);
  }
}

function notWritten(cause: Error | undefined, ms: number): SessionError {
  const reason = cause === undefined ? "no answer came" : reasonOf(cause);
  return new SessionError(
    "WRITE_FAILED",
    `The store has taken nothing for ${ms} ms: ${reason}. What was appended is kept here and tried on; check the connection, and flush again.`,
    { cause },
  );
}

function givenUp(cause: Error | undefined): SessionError {
  return new SessionError(
    "WRITE_FAILED",
    "The store was closed, and what was not written was given up. Append it again in a store that is open.",
    { cause },
  );
}
