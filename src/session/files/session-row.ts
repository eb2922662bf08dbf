import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { getSessionTitle, type Opening } from "../../core/facts/session-title.ts";

/** A session as a list shows it, wherever it is kept. */
export interface SessionRow {
  /** Absolute path of its file; absent if it is kept elsewhere. */
  readonly path?: string;
  readonly id: string;
  /** Working directory of the header; empty if it names none. */
  readonly cwd: string;
  /** Display name, if it has one. */
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
  /** Entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message that has text, or how it begins; absent if there is none. */
  readonly firstMessage?: string;
  /** How many issues it has; absent if no line is damaged, repeated or out of place, or nobody looked. */
  readonly issueCount?: number;
}

/** The row of a session that is kept in a file. */
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
  // Spreading what most rows lack into each of thousands takes as long as all the rest.
  if (name !== null) row.name = name;
  if (parentSession !== null) row.parentSession = parentSession;
  if (firstMessage !== null) row.firstMessage = firstMessage;
  return row;
}

/** Orders session files for a list: latest first, then by path. */
export function compareRows(a: FileRow, b: FileRow): number {
  return b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1);
}
