import { refuseAborted } from "../../core/format/abort.ts";
import { isSessionError, SessionError, type SessionErrorCode } from "../../core/format/errors.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { LoadOptions } from "../../session/log/file-log-options.ts";
import type { LogChange, LogLine } from "../../session/log/session-log.ts";
import { makeStorableFacts } from "../contract/line-facts.ts";
import type {
  AppendCondition,
  AppendReceipt,
  LinePage,
  SessionBackend,
} from "../contract/session-backend.ts";
import { sessionNotFound } from "../contract/store-errors.ts";
import { amendLines, type StoredChange } from "./amendment.ts";
import {
  drawGap,
  findLostLines,
  findUnchangedLines,
  isSameSession,
  makeRepeatable,
  notRestored,
  splitBatches,
} from "./idempotent-retry.ts";
import { joinLines, makeEntryLine, once, splitLineBatches } from "./line-codec.ts";
import { RemoteLines, readAllLines, readNext, type WholeSession } from "./remote-lines.ts";
import { type RetryPace, repeatUntilAnswered } from "./retries.ts";
import { type Job, LineBatch, type RetryQueue } from "./retry-queue.ts";

/** Listener for events of a `RemotePlace`. */
export interface PlaceListener {
  /** Called when other processes have changed the session. */
  onChange(change: LogChange): void;
  /** Called when entries that the backend had lost have been appended again. */
  onRestored(ids: readonly string[]): void;
}

/**
 * Session in a backend, with its last known state.
 *
 * All calls go through one queue, so that responses arrive in order. Each response leaves the known state consistent
 * with the backend.
 */
export class RemotePlace {
  lines: RemoteLines;
  readonly #backend: SessionBackend;
  readonly #queue: RetryQueue;
  readonly #listener: PlaceListener;
  readonly #isReadOnly: boolean;
  /** `seq` of the last known line. */
  #knownSeq = 0;
  /** Id of the entry on that line; undefined unless the line certainly contains an entry. */
  #knownId: string | undefined;
  #revision = 0;
  /** Writes that have not been confirmed yet, in order. */
  #waiting: LogLine[] = [];
  #waitingCharacters = 0;
  /** Batch that can still grow. */
  #open: LineBatch | undefined;
  /** Number of amendments that have not been confirmed yet. Until then, the positions of lines are unknown. */
  #amendments = 0;
  #pull: { readonly job: Job; readonly done: Promise<void> } | undefined;

  constructor(
    backend: SessionBackend,
    queue: RetryQueue,
    lines: RemoteLines,
    listener: PlaceListener,
    isReadOnly: boolean,
  ) {
    this.#backend = backend;
    this.#queue = queue;
    this.lines = lines;
    this.#listener = listener;
    this.#isReadOnly = isReadOnly;
  }

  get #id(): string {
    return this.lines.index.header?.id ?? "";
  }

  get #withSearchText(): boolean {
    return this.#backend.supports.search;
  }

  /** Whether the backend can compare the leaf. */
  get comparesLeaf(): boolean {
    return this.#backend.supports.conditionalAppend;
  }

  /** Number and size of appends and changes that have not been written yet. */
  get waiting(): { readonly count: number; readonly characters: number } {
    return { count: this.#waiting.length + this.#amendments, characters: this.#waitingCharacters };
  }

  /** Reads the whole session. */
  async load(id: string, pace: RetryPace, { signal, onProgress }: LoadOptions): Promise<void> {
    for (let isEnd = false; !isEnd; ) {
      const page = await repeatUntilAnswered(
        () => readNext(this.#backend, id, this.#knownSeq, this.lines.lastEntryId),
        pace,
        signal,
      );
      if (page === undefined || (page.revision !== this.#revision && this.#knownSeq > 0)) {
        [this.lines, this.#knownSeq] = [new RemoteLines(), 0];
        continue;
      }
      this.#revision = page.revision;
      this.lines.take(joinLines(page.lines, page.isEnd));
      this.#knownSeq = page.lines.at(-1)?.seq ?? this.#knownSeq;
      isEnd = page.isEnd;
      onProgress?.(this.lines.index.position, this.lines.index.position);
    }
    refuseAborted(signal);
    this.lines.end();
    this.#knownId = this.lines.lastEntryId;
  }

  /** Creates the session in the backend with all current lines. */
  create(): void {
    const { bytes, pending, index } = this.lines;
    const ids = Array.from(index.tree.ordinals(), (ordinal) => index.tree.idAt(ordinal));
    this.#wait(pending);
    this.#queue.push({
      isOptional: false,
      run: makeRepeatable(async (isRepeated) => {
        const receipt = await this.#created(bytes, ids, isRepeated);
        await retryOn("SESSION_NOT_FOUND", this.#acknowledge(receipt, pending));
      }),
    });
  }

  /** Writes appended lines, together with lines appended shortly afterward. */
  append(lines: readonly LogLine[]): void {
    this.#wait(lines);
    if (this.#open?.add(lines)) return;
    this.#open = new LineBatch(lines, async (batch, isRepeated) => {
      const receipt = await this.#afterKnown(async (condition, isAgain) => {
        const unsent = isRepeated || isAgain ? await this.#unsent(batch) : batch;
        const encoded = unsent.map(({ text }) => makeEntryLine(text, this.#withSearchText));
        const answer =
          encoded.length > 0 ? await this.#backend.append(this.#id, encoded, condition) : undefined;
        return unsent.length === batch.length ? answer : undefined;
      });
      // The next append determines whether a missing session was deleted.
      await retryOn("SESSION_NOT_FOUND", this.#acknowledge(receipt, batch));
    });
    this.#queue.push(this.#open);
  }

  /**
   * Changes stored lines.
   *
   * @param lines - Lines that the session has until the backend responds.
   * @throws {SessionError} `WRITE_FAILED` if the backend cannot change lines. Nothing has changed.
   */
  amend(lines: RemoteLines, change: StoredChange, more: () => readonly LogLine[]): void {
    if (this.#backend.amend === undefined) throw makeCannotAmendError(this.#id);
    this.lines = lines;
    this.#open = undefined;
    this.#amendments++;
    this.#queue.push({
      isOptional: false,
      run: async () => {
        await this.#assertKnown(more);
        const { before, after } = await amendLines(this.#backend, this.#id, change, more);
        const stored = await this.#readAll();
        if (stored.revision < after) throw makeLostError();
        if (before === this.#revision) this.#revision = after;
        // Of several amendments, only the last one checks for lost lines, because lines of later amendments are not yet
        // stored.
        const isLast = this.#amendments === 1 && stored.revision === this.#revision;
        if (isLast && this.#lostLines(stored, more()).length > 0) throw makeLostError();
        this.#amendments--;
        this.#takeAll(stored);
      },
    });
  }

  /** Waits for all pending writes, and reads writes from other processes. */
  pull(): Promise<void> {
    if (this.#pull !== undefined) return this.#pull.done;
    const job: Job = {
      isOptional: true,
      run: () => {
        // This response may not cover later requests.
        if (this.#pull?.job === job) this.#pull = undefined;
        return this.#catchUp();
      },
    };
    this.#open = undefined;
    this.#queue.push(job);
    const done = this.#queue.wait(job).finally(() => {
      if (this.#pull?.job === job) this.#pull = undefined;
    });
    this.#pull = { job, done };
    return done;
  }

  /** Works like `pull`, but returns false if the backend does not currently respond. */
  async pullIfReachable(): Promise<boolean> {
    try {
      await this.pull();
      return true;
    } catch (error) {
      if (isSessionError(error, "WRITE_FAILED")) return false;
      throw error;
    }
  }

  /** Appends an entry if the leaf in the backend is the expected leaf. */
  async appendIfLeaf(line: LogLine, expectedLeafId: string | null): Promise<void> {
    const encoded = makeEntryLine(line.text, this.#withSearchText);
    this.#open = undefined;
    // An entry that was accepted and then lost is appended again like any known line.
    let isAccepted = false;
    const job: Job = {
      isOptional: true,
      run: makeRepeatable(async (isRepeated) => {
        try {
          await this.#afterKnown(async (condition, isAgain) => {
            const isSent = (isRepeated || isAgain) && (await this.#unsent([line])).length === 0;
            const given = isAccepted ? condition : { ...condition, expectedLeafId };
            if (!isSent) await this.#backend.append(this.#id, [encoded], given);
            isAccepted = true;
          });
        } catch (error) {
          if (isSessionError(error, "STALE_LEAF")) await retryOn("SESSION_NOT_FOUND", this.#catchUp());
          throw error;
        }
        await retryOn("SESSION_NOT_FOUND", this.#catchUp());
        // While lines are being changed, the entry's position is provisional until all lines have been read again.
        if (this.#amendments > 0) this.lines.adopt([line]);
        if (this.lines.index.tree.find(line.head.id) === NONE) throw makeLostError();
      }),
    };
    this.#queue.push(job);
    await this.#queue.wait(job);
  }

  /** Subscribes to writes from other processes; returns false if the backend does not offer subscriptions. */
  async subscribe(onMore: () => void, signal: AbortSignal): Promise<boolean> {
    const { supports } = this.#backend;
    if (!supports.watch || this.#backend.subscribe === undefined) return false;
    try {
      await this.#backend.subscribe(this.#id, onMore, { signal });
      return true;
    } catch (error) {
      if (isSessionError(error)) throw error;
      return false;
    }
  }

  #wait(lines: readonly LogLine[]): void {
    for (const line of lines) {
      this.#waiting.push(line);
      this.#waitingCharacters += line.text.length;
    }
  }

  /** Creates the session in the backend; returns undefined if an earlier attempt already created it but its response was lost. */
  async #created(
    bytes: Uint8Array,
    ids: readonly string[],
    isRepeated: boolean,
  ): Promise<AppendReceipt | undefined> {
    const { header } = this.lines.index;
    if (header === undefined) throw new TypeError("a session without a header cannot be written");
    try {
      return await this.#backend.create(
        makeStorableFacts(header),
        splitLineBatches(once(bytes), this.#withSearchText),
      );
    } catch (error) {
      if (!isRepeated || !isSessionError(error, "SESSION_EXISTS")) throw error;
      if (!(await isSameSession(this.#backend, header, ids))) throw error;
      return undefined;
    }
  }

  /** Returns the lines that still must be sent. An earlier attempt has already stored the other lines. */
  async #unsent(lines: readonly LogLine[]): Promise<readonly LogLine[]> {
    const known = { seq: this.#knownSeq, revision: this.#revision };
    const unchanged = await findUnchangedLines(this.#backend, this.#id, lines, known);
    // A backend searches for repeated lines only after the last known line.
    return this.#amendments > 0 ? unchanged : unchanged.filter((line) => !this.lines.isStored(line));
  }

  /**
   * Condition for an append after the known lines. Contains only a gap while lines are being changed, because their
   * positions are then unknown.
   */
  get #condition(): AppendCondition {
    const gap = drawGap();
    if (this.#amendments > 0 || this.#knownSeq === 0) return { gap };
    return {
      gap,
      afterSeq: this.#knownSeq,
      ...(this.#knownId !== undefined && { afterEntryId: this.#knownId }),
    };
  }

  /** Makes a call on the condition that the known lines are stored. If lines are lost, restores them and repeats the call. */
  async #afterKnown<T>(call: (condition: AppendCondition, isAgain: boolean) => Promise<T>): Promise<T> {
    try {
      return await call(this.#condition, false);
    } catch (error) {
      if (!isSessionError(error, "WRITES_LOST")) throw error;
    }
    await this.#restore([]);
    return retryOn("WRITES_LOST", call(this.#condition, true));
  }

  /** Restores lines that the backend has lost. Called before lines are changed. */
  async #assertKnown(more: () => readonly LogLine[]): Promise<void> {
    try {
      await this.#backend.read(this.#id, this.#knownSeq, 1, this.#knownId);
    } catch (error) {
      if (!isSessionError(error, "WRITES_LOST")) throw error;
      await this.#restore(more());
    }
  }

  /**
   * Appends known lines that the backend has lost, unless lines were changed or the session was deleted in the
   * meantime, because redacted or deleted lines must not reappear.
   *
   * @param unsent - Additional lines that are not considered lost, because they were never sent.
   * @throws {SessionError} `WRITES_LOST` if entries are lost and must not be appended again.
   */
  async #restore(unsent: readonly LogLine[]): Promise<void> {
    const stored = await this.#readStored();
    return stored === undefined ? this.#createAgain() : this.#restoreTo(stored, unsent);
  }

  async #restoreTo(stored: WholeSession, unsent: readonly LogLine[]): Promise<void> {
    const lost = this.#lostLines(stored, unsent);
    if (lost.length === 0) return this.#takeAll(stored);
    if (this.#isReadOnly || stored.revision !== this.#revision) {
      const error = notRestored(this.#id, lost.length);
      if (this.#isReadOnly) this.#takeAll(stored);
      this.#report(error.message);
      if (this.#isReadOnly) return;
      throw error;
    }
    let afterSeq = stored.lines.at(-1)?.seq ?? 0;
    for (const batch of splitBatches(lost)) {
      const encoded = batch.map(({ text }) => makeEntryLine(text, this.#withSearchText));
      const answer = this.#backend.append(this.#id, encoded, { afterSeq, gap: drawGap() });
      afterSeq = (await retryOn("WRITES_LOST", answer)).lastSeq;
      this.#queue.noteAnswer();
    }
    await this.#takeRestored(
      lost.map(({ head }) => head.id),
      unsent,
    );
  }

  /** Reads all lines after lost entries were appended again. Throws if entries were lost again. */
  async #takeRestored(ids: readonly string[], unsent: readonly LogLine[]): Promise<void> {
    const stored = await retryOn("SESSION_NOT_FOUND", this.#readAll());
    if (this.#lostLines(stored, unsent).length > 0) throw makeLostError();
    this.#takeAll(stored);
    this.#listener.onRestored(ids);
  }

  /** Returns the entries that were stored but no longer exist. */
  #lostLines(stored: WholeSession, unsent: readonly LogLine[]): LogLine[] {
    const waiting = new Set([...this.#waiting, ...unsent].map(({ head }) => head.id));
    return findLostLines(this.lines, stored, waiting);
  }

  #readAll(): Promise<WholeSession> {
    return readAllLines(this.#backend, this.#id, () => this.#queue.noteAnswer());
  }

  /** Reads all stored lines; undefined if the session no longer exists. */
  async #readStored(): Promise<WholeSession | undefined> {
    try {
      return await this.#readAll();
    } catch (error) {
      // While lines are being changed, the known lines cannot restore the session.
      if (!isSessionError(error, "SESSION_NOT_FOUND") || this.#amendments > 0) throw error;
      return undefined;
    }
  }

  /** Re-creates a session that the backend has lost entirely. */
  async #createAgain(): Promise<void> {
    const { storedBytes, index } = this.lines;
    const waiting = new Set(this.#waiting.map(({ head }) => head.id));
    const ids = Array.from(index.tree.ordinals(), (ordinal) => index.tree.idAt(ordinal));
    if (this.#isReadOnly) throw sessionNotFound(this.#id);
    // Another process may have re-created it first. The next attempt then finds the lines that are missing.
    await retryOn("SESSION_EXISTS", this.#created(storedBytes, ids, false));
    await this.#takeRestored(
      ids.filter((id) => !waiting.has(id)),
      [],
    );
  }

  #report(message: string): void {
    this.lines.index.report({ code: "WRITES_LOST", line: 0, offset: 0, length: 0, message });
  }

  /** Confirms pending writes, and reads the lines that precede them. Without a receipt, reads all lines again. */
  async #acknowledge(receipt: AppendReceipt | undefined, written: readonly LogLine[]): Promise<void> {
    const count = written.length;
    if (this.#amendments === 0) {
      const isKnown = receipt?.revision === this.#revision;
      if (receipt === undefined || !isKnown) await this.#reload();
      else if (receipt.precedingSeq !== this.#knownSeq) await this.#catchUp();
      else if (!this.lines.awaits(this.#waiting.slice(0, count))) await this.#reload();
      else {
        this.lines.confirm(count);
        this.#knownSeq = receipt.lastSeq;
        this.#knownId = written.at(-1)?.head.id ?? this.lines.lastEntryId;
      }
      // The lines were lost between the response and the read that followed.
      if (this.lines.isPending(written)) throw makeLostError();
    }
    for (const { text } of this.#waiting.splice(0, count)) this.#waitingCharacters -= text.length;
  }

  async #catchUp(): Promise<void> {
    for (let isEnd = false; !isEnd && this.#amendments === 0; ) {
      const page = await this.#readBehind();
      if (page === undefined) return;
      this.#queue.noteAnswer();
      if (page.revision !== this.#revision) return this.#reload();
      if (this.#amendments > 0) return;
      isEnd = page.isEnd;
      if (page.lines.length === 0) continue;
      this.#knownSeq = page.lines.at(-1)?.seq ?? this.#knownSeq;
      const { from, isTaken } = this.lines.merge(page.lines, page.isEnd);
      this.#knownId = this.lines.lastEntryId;
      if (isTaken) return this.#reload();
      if (from !== undefined) this.#listener.onChange({ kind: "foreign", from });
    }
  }

  /** Reads the lines after the last known line. If that line was lost, restores lost lines instead and returns undefined. */
  async #readBehind(): Promise<LinePage | undefined> {
    const page = await readNext(this.#backend, this.#id, this.#knownSeq, this.#knownId);
    if (page === undefined) await this.#restore([]);
    return page;
  }

  /** Reads all lines again because they may have changed. */
  async #reload(): Promise<void> {
    const stored = await this.#readAll();
    if (this.#amendments > 0) return;
    // Entries may disappear only through a change, which increases the revision.
    if (stored.revision > this.#revision) this.#takeAll(stored);
    else await this.#restoreTo(stored, []);
  }

  /** Replaces the known lines with the stored lines, unless lines are being changed. */
  #takeAll({ lines, known, revision }: WholeSession): void {
    if (this.#amendments > 0) return;
    const before = this.lines.index;
    this.lines = known;
    this.lines.adopt(this.#waiting);
    this.#knownSeq = lines.at(-1)?.seq ?? 0;
    this.#knownId = this.lines.lastEntryId;
    const wentBack = revision < this.#revision;
    this.#revision = revision;
    if (wentBack) this.#report(CHANGES_LOST);
    this.#listener.onChange({ kind: "reloaded", before });
  }
}

/** Creates the error for lines that were lost immediately after the store accepted them. The queue sends them again. */
function makeLostError(): Error {
  return new Error("the store lost lines immediately after it accepted them");
}

/** Converts a refusal caused by a concurrent write into an error that the queue retries. */
async function retryOn<T>(code: SessionErrorCode, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw isSessionError(error, code) ? new Error(error.message, { cause: error }) : error;
  }
}

/** Issue message for changes, such as redactions, that a backend has lost. */
const CHANGES_LOST =
  "Stored changes to lines, such as a redaction, were lost, for example because of a failover; make them again.";

function makeCannotAmendError(id: string): SessionError {
  const message =
    "This store cannot change stored lines, so it can neither redact nor upgrade. Copy the session to a store that can, such as a file store.";
  return new SessionError("WRITE_FAILED", message, { details: { id } });
}
