import { onAbort } from "../../core/format/abort.ts";
import { isSessionError, SessionError, type SessionErrorCode } from "../../core/format/errors.ts";
import { CURRENT_SESSION_VERSION } from "../../core/format/version.ts";
import type { LineChange } from "../../core/jsonl/entry-body.ts";
import { notASession } from "../../core/jsonl/not-a-session.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { WakeUps } from "../../session/fs/notifications.ts";
import { copyLines, planWholeCopy } from "../../session/log/canonical-copy.ts";
import { assertLeaf } from "../../session/log/expected-leaf.ts";
import type { LoadOptions } from "../../session/log/file-log-options.ts";
import type { LogChange, LogLine, SessionLog } from "../../session/log/session-log.ts";
import type { SessionBackend } from "../contract/session-backend.ts";
import { storeClosed } from "../contract/store-errors.ts";
import { RemoteLines } from "./remote-lines.ts";
import { RemotePlace } from "./remote-place.ts";
import { pauseUnless, type RetryOptions, retryPace, waitOrAbort } from "./retries.ts";
import { countCharacters, RetryQueue } from "./retry-queue.ts";

/** Tracks logs with pending writes, and closes them. */
export interface LogKeeper {
  /** Aborts when all logs are closed. */
  readonly closed: AbortSignal;
  /** Called when a log starts or stops having pending writes. */
  noteBusy(log: RemoteLog, isBusy: boolean): void;
}

/** Options for a remote session. */
export interface RemoteLogOptions extends RetryOptions {
  /** Maximum size of pending writes. If the limit is exceeded, an append throws. Default 16 MiB. */
  readonly maxQueueBytes?: number;
  /** Maximum number of entries in pending writes. Default 10,000. */
  readonly maxQueueEntries?: number;
  /** Milliseconds between polls for entries from other processes, if the backend does not report them. Default 1,000. */
  readonly pollMs?: number;
  /** Whether to write a new session immediately instead of with the first message. Default false. */
  readonly createAtOnce?: boolean;
  /** Access mode. With `read-only`, nothing can be appended. */
  readonly mode?: "read-write" | "read-only";
  /**
   * Whether `close` discards writes that the store refuses permanently because the session was deleted or replaced.
   * Default false.
   */
  readonly mustExist?: boolean;
  /** Store of the session. */
  readonly keeper?: LogKeeper;
}

const MAX_QUEUE_BYTES = 16 * 1024 * 1024;
const MAX_QUEUE_ENTRIES = 10_000;
const POLL_MS = 1_000;

/** Error codes that mean that a session was deleted or that another session has its id. */
const FINAL: readonly SessionErrorCode[] = ["SESSION_NOT_FOUND", "WRITES_LOST", "SESSION_EXISTS"];

/**
 * Session whose lines are in a remote backend.
 *
 * All lines are in memory. An append takes effect in memory immediately and is written later, in order; `flush` waits
 * for pending writes. Lines from other processes are read when an append reveals them, or when the caller pulls or
 * watches.
 *
 * @remarks Source: docs/stores.md
 */
export class RemoteLog implements SessionLog {
  readonly path = undefined;
  onChange: ((change: LogChange) => void) | undefined;
  onPersistence: ((state: "ok" | "degraded", error?: Error) => void) | undefined;
  onRestored: ((ids: readonly string[]) => void) | undefined;
  readonly #options: RemoteLogOptions;
  readonly #queue: RetryQueue;
  readonly #place: RemotePlace;
  #isWritten: boolean;
  #begin: () => void = () => undefined;
  /** Resolves when the session is written or queued. */
  readonly #begun: Promise<void>;
  #isClosed = false;

  private constructor(
    backend: SessionBackend,
    lines: RemoteLines,
    isWritten: boolean,
    options: RemoteLogOptions,
  ) {
    this.#options = options;
    this.#isWritten = isWritten;
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    if (isWritten) this.#begin();
    this.#queue = new RetryQueue({
      ...retryPace(options),
      onState: (state, error) => this.onPersistence?.(state, error),
      onBusy: (isBusy) => options.keeper?.noteBusy(this, isBusy),
    });
    const listener = {
      onChange: (change: LogChange) => this.onChange?.(change),
      onRestored: (ids: readonly string[]) => this.onRestored?.(ids),
    };
    this.#place = new RemotePlace(backend, this.#queue, lines, listener, options.mode === "read-only");
  }

  /** Opens a session by id. */
  static async open(
    backend: SessionBackend,
    id: string,
    options: RemoteLogOptions = {},
    load: LoadOptions = {},
  ): Promise<RemoteLog> {
    const log = new RemoteLog(backend, new RemoteLines(), true, options);
    await log.#place.load(id, retryPace(options), load);
    if (log.index.header === undefined) throw notASession(id, { id }, undefined);
    return log;
  }

  /**
   * Creates a session from its header and any additional lines. If there are additional lines, the session is written
   * immediately.
   */
  static begin(
    backend: SessionBackend,
    lines: Iterable<string | Uint8Array>,
    options: RemoteLogOptions = {},
  ): RemoteLog {
    const log = new RemoteLog(backend, parseRemoteLines(lines), false, options);
    if (options.createAtOnce || log.index.tree.size > 0) log.#create();
    return log;
  }

  get index(): SessionIndex {
    return this.#place.lines.index;
  }

  get isDegraded(): boolean {
    return this.#queue.isDegraded;
  }

  get readOnlyReason(): "mode" | "version" | "closed" | undefined {
    if (this.#isClosed || this.#options.keeper?.closed.aborted) return "closed";
    if (this.#options.mode === "read-only") return "mode";
    return this.index.version > CURRENT_SESSION_VERSION ? "version" : undefined;
  }

  /** All known bytes, as a file would contain them. */
  get bytes(): Uint8Array {
    return this.#place.lines.bytes;
  }

  readLines(ordinals: Iterable<number>, take: (ordinal: number, bytes: Uint8Array) => void): void {
    this.#place.lines.readLines(ordinals, take);
  }

  append(lines: readonly LogLine[], isLasting: boolean): number {
    const [first] = lines;
    if (first === undefined) return this.index.tree.size;
    this.#assertRoom(lines);
    if (this.index.needsUpgrade) this.#amend(undefined, () => []);
    this.#place.lines.appendOwn(lines);
    if (this.#isWritten) this.#place.append(lines);
    else if (isLasting) this.#create();
    return this.index.tree.find(first.head.id);
  }

  /** Always false: lines that the backend has replaced are reported when they arrive. */
  checkReplaced(): boolean {
    return false;
  }

  rewrite(change: LineChange, more: () => readonly LogLine[]): void {
    this.#assertRoom(more());
    this.#amend(change, more);
  }

  /** Requests entries from other processes. They are reported when they arrive. */
  refresh(): LogChange | undefined {
    // No caller waits for this result. The next call that waits reports a refusal.
    if (this.#isWritten && !this.#options.keeper?.closed.aborted) this.#place.pull().catch(() => undefined);
    return undefined;
  }

  async pull(): Promise<void> {
    if (this.#options.keeper?.closed.aborted) throw storeClosed();
    if (this.#isWritten) await this.#place.pull();
  }

  async appendIfLeaf(line: LogLine, expectedLeafId: string | null): Promise<void> {
    this.#assertRoom([line]);
    if (this.#isWritten && this.#place.comparesLeaf) {
      if (this.index.needsUpgrade) this.#amend(undefined, () => []);
      return this.#place.appendIfLeaf(line, expectedLeafId);
    }
    await this.pull();
    const { tree, spans } = this.index;
    assertLeaf(tree, spans.inFileOrder(tree.ordinals()), expectedLeafId);
    this.append([line], true);
    await this.flush();
  }

  upgrade(): undefined {
    // The first append amends the stored lines. Stores do not keep a backup.
    return undefined;
  }

  async *changes(given?: AbortSignal): AsyncGenerator<void, void> {
    const { pollMs = POLL_MS, keeper } = this.#options;
    const signals = [given, keeper?.closed].filter((one) => one !== undefined);
    const signal = AbortSignal.any(signals);
    const subscribe = (onMore: () => void, end: AbortSignal) => this.#place.subscribe(onMore, end);
    // It is not possible to subscribe before the session is stored in the backend. A pull waits for this.
    await waitOrAbort(this.#begun, signal);
    await this.#pullUntilAnswered(pollMs, signal);
    for await (const _ of changeSignals(subscribe, { pollMs }, signal)) {
      await this.#pullUntilAnswered(pollMs, signal);
      if (!signal?.aborted) yield;
    }
  }

  async flush(): Promise<void> {
    await this.#queue.drained();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    try {
      // Includes entries appended in the meantime.
      while (!this.#queue.isEmpty) await this.flush();
    } catch (error) {
      // Otherwise, lines that can never be written would prevent the store from closing.
      const isFinal = FINAL.some((code) => isSessionError(error, code));
      if (this.#options.mustExist && isFinal) this.discard();
      throw error;
    }
    this.#isClosed = true;
  }

  /** Closes the log but continues writing pending lines. The store's `close` waits for them. */
  release(): void {
    this.#isClosed = true;
  }

  discard(): void {
    this.#isClosed = true;
    this.#queue.stop();
  }

  #create(): void {
    this.#isWritten = true;
    this.#place.create();
    this.#begin();
  }

  async #pullUntilAnswered(pollMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return;
    while ((await waitOrAbort(this.#place.pullIfReachable(), signal)) === false) {
      await pauseUnless(signal, pollMs);
    }
  }

  #amend(change: LineChange | undefined, more: () => readonly LogLine[]): void {
    const before = this.index;
    const source = { index: before, readLines: this.readLines.bind(this) };
    const lines = parseRemoteLines(
      copyLines(source, { ...planWholeCopy(before), ...(change && { changeLine: change }), more }),
    );
    if (this.#isWritten) this.#place.amend(lines, { change, dropsRest: change !== undefined }, more);
    else this.#place.lines = lines;
    this.onChange?.({ kind: "reloaded", before });
  }

  /** @throws {SessionError} `WRITE_FAILED` if there are too many pending writes. */
  #assertRoom(lines: readonly LogLine[]): void {
    const { maxQueueBytes = MAX_QUEUE_BYTES, maxQueueEntries = MAX_QUEUE_ENTRIES } = this.#options;
    const { count, characters } = this.#place.waiting;
    const more = countCharacters(lines);
    if (count === 0) return;
    if (count + lines.length <= maxQueueEntries && characters + more <= maxQueueBytes) return;
    const message = `${count} entries are waiting to be written to the store, and the queue is full. Nothing was appended; await flush(), then append again.`;
    throw new SessionError("WRITE_FAILED", message, {
      details: { waitingEntries: count, maxQueueEntries, maxQueueBytes },
    });
  }
}

function parseRemoteLines(lines: Iterable<string | Uint8Array>): RemoteLines {
  const taken = new RemoteLines();
  // Pieces may be parts of lines.
  taken.take(Buffer.concat(Array.from(lines, (piece) => Buffer.from(piece))));
  taken.end();
  return taken;
}

/** Milliseconds between checks if no signal arrives, because signals may be lost. */
const LOOK_ANYWAY_MS = 30_000;

/**
 * Yields whenever there may be a change: immediately, at every signal, and periodically.
 *
 * Combines signals that arrive while the consumer is busy. Until the subscription is established, uses only the timer,
 * so that a slow subscription does not block the consumer.
 *
 * @param subscribe - Subscribes to change signals until `end` aborts; returns false if the backend sends no signals.
 * @throws The error from a rejected `subscribe` call.
 */
async function* changeSignals(
  subscribe: (onMore: () => void, end: AbortSignal) => Promise<boolean>,
  { pollMs }: { readonly pollMs: number },
  signal?: AbortSignal,
): AsyncGenerator<void, void> {
  if (signal?.aborted) return;
  const end = new AbortController();
  const wakeUps = new WakeUps();
  const { note } = wakeUps;
  const abort = () => {
    end.abort();
    note();
  };
  const forget = onAbort(signal, abort);
  let timer = setInterval(note, pollMs);
  let refusal: { readonly error: unknown } | undefined;
  subscribe(note, end.signal).then(
    (hasHints) => {
      if (!hasHints || end.signal.aborted) return;
      clearInterval(timer);
      timer = setInterval(note, LOOK_ANYWAY_MS);
      // Covers changes before the first signal.
      note();
    },
    (error: unknown) => {
      refusal = { error };
      note();
    },
  );
  try {
    for await (const _ of wakeUps.until(() => end.signal.aborted)) {
      if (refusal !== undefined) throw refusal.error;
      yield;
    }
  } finally {
    clearInterval(timer);
    forget();
    end.abort();
  }
}
