export { COMMUTING_TYPES } from "../log/expected-leaf.ts";

/** The facts of a session that lists show and queries use. */
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
  /** Beginning of the first user message with text; null if there is none. */
  readonly firstMessage: string | null;
}

/**
 * The facts of an entry's line that queries use, all taken from the line.
 *
 * No text in these and in `SessionFacts` holds U+0000 or half a surrogate pair.
 */
export interface EntryFacts {
  readonly id: string;
  /** Null for a root, and for an entry without the field. */
  readonly parentId: string | null;
  readonly type: string;
  /** Unix milliseconds, a whole number; null if the line has no time. */
  readonly timestampMs: number | null;
  /** The name that the entry sets, or null if it clears the name. Absent in other entries. */
  readonly sessionName?: string | null;
  /** The first 200 characters of a user message with text. Absent in other entries. */
  readonly userText?: string;
  /** The searched text; only given to backends that support search. */
  readonly searchText?: string;
}

/**
 * Returns the facts of a session after lines were added.
 *
 * @param lines - The lines that were really added, each once, in order.
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
