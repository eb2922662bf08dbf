import type { CatalogOptions } from "../../catalog/list/catalog-run.ts";
import { listSessions } from "../../catalog/list/list-sessions.ts";
import { MessageBodyReader } from "../../catalog/list/message-bytes.ts";
import { messageFieldsOf } from "../../core/context/entry-fields.ts";
import { messageText } from "../../core/facts/session-facts.ts";
import { decodeEntry } from "../../core/jsonl/entry-body.ts";
import { EntryHeadReader } from "../../core/jsonl/entry-head.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { FileRow } from "../files/session-row.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { readSessionFile } from "../log/read-session-file.ts";

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

/** Reads the text of all user and assistant messages of a session file, joined by one space; empty if the file is gone. */
function readMessagesText(path: string): string {
  const session = ifPresent(() => readSessionFile(realFileSystem, path));
  if (session === undefined) return "";
  try {
    return textsOfMessages(session).join(" ");
  } finally {
    realFileSystem.closeSync(session.fd);
  }
}

function textsOfMessages({ index, readLines }: LineSource): string[] {
  const { tree } = index;
  const head = new EntryHeadReader();
  const body = new MessageBodyReader();
  const texts: string[] = [];
  const messages = [...tree.ordinals()].filter((ordinal) => tree.typeAt(ordinal) === "message");
  readLines(messages, (ordinal, bytes) => {
    const isUsual = head.read(bytes, 0, bytes.length);
    if (isUsual) body.read(bytes, head.bodyStart, bytes.length);
    if (isUsual && body.role === "other") return;
    const entry = decodeEntry(bytes, tree.headAt(ordinal), index);
    const message = messageFieldsOf(entry);
    const isSpoken = message["role"] === "user" || message["role"] === "assistant";
    const text = isSpoken ? messageText(message) : undefined;
    if (text !== undefined) texts.push(text);
  });
  return texts;
}
