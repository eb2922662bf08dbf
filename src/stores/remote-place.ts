import type { LoadOptions } from "../log/file-log-options.ts";
import type { LogChange, LogLine } from "../log/session-log.ts";
import { refuseAborted } from "../schema/abort.ts";
import { isSessionError, SessionError } from "../schema/errors.ts";
import { amendLines, type StoredChange } from "./amendment.ts";
import { LineBatch } from "./line-batch.ts";
import { joinLines, linesOf, newEntryLine } from "./line-codec.ts";
import { storableFacts } from "./line-facts.ts";
import { isMadeOf, repeatable, unchangedLines } from "./lost-answers.ts";
import { PAGE_LINES, readAllLines, sessionIn } from "./read-lines.ts";
import { RemoteLines } from "./remote-lines.ts";
import { type RetryPace, untilAnswered } from "./retries.ts";
import type { Job, RetryQueue } from "./retry-queue.ts";
import type { AppendReceipt, SessionBackend } from "./session-backend.ts";

/**
 * One session in a backend, and its known state.
 *
 * All calls go through one queue, so that answers come in order; each leaves the known state consistent with the backend.
 */
export class RemotePlace {
  lines: RemoteLines;
  readonly #backend: SessionBackend;
  readonly #queue: RetryQueue;
  readonly #notify: (change: LogChange) => void;
  /** The last known line. */
  #knownSeq = 0;
  #revision = 0;
  /** Pending writes without an answer, in order. */
  #waiting: LogLine[] = [];
  #waitingCharacters = 0;
  /** The batch that can still grow. */
  #open: LineBatch | undefined;
  /** Amendments without an answer: until it comes, the places of lines are unknown. */
  #amendments = 0;
  #pull: { readonly job: Job; readonly done: Promise<void> } | undefined;

  constructor(
    backend: SessionBackend,
    queue: RetryQueue,
    lines: RemoteLines,
    notify: (change: LogChange) => void,
  ) {
    this.#backend = backend;
    this.#queue = queue;
    this.lines = lines;
    this.#notify = notify;
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

  /** What was appended or changed, and is not yet written. */
  get waiting(): { readonly count: number; readonly characters: number } {
    return { count: this.#waiting.length + this.#amendments, characters: this.#waitingCharacters };
  }

  /** Reads the whole session. */
  async load(id: string, pace: RetryPace, { signal, onProgress }: LoadOptions): Promise<void> {
    for (let isEnd = false; !isEnd; ) {
      const page = await untilAnswered(
        () => this.#backend.read(id, this.#knownSeq, PAGE_LINES),
        pace,
        signal,
      );
      if (page.revision !== this.#revision && this.#knownSeq > 0) {
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
  }

  /** Creates the session with all lines so far. */
  create(): void {
    const { bytes, pending, index } = this.lines;
    const ids = Array.from(index.tree.ordinals(), (ordinal) => index.tree.idAt(ordinal));
    this.#wait(pending);
    this.#queue.push({
      isOptional: false,
      run: repeatable(async (isRepeated) => {
        const receipt = await this.#created(bytes, ids, isRepeated);
        await this.#acknowledge(receipt, pending.length);
      }),
    });
  }

  /** Writes appended lines, together with others that follow closely. */
  append(lines: readonly LogLine[]): void {
    this.#wait(lines);
    if (this.#open?.add(lines)) return;
    this.#open = new LineBatch(lines, async (batch, isRepeated) => {
      const unchanged = isRepeated ? await this.#unchanged(batch) : batch;
      const encoded = unchanged.map(({ text }) => newEntryLine(text, this.#withSearchText));
      const receipt = encoded.length > 0 ? await this.#backend.append(this.#id, encoded) : undefined;
      await this.#acknowledge(unchanged.length === batch.length ? receipt : undefined, batch.length);
    });
    this.#queue.push(this.#open);
  }

  /**
   * Changes lines that are there.
   *
   * @param lines - The session's lines from now on, until the backend answers.
   * @throws {SessionError} `WRITE_FAILED` if the backend cannot, and then nothing has changed.
   */
  amend(lines: RemoteLines, change: StoredChange, more: () => readonly LogLine[]): void {
    if (this.#backend.amend === undefined) throw cannotAmend(this.#id);
    this.lines = lines;
    this.#open = undefined;
    this.#amendments++;
    let isDone = false;
    this.#queue.push({
      isOptional: false,
      run: async () => {
        if (!isDone) await amendLines(this.#backend, this.#id, change, more);
        if (!isDone) this.#amendments--;
        isDone = true;
        await this.#reload();
      },
    });
  }

  /** Waits for all pending writes, and reads what others have written. */
  pull(): Promise<void> {
    if (this.#pull !== undefined) return this.#pull.done;
    const job: Job = {
      isOptional: true,
      run: () => {
        // Later requests may not be covered by this answer.
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

  /** Does the same; returns false if the backend does not answer at present. */
  async pullIfReachable(): Promise<boolean> {
    try {
      await this.pull();
      return true;
    } catch (error) {
      if (isSessionError(error, "WRITE_FAILED")) return false;
      throw error;
    }
  }

  /** Appends an entry if the backend's leaf is the expected one. */
  async appendIfLeaf(line: LogLine, expectedLeafId: string | null): Promise<void> {
    const encoded = newEntryLine(line.text, this.#withSearchText);
    this.#open = undefined;
    const job: Job = {
      isOptional: true,
      run: repeatable(async (isRepeated) => {
        try {
          const isChanged = isRepeated && (await this.#unchanged([line])).length === 0;
          if (!isChanged) await this.#backend.append(this.#id, [encoded], { expectedLeafId });
        } catch (error) {
          if (isSessionError(error, "STALE_LEAF")) await this.#catchUp();
          throw error;
        }
        await this.#catchUp();
        // While lines are being changed, its place is provisional, until all lines are read anew.
        if (this.#amendments > 0) this.lines.adopt([line]);
      }),
    };
    this.#queue.push(job);
    await this.#queue.wait(job);
  }

  /** Subscribes to others' writes; false if the backend offers no subscription. */
  async subscribe(onMore: () => void, signal: AbortSignal): Promise<boolean> {
    const { supports } = this.#backend;
    if (!supports.watch || this.#backend.subscribe === undefined) return false;
    try {
      await this.#backend.subscribe(this.#id, onMore, signal);
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

  /** Creates the session; undefined if an attempt whose answer was lost has created it. */
  async #created(
    bytes: Uint8Array,
    ids: readonly string[],
    isRepeated: boolean,
  ): Promise<AppendReceipt | undefined> {
    const { header } = this.lines.index;
    if (header === undefined) throw new TypeError("a session without a header cannot be written");
    try {
      return await this.#backend.create(storableFacts(header), linesOf(once(bytes), this.#withSearchText));
    } catch (error) {
      if (!isRepeated || !isSessionError(error, "SESSION_EXISTS")) throw error;
      if (!(await isMadeOf(this.#backend, header, ids))) throw error;
      return undefined;
    }
  }

  #unchanged(lines: readonly LogLine[]): Promise<readonly LogLine[]> {
    const known = { seq: this.#knownSeq, revision: this.#revision };
    return unchangedLines(this.#backend, this.#id, lines, known);
  }

  /** Confirms pending writes, and reads what came before them; without a receipt, reads all anew. */
  async #acknowledge(receipt: AppendReceipt | undefined, count: number): Promise<void> {
    if (this.#amendments === 0) {
      const isKnown = receipt?.revision === this.#revision;
      if (receipt === undefined || !isKnown) await this.#reload();
      else if (receipt.precedingSeq !== this.#knownSeq) await this.#catchUp();
      else if (!this.lines.awaits(this.#waiting.slice(0, count))) await this.#reload();
      else {
        this.lines.confirm(count);
        this.#knownSeq = receipt.lastSeq;
      }
    }
    for (const { text } of this.#waiting.splice(0, count)) this.#waitingCharacters -= text.length;
  }

  async #catchUp(): Promise<void> {
    for (let isEnd = false; !isEnd && this.#amendments === 0; ) {
      const page = await this.#backend.read(this.#id, this.#knownSeq, PAGE_LINES);
      this.#queue.noteAnswer();
      if (page.revision !== this.#revision) return this.#reload();
      if (this.#amendments > 0) return;
      isEnd = page.isEnd;
      if (page.lines.length === 0) continue;
      this.#knownSeq = page.lines.at(-1)?.seq ?? this.#knownSeq;
      const { from, isTaken } = this.lines.merge(page.lines, page.isEnd);
      if (isTaken) return this.#reload();
      if (from !== undefined) this.#notify({ kind: "foreign", from });
    }
  }

  /** Reads everything anew, since lines were changed. */
  async #reload(): Promise<void> {
    const noteAnswer = () => this.#queue.noteAnswer();
    const { lines, revision } = await readAllLines(this.#backend, this.#id, noteAnswer);
    if (this.#amendments > 0) return;
    const before = this.lines.index;
    this.lines = sessionIn(lines);
    this.lines.adopt(this.#waiting);
    this.#knownSeq = lines.at(-1)?.seq ?? 0;
    this.#revision = revision;
    this.#notify({ kind: "reloaded", before });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

function cannotAmend(id: string): SessionError {
  return new SessionError(
    "WRITE_FAILED",
    "This store keeps lines as they are: it can neither redact nor upgrade. Copy the session to one that can, such as files.",
    { details: { id } },
  );
}
