import { fieldsOf } from "../context/entry-fields.ts";
import { decodeEntry } from "../jsonl/entry-body.ts";
import { EntryHeadReader } from "../jsonl/entry-head.ts";
import { bodyContextOf } from "../log/canonical-copy.ts";
import { ifPresent, realFileSystem } from "../log/file-system.ts";
import { readLinesOf } from "../log/read-lines.ts";
import { type ReadSession, readSessionFile } from "../log/read-session-file.ts";
import { roleInFront } from "./message-bytes.ts";
import { messageText, type SessionSummary } from "./session-summary.ts";

/** A session as a list shows it. */
export interface SessionInfo {
  path: string;
  id: string;
  /** Working directory of the header; empty if it names none. */
  cwd: string;
  /** Display name, if it has one. */
  name?: string;
  /** Path of the session that this one was forked from. */
  parentSessionPath?: string;
  /** Time of the header, else of the file. */
  created: Date;
  /** Time of the latest user or assistant message, else of the header, else of the file. */
  modified: Date;
  /** Entries of type `message`, of any role. */
  messageCount: number;
  /** Text of the first user message that has text, or `(no messages)`. */
  firstMessage: string;
  /** Text of all user and assistant messages. Read from the file when it is first asked for, and then kept. */
  allMessagesText: string;
  /** How many lines are damaged, repeated or out of place; absent if none is. */
  issueCount?: number;
}

/**
 * Called while sessions are listed.
 *
 * @param loaded - Files looked at so far.
 * @param total - Files there are.
 * @param partial - From time to time, the sessions found so far, latest first.
 */
export type SessionListProgress = (loaded: number, total: number, partial?: readonly SessionInfo[]) => void;

const NO_MESSAGES = "(no messages)";

/**
 * Makes the row of a session.
 *
 * @param mtimeMs - Time of the file, where the session itself tells none.
 */
export function sessionInfo(path: string, summary: SessionSummary, mtimeMs: number): SessionInfo {
  const { id, cwd, name, parentSession, createdMs, lastMessageMs, messageCount, issueCount } = summary;
  const row: Omit<SessionInfo, "allMessagesText"> = {
    path,
    id,
    cwd,
    created: new Date(createdMs ?? mtimeMs),
    modified: new Date(lastMessageMs ?? createdMs ?? mtimeMs),
    messageCount,
    firstMessage: summary.firstMessage ?? NO_MESSAGES,
  };
  // To spread into each of thousands of rows what most do not have takes as long as all the rest of it.
  if (name !== undefined) row.name = name;
  if (parentSession !== undefined) row.parentSessionPath = parentSession;
  if (issueCount > 0) row.issueCount = issueCount;
  addText(row);
  return row;
}

/** What was read when somebody asked for a row's text. */
const textsAskedFor = new WeakMap<object, string>();

/** The text of a row, one function for all of them: with a function each, engines make hash tables of the rows. */
const TEXT_WHEN_ASKED: PropertyDescriptor & ThisType<SessionInfo> = {
  enumerable: true,
  configurable: true,
  get() {
    const text = textsAskedFor.get(this) ?? readMessagesText(this.path);
    textsAskedFor.set(this, text);
    return text;
  },
};

function addText(row: Omit<SessionInfo, "allMessagesText">): asserts row is SessionInfo {
  Object.defineProperty(row, "allMessagesText", TEXT_WHEN_ASKED);
}

/** Orders sessions for a list: latest first, then by path. */
export function compareSessions(a: SessionInfo, b: SessionInfo): number {
  return b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? -1 : 1);
}

/**
 * Reads the text of all user and assistant messages of a session file, joined by one space.
 *
 * @returns Empty if the file is gone.
 * @throws The system's error if it cannot be read.
 * @remarks Cost: O(bytes), held in memory line by line; only user and assistant messages are parsed.
 */
function readMessagesText(path: string): string {
  const session = ifPresent(() => readSessionFile(realFileSystem, path));
  if (session === undefined) return "";
  try {
    return textsOfMessages(session).join(" ");
  } finally {
    realFileSystem.closeSync(session.fd);
  }
}

function textsOfMessages({ fd, index }: ReadSession): string[] {
  const { tree, spans } = index;
  const context = bodyContextOf(index);
  const head = new EntryHeadReader();
  const texts: string[] = [];
  const messages = [...tree.ordinals()].filter((ordinal) => tree.typeAt(ordinal) === "message");
  readLinesOf(realFileSystem, fd, spans, messages, (ordinal, bytes) => {
    const isPlain = head.read(bytes, 0, bytes.length);
    if (isPlain && roleInFront(bytes, head.bodyStart, bytes.length) === "other") return;
    const entry = decodeEntry(bytes, tree.headAt(ordinal), context);
    const message = fieldsOf(fieldsOf(entry)["message"]);
    const isSpoken = message["role"] === "user" || message["role"] === "assistant";
    const text = isSpoken ? messageText(message) : undefined;
    if (text !== undefined) texts.push(text);
  });
  return texts;
}
