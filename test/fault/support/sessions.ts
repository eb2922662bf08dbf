import { type SessionEntry, SessionManager, type SessionOptions } from "sessiontree";
import { user as userMessage } from "../../support/messages.ts";

/** Time of all sessions, so that they are the same in every run. */
export const NOW = Date.parse("2026-03-01T12:00:00.000Z");

/** Creates a user's message at that time. */
export function user(text: string) {
  return userMessage(text, NOW);
}

/** Joins lines to a file with a final line break. */
export function lines(...records: (object | string)[]): string {
  return records.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");
}

const timestamp = new Date(NOW).toISOString();

/** Creates a header with further fields. */
export function header(fields: object = {}): object {
  return {
    type: "session",
    version: 3,
    id: "0198f2aa-0000-7000-8000-000000000001",
    timestamp,
    cwd: "/project",
    ...fields,
  };
}

/** Creates an entry with a user's message. */
export function message(id: string, parentId: string | null, text: string): object {
  return { type: "message", id, parentId, timestamp, message: user(text) };
}

/** Session with two branches, a label, and a name. */
export const BRANCHED = lines(
  header(),
  { type: "model_change", id: "00000001", parentId: null, timestamp, provider: "acme", modelId: "m1" },
  message("00000002", "00000001", "first question"),
  message("00000003", "00000002", "zweite Frage: für 3 € – „gut“ 🌳"),
  message("00000004", "00000002", "another branch"),
  { type: "label", id: "00000005", parentId: "00000004", timestamp, targetId: "00000002", label: "start" },
  { type: "session_info", id: "00000006", parentId: "00000005", timestamp, name: "A name" },
);

/** Session of version 1: no ids, a compaction by index. */
export const VERSION_1 = lines(
  { type: "session", id: "0198f2aa-0000-7000-8000-000000000002", timestamp, cwd: "/project" },
  { type: "message", timestamp, message: user("first") },
  { type: "message", timestamp, message: user("second") },
  { type: "compaction", timestamp, summary: "what was", firstKeptEntryIndex: 2, tokensBefore: 10 },
  { type: "message", timestamp, message: user("third") },
);

/** Session with issues of most kinds. */
export const DAMAGED = lines(
  header(),
  message("0000000a", null, "whole"),
  '{"type":"message","id":"0000000b","parentId":"0000000a","timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"us',
  message("0000000c", "0000000b", "behind damage"),
  "what is this",
  `${JSON.stringify(message("0000000d", "0000000c", "glued"))}${JSON.stringify(message("0000000e", "0000000d", "on"))}`,
  message("0000000f", "nowhere0", "orphan"),
).concat('{"type":"message","id":"00000010","parentId":"0000000f","ti');

/** Returns the texts of entries with a user's message. */
export function getTexts(entries: readonly SessionEntry[]): unknown[] {
  return entries.flatMap((entry) =>
    entry.type === "message" && "content" in entry.message ? [entry.message.content] : [],
  );
}

/** Returns everything about a session that a caller can see. */
export function view(session: SessionManager): object {
  return {
    header: session.getHeader(),
    entries: session.getEntries(),
    leaves: session.getLeaves().map(({ id }) => id),
    contexts: session.getLeaves().map(({ id }) => session.getBranch(id)),
    context: session.buildSessionContext(),
    name: session.getSessionName(),
  };
}

/** Returns what a new reader finds in a file. */
export function onDisk(path: string, options: SessionOptions = {}): SessionManager {
  return SessionManager.open(path, { ...options, mode: "read-only" });
}

/** Returns the ids of a session's entries, in file order. */
export function getIds(session: SessionManager): string[] {
  return session.getEntries().map(({ id }) => id);
}
