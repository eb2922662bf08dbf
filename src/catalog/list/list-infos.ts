import { getMessageFields } from "../../core/context/entry-fields.ts";
import { getMessageText } from "../../core/facts/session-facts.ts";
import { getOrAdd } from "../../core/format/group-by.ts";
import { decodeEntry } from "../../core/jsonl/entry-body.ts";
import { EntryHeadReader } from "../../core/jsonl/entry-head.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import { callIfPresent, realFileSystem } from "../../session/fs/file-system.ts";
import { readSessionFile } from "../../session/log/read-session-file.ts";
import type { SessionInfo, SessionListProgress } from "../../session/manager/session-info.ts";
import type { CatalogOptions } from "./catalog-run.ts";
import { MessageBodyReader } from "./list-scan.ts";
import { listSessions } from "./list-sessions.ts";

const NO_MESSAGES = "(no messages)";

/**
 * Lists sessions as `listSessions` does, in pi's format.
 *
 * @remarks Cost: same as `listSessions`.
 */
export async function listInfos(
  options: CatalogOptions,
  onProgress?: SessionListProgress,
): Promise<SessionInfo[]> {
  const known = new Map<FileRow, SessionInfo>();
  const toInfo = (row: FileRow) => getOrAdd(known, row, () => makeSessionInfo(row));
  if (onProgress === undefined) return (await listSessions(options)).map(makeSessionInfo);
  const rows = await listSessions({
    ...options,
    onProgress: (loaded, total, partial) => onProgress(loaded, total, partial?.map(toInfo)),
  });
  return rows.map(toInfo);
}

/** Session text that has been read on demand. */
const textsAskedFor = new WeakMap<object, string>();

/** Getter shared by all rows. With a separate getter per row, engines would turn the objects into hash tables. */
const TEXT_WHEN_ASKED: PropertyDescriptor & ThisType<SessionInfo> = {
  enumerable: true,
  configurable: true,
  get() {
    return getOrAdd(textsAskedFor, this, () => readMessagesText(this.path));
  },
};

function makeSessionInfo(row: FileRow): SessionInfo {
  const { parentSession, firstMessage = NO_MESSAGES } = row;
  const info: Omit<SessionInfo, "allMessagesText"> = { ...row, firstMessage };
  if (parentSession !== undefined) info.parentSessionPath = parentSession;
  addText(info);
  return info;
}

function addText(info: Omit<SessionInfo, "allMessagesText">): asserts info is SessionInfo {
  Object.defineProperty(info, "allMessagesText", TEXT_WHEN_ASKED);
}

/** Reads the text of all user and assistant messages of a session file, joined with spaces; empty if the file does not exist. */
function readMessagesText(path: string): string {
  const session = callIfPresent(() => readSessionFile(realFileSystem, path));
  if (session === undefined) return "";
  try {
    return getMessageTexts(session).join(" ");
  } finally {
    realFileSystem.closeSync(session.fd);
  }
}

function getMessageTexts({ index, readLines }: LineSource): string[] {
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
    const message = getMessageFields(entry);
    const isSpoken = message["role"] === "user" || message["role"] === "assistant";
    const text = isSpoken ? getMessageText(message) : undefined;
    if (text !== undefined) texts.push(text);
  });
  return texts;
}
