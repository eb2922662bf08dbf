import type { SearchHit } from "../../catalog/search/search.ts";
import { formatCounted } from "../../core/facts/number-text.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { SkippedFile } from "../../session/files/skipped-files.ts";
import { TooSlowError } from "../../session/fs/limited-scripts.ts";
import type { Answer } from "./answer.ts";
import { isEcho, isRecallTool } from "./echo.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import { findRunningSession, type RunningSession } from "./running-session.ts";
import { isUnreadable, type SourceQuery } from "./session-source.ts";

/** Maximum number of open sessions, because a large session uses a lot of memory. */
const MAX_OPEN = 8;

/** Maximum number of sessions where an expression may take too long. */
const MAX_SLOW = 4;

/** Entry of a hit, in its open session. */
export interface OpenedEntry {
  readonly session: RecalledSession;
  readonly ordinal: number;
}

/** Opens the sessions of hits, each once, and keeps track of unreadable sessions and the running session. */
export class SessionOpener {
  readonly #recall: Recall;
  readonly #open = new Map<string, RecalledSession>();
  readonly #unreadable = new Set<string>();
  #slow = 0;
  #running: RunningSession | undefined;

  constructor(recall: Recall) {
    this.#recall = recall;
  }

  /** Finds the calling session, once. */
  async findRunning(): Promise<RunningSession> {
    this.#running ??= await findRunningSession(this.#recall, (row) => this.open(row));
    return this.#running;
  }

  /** Returns the session of a row; undefined if it no longer exists or cannot be read. */
  async open(row: SessionRow): Promise<RecalledSession | undefined> {
    const key = row.path ?? row.id;
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    try {
      const session = await this.#recall.open(row);
      const [oldest] = this.#open.keys();
      if (oldest !== undefined && this.#open.size >= MAX_OPEN) this.#open.delete(oldest);
      this.#open.set(key, session);
      return session;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable.add(row.id);
      return undefined;
    }
  }

  /** Returns the entry of a hit; undefined if it no longer exists, or its session cannot be read. */
  async openEntry({ session: row, entryId }: SearchHit): Promise<OpenedEntry | undefined> {
    await this.#recall.time.rest();
    const session = await this.open(row);
    const ordinal = session?.tree.find(entryId) ?? NONE;
    return session === undefined || ordinal === NONE ? undefined : { session, ordinal };
  }

  /** Returns whether a hit is in content recalled from other sessions. */
  async isEcho(hit: SearchHit): Promise<boolean> {
    const isOfTool = isRecallTool(hit.tool ?? "");
    if (hit.role === "toolResult" && isOfTool) return true;
    // A model's own text contains no answer, so most entries need not be read.
    if (hit.role === "assistant" && !isOfTool) return false;
    const found = await this.openEntry(hit);
    const entry = found?.session.view.entryAt(found.ordinal);
    return entry !== undefined && isEcho(hit, entry);
  }

  /**
   * Searches, and yields hits outside the running session.
   *
   * Omits sessions that cannot be read, or where an expression takes too long; after a few timeouts the search ends, because each
   * takes a quarter of a second.
   */
  async *search(query: SourceQuery): AsyncGenerator<SearchHit, void, undefined> {
    const { settings, time } = this.#recall;
    const running = await this.findRunning();
    const onSkipped = ({ path, reason }: SkippedFile) => {
      if (reason === "too-slow") this.#slow++;
      else if (reason === "unreadable") this.#unreadable.add(path);
      if (this.#slow >= MAX_SLOW) throw new TooSlowError();
    };
    const hits = settings.source.search({ ...query, onSkipped, ...(time.signal && { signal: time.signal }) });
    try {
      for await (const hit of hits) {
        await time.rest();
        if (!running.is(hit.session)) yield hit;
      }
    } catch (error) {
      if (!(error instanceof TooSlowError)) throw error;
    }
  }

  /** Notes which sessions were omitted, and why. */
  noteLeftOut(answer: Answer): void {
    answer.addLast(this.#running?.note);
    const [first] = this.#unreadable;
    if (first !== undefined)
      answer.addLast(
        `${formatCounted(this.#unreadable.size, "session")} could not be read, such as ${first}.`,
      );
    if (this.#slow === 0) return;
    const end = this.#slow < MAX_SLOW ? "which were left out" : "so the search ended there";
    answer.note(
      `The expression took too long on ${formatCounted(this.#slow, "session")}, ${end}; make it simpler.`,
    );
  }
}
