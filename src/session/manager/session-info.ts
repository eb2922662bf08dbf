import type { FileRow } from "../files/session-row.ts";

/** A row of the session list, in pi's shape. */
export interface SessionInfo extends Omit<FileRow, "title"> {
  /** Display title. pi does not have this field. */
  readonly title?: string;
  /** Path of the session from which this one was forked; same as `parentSession`. */
  parentSessionPath?: string;
  /** Text of the first user message that has text, or `(no messages)`. */
  firstMessage: string;
  /** Text of all user and assistant messages. Read from the file on first access, then cached. */
  allMessagesText: string;
}

/**
 * Called while sessions are listed.
 *
 * @param loaded - Number of files that have been read.
 * @param total - Number of files.
 * @param partial - Sessions found so far, latest first. Passed only occasionally.
 */
export type SessionListProgress = (loaded: number, total: number, partial?: readonly SessionInfo[]) => void;
