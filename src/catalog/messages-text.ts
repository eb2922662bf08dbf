import { fieldsOf } from "../context/entry-fields.ts";
import { ifPresent, realFileSystem } from "../fs/file-system.ts";
import { decodeEntry } from "../jsonl/entry-body.ts";
import { EntryHeadReader } from "../jsonl/entry-head.ts";
import type { LineSource } from "../jsonl/line-source.ts";
import { readSessionFile } from "../log/read-session-file.ts";
import { MessageBodyReader } from "./message-bytes.ts";
import { messageText } from "./session-facts.ts";

/**
 * Reads the text of all user and assistant messages of a session file, joined by one space.
 *
 * @returns Empty if the file is gone.
 * @throws The system's error if it cannot be read.
 * @remarks Cost: O(bytes), held in memory line by line; only user and assistant messages are parsed.
 */
export function readMessagesText(path: string): string {
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
    const message = fieldsOf(fieldsOf(entry)["message"]);
    const isSpoken = message["role"] === "user" || message["role"] === "assistant";
    const text = isSpoken ? messageText(message) : undefined;
    if (text !== undefined) texts.push(text);
  });
  return texts;
}
