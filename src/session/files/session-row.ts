import type { Opening } from "../../core/facts/opening.ts";
import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { getSessionTitle } from "../../core/facts/session-title.ts";

/** Session as displayed in a list, independent of its storage. */
export interface SessionRow {
  /** Absolute path of its file; absent if it is not stored in a file. */
  readonly path?: string;
  readonly id: string;
  /** Working directory of the header; empty if the header names none. */
  readonly cwd: string;
  /** Display name, if the session has one. */
  readonly name?: string;
  /**
   * Title in one line of at most 400 characters: its name; else its first prompt; else the slash command at its beginning; else
   * the name of its file, or its time of creation.
   */
  readonly title: string;
  /** Origin of a fork, as the header states it: a path, or an id. */
  readonly parentSession?: string;
  /** Time of the header, else of the file. */
  readonly created: Date;
  /** Time of the latest user or assistant message, else of the header, else of the file. */
  readonly modified: Date;
  /** Number of entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message with text, or its beginning; absent if there is none. */
  readonly firstMessage?: string;
  /** Number of issues; absent if no line is damaged, repeated, or out of place, or if issues were not determined. */
  readonly issueCount?: number;
}

/** Row of a session that is stored in a file. */
export interface FileRow extends SessionRow {
  readonly path: string;
}

/** Facts of a session that is stored in a file. */
export interface FileFacts extends SessionFacts {
  readonly opening: Opening;
}

/** Creates the row of a session, with a fallback time for sessions without one. */
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
  // Spreading fields that most rows lack into each of thousands takes as long as all remaining work.
  if (name !== null) row.name = name;
  if (parentSession !== null) row.parentSession = parentSession;
  if (firstMessage !== null) row.firstMessage = firstMessage;
  return row;
}

/** Orders session files for a list: latest first, then by path. */
export function compareRows(a: FileRow, b: FileRow): number {
  return b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1);
}
