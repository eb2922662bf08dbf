import type { Opening } from "../../core/facts/opening.ts";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { getSessionTitle } from "../../core/facts/session-title.ts";

/** Session as displayed in a list, regardless of where it is stored. */
export interface SessionRow {
  /** Absolute path of the session's file; absent if it is not stored in a file. */
  readonly path?: string;
  readonly id: string;
  /** Working directory from the header; empty if it has none. */
  readonly cwd: string;
  /** Display name, if the session has one. */
  readonly name?: string;
  /**
   * Title, as one line of at most 400 characters. The title is the first of these that exists: the name, the first prompt, the
   * slash command at the beginning, the file name, or the creation time.
   */
  readonly title: string;
  /** Session from which this one was forked, as stated in the header: a path or an id. */
  readonly parentSession?: string;
  /** Time from the header, falling back to the file's time. */
  readonly created: Date;
  /** Time of the latest user or assistant message, falling back to the header's time and then to the file's time. */
  readonly modified: Date;
  /** Number of entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message that has text, or its beginning; absent if there is none. */
  readonly firstMessage?: string;
  /** Number of issues. Absent if no line is damaged, repeated, or out of place, or if the issues were not counted. */
  readonly issueCount?: number;
}

/** Row of a session that is stored in a file. */
export interface FileRow extends SessionRow {
  readonly path: string;
}

/** Facts about a session that is stored in a file. */
export interface FileFacts extends SessionFacts {
  readonly opening: Opening;
}

/** Creates the row of a session. The fallback time is used if the session has no time. */
export function makeSessionRow(
  facts: SessionFacts & Partial<FileFacts>,
  fallbackMs = 0,
  fileName?: string,
): { -readonly [Key in keyof SessionRow]: SessionRow[Key] } {
  const { id, cwd, name, parentSession, createdMs, lastMessageMs, messageCount, firstMessage, opening } =
    facts;
  const row: ReturnType<typeof makeSessionRow> = {
    id,
    cwd,
    title: getSessionTitle({ name, opening, firstMessage, fileName, createdMs }),
    created: new Date(createdMs ?? fallbackMs),
    modified: new Date(lastMessageMs ?? createdMs ?? fallbackMs),
    messageCount,
  };
  // Spreading optional fields into thousands of rows, most of which lack them, would take as long as all other work.
  if (name !== null) row.name = name;
  if (parentSession !== null) row.parentSession = parentSession;
  if (firstMessage !== null) row.firstMessage = firstMessage;
  return row;
}

/** Orders session files for a list: latest first, then by path. */
export function compareRows(a: FileRow, b: FileRow): number {
  return b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1);
}
