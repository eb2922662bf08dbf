import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { getSessionTitle, type Opening } from "../../core/facts/session-title.ts";

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
   * What people call it, in one line of at most 400 characters: its name, else its first prompt, else the command with a slash
   * that it begins with, else the name of its file or when it was begun.
   */
  readonly title: string;
  /** What it was forked from, as its header says: a path, or an id. */
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

/** The facts of a session that is kept in a file. */
export interface FileFacts extends SessionFacts {
  readonly opening: Opening;
}

/** Makes the row of a session, wherever it is kept, with a time for one that has none itself. */
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
