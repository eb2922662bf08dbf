import type { SessionRow } from "../catalog/session-row.ts";
import { isSessionError } from "../schema/errors.ts";
import { counted } from "../view/words.ts";
import type { Answer } from "./answer.ts";
import type { Recall } from "./recall.ts";
import type { RecalledSession } from "./recalled-session.ts";

/** Sessions that are open at a time: a large one holds memory. */
const MOST_OPEN = 8;

/** What may have become of a session since it was found. */
const GONE = ["SESSION_NOT_FOUND", "NOT_A_SESSION", "READ_FAILED"] as const;

/** Opens the sessions of hits, each once, and remembers which could not be read. */
export class SessionOpener {
  readonly #recall: Recall;
  readonly #open = new Map<string, RecalledSession>();
  readonly #unreadable = new Set<string>();

  constructor(recall: Recall) {
    this.#recall = recall;
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

  /** Says which sessions could not be read. */
  noteUnreadable(answer: Answer): void {
    if (this.#unreadable.size === 0) return;
    const [first = ""] = this.#unreadable;
    answer.note(`${counted(this.#unreadable.size, "session")} could not be read, such as ${first}.`);
  }
}
