import type { CatalogOptions } from "../catalog/catalog-run.ts";
import { listSessions } from "../catalog/list-sessions.ts";
import { readMessagesText } from "../catalog/messages-text.ts";
import type { FileRow } from "../catalog/session-row.ts";

/** A list row in pi's shape. */
export interface SessionInfo extends FileRow {
  /** Path of the session that this one was forked from; same as `parentSession`. */
  parentSessionPath?: string;
  /** Text of the first user message that has text, or `(no messages)`. */
  firstMessage: string;
  /** Text of all user and assistant messages. Read from the file on first access, then cached. */
  allMessagesText: string;
}

/**
 * Called while sessions are listed.
 *
 * @param loaded - Files read so far.
 * @param total - Number of files.
 * @param partial - Occasionally, the sessions found so far, latest first.
 */
export type SessionListProgress = (loaded: number, total: number, partial?: readonly SessionInfo[]) => void;

const NO_MESSAGES = "(no messages)";

/**
 * Lists sessions as `listSessions` does, in pi's shape.
 *
 * @throws {SessionError} `ABORTED`
 * @remarks Cost: that of a list of the sessions.
 */
export async function listInfos(
  options: CatalogOptions,
  onProgress?: SessionListProgress,
): Promise<SessionInfo[]> {
  const known = new Map<FileRow, SessionInfo>();
  const infoOf = (row: FileRow) => {
    const info = known.get(row) ?? sessionInfo(row);
    known.set(row, info);
    return info;
  };
  if (onProgress === undefined) return (await listSessions(options)).map(sessionInfo);
  const rows = await listSessions({
    ...options,
    onProgress: (loaded, total, partial) => onProgress(loaded, total, partial?.map(infoOf)),
  });
  return rows.map(infoOf);
}

/** Texts of sessions, read on demand. */
const textsAskedFor = new WeakMap<object, string>();

/** All rows share one getter: with a getter each, engines make hash tables of the objects. */
const TEXT_WHEN_ASKED: PropertyDescriptor & ThisType<SessionInfo> = {
  enumerable: true,
  configurable: true,
  get() {
    const text = textsAskedFor.get(this) ?? readMessagesText(this.path);
    textsAskedFor.set(this, text);
    return text;
  },
};

function sessionInfo(row: FileRow): SessionInfo {
  const { parentSession, firstMessage = NO_MESSAGES } = row;
  const info: Omit<SessionInfo, "allMessagesText"> = { ...row, firstMessage };
  if (parentSession !== undefined) info.parentSessionPath = parentSession;
  addText(info);
  return info;
}

function addText(info: Omit<SessionInfo, "allMessagesText">): asserts info is SessionInfo {
  Object.defineProperty(info, "allMessagesText", TEXT_WHEN_ASKED);
}
