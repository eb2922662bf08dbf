import { readSession } from "../../../../src/core/jsonl/read-session.ts";
import { mergeSessionContents } from "../../../../src/core/merge/merge-plan.ts";

/** Header of the copies. */
export const HEADER = {
  type: "session",
  version: 3,
  id: "s1",
  timestamp: "2026-02-03T22:00:00.000Z",
  cwd: "/projects/a",
};

/** Joins records to a session file. */
export function joinFile(...records: readonly object[]): string {
  return [HEADER, ...records].map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Creates the head of an entry, with its time in minutes. */
function makeHead(type: string, id: string, parentId: string | null, minute: number) {
  return {
    type,
    id,
    parentId,
    timestamp: new Date(Date.parse(HEADER.timestamp) + minute * 60_000).toISOString(),
  };
}

/** Creates a user message. */
export function said(id: string, parentId: string | null, minute: number, content = id) {
  return { ...makeHead("message", id, parentId, minute), message: { role: "user", content, timestamp: 1 } };
}

/** Creates a label of an entry. */
export function label(id: string, parentId: string, minute: number, targetId: string, text: string) {
  return { ...makeHead("label", id, parentId, minute), targetId, label: text };
}

/** Creates a name of the session. */
export function named(id: string, parentId: string, minute: number, name: string) {
  return { ...makeHead("session_info", id, parentId, minute), name };
}

/** Creates a compaction that keeps the entries from a given one on. */
export function compaction(id: string, parentId: string, minute: number, firstKeptEntryId: string) {
  return { ...makeHead("compaction", id, parentId, minute), summary: "s", firstKeptEntryId, tokensBefore: 1 };
}

/** Merges two copies and reads the result. */
export function merged(a: string | Uint8Array, b: string | Uint8Array) {
  const { content, ...report } = mergeSessionContents(a, b);
  return { text: new TextDecoder().decode(content), report, ...readSession(content) };
}
