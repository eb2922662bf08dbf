export { COMMUTING_TYPES } from "../log/expected-leaf.ts";

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
 * What a line with an entry can be asked for by; taken from the line, and never more than it says.
 *
 * No text in it holds U+0000 or half a surrogate pair; in facts of sessions neither.
 */
export interface EntryFacts {
  readonly id: string;
  /** Null for a root, and for an entry that does not say. */
  readonly parentId: string | null;
  readonly type: string;
  /** Unix milliseconds, a whole number; null if the line tells no time. */
  readonly timestampMs: number | null;
  /** Of an entry that names the session: the name, or null if it takes the name away. Absent in all others. */
  readonly sessionName?: string | null;
  /** Of a user message that has text: how it begins, 200 characters at most. Absent in all others. */
  readonly userText?: string;
  /** The text in which words are searched; given only to backends that support search. */
  readonly searchText?: string;
}

/**
 * Returns the facts of a session behind which lines were put.
 *
 * @param lines - Only those that were really added, each once, in order.
 * @remarks Cost: O(lines).
 */
export function factsAfter(
  session: SessionFacts,
  lines: readonly { readonly entry?: EntryFacts }[],
): SessionFacts {
  let { name, modifiedMs, messageCount, firstMessage } = session;
  for (const { entry } of lines) {
    if (entry?.sessionName !== undefined) name = entry.sessionName;
    modifiedMs = Math.max(modifiedMs, entry?.timestampMs ?? modifiedMs);
    if (entry?.type === "message") messageCount++;
    firstMessage ??= entry?.userText ?? null;
  }
  return { ...session, name, modifiedMs, messageCount, firstMessage };
}
