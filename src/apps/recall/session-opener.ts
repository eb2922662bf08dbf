import type { SearchHit } from "../../catalog/search/search.ts";
import { counted } from "../../core/facts/number-text.ts";
import { isSessionError } from "../../core/format/errors.ts";
import { NONE } from "../../core/tree/entry-tree.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { Answer } from "./answer.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";
import type { RunningSession } from "./running-session.ts";

/** Sessions that are open at a time: a large one holds memory. */
const MOST_OPEN = 8;

/** What may have become of a session since it was found. */
const GONE = ["SESSION_NOT_FOUND", "NOT_A_SESSION", "READ_FAILED"] as const;

/** An entry that was found, in its open session. */
export interface OpenedEntry {
  readonly session: RecalledSession;
  readonly ordinal: number;
}

/** Opens the sessions of hits, each once, and remembers which could not be read, and which one is running. */
export class SessionOpener {
  readonly #recall: Recall;
  readonly #running: RunningSession;
  readonly #open = new Map<string, RecalledSession>();
  readonly #unreadable = new Set<string>();

  constructor(recall: Recall, running: RunningSession) {
    this.#recall = recall;
    this.#running = running;
  }

  static async of(recall: Recall): Promise<SessionOpener> {
    return new SessionOpener(recall, await recall.running());
  }

  /** Tells whether a session is the running one, which is left out of what is searched. */
  isRunning(row: SessionRow): boolean {
    return this.#running.is(row);
  }

  /** Returns undefined for a session that is gone or cannot be read. */
  async open(row: SessionRow): Promise<RecalledSession | undefined> {
    const key = row.path ?? row.id;
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    try {
      const session = await this.#recall.open(row);
      const [oldest] = this.#open.keys();
      if (oldest !== undefined && this.#open.size >= MOST_OPEN) this.#open.delete(oldest);
      this.#open.set(key, session);
      return session;
    } catch (error) {
      if (!GONE.some((code) => isSessionError(error, code))) throw error;
      this.#unreadable.add(row.id);
      return undefined;
    }
  }

  /** Returns the entry of a hit; undefined if it is gone, or its session cannot be read. */
  async entryOf({ session: row, entryId }: SearchHit): Promise<OpenedEntry | undefined> {
    const session = await this.open(row);
    const ordinal = session?.tree.find(entryId) ?? NONE;
    return session === undefined || ordinal === NONE ? undefined : { session, ordinal };
  }

  /** Says which sessions were left out, and which could not be read. */
  noteLeftOut(answer: Answer): void {
    answer.note(this.#running.note);
    const [first] = this.#unreadable;
    if (first !== undefined)
      answer.note(`${counted(this.#unreadable.size, "session")} could not be read, such as ${first}.`);
  }
}
