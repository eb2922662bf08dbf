import type { NewLine } from "./session-backend.ts";

export { COMMUTING_TYPES } from "../manager/expected-leaf.ts";

/** What a list shows of a session, and what it is found by. */
export interface SessionFacts {
  /** Id of the header. */
  readonly id: string;
  /** Working directory of the header; empty if it names none. */
  readonly cwd: string;
  /** Display name; null if it has none. */
  readonly name: string | null;
  /** What the header says the session was forked from: a path, or an id. */
  readonly parentSession: string | null;
  /** Time of the header, in Unix milliseconds. */
  readonly createdMs: number;
  /** The latest time of an entry, or of the header. */
  readonly modifiedMs: number;
  /** Entries of type `message`. */
  readonly messageCount: number;
  /** How the first user message with text begins; null if there is none. */
  readonly firstMessage: string | null;
}

/**
 * Gives the facts of a session behind which lines were put.
 *
 * @param lines - Only those that were really added, each once, in order.
 * @remarks Cost: O(lines).
 */
export function factsAfter(session: SessionFacts, lines: readonly NewLine[]): SessionFacts {
  let { name, modifiedMs, messageCount, firstMessage } = session;
  for (const { entry } of lines) {
    if (entry?.sessionName !== undefined) name = entry.sessionName;
    modifiedMs = Math.max(modifiedMs, entry?.timestampMs ?? modifiedMs);
    if (entry?.type === "message") messageCount++;
    firstMessage ??= entry?.userText ?? null;
  }
  return { ...session, name, modifiedMs, messageCount, firstMessage };
}
