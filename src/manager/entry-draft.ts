import type { AnySessionEntry } from "../schema/entry.ts";
import type { EntryHead } from "../schema/head.ts";
import { isJsonRecord } from "../schema/json.ts";

/** An entry before it has an id, a parent and a time. */
export interface EntryDraft {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Makes a draft that must know the id or the time that its entry will have. */
export type DraftMaker = (id: string, timestampMs: number) => EntryDraft;

/** Puts the head in front of a draft's fields; what the draft says of its own head does not count. */
export function stamped({ type, id, parentId, timestampMs }: EntryHead, draft: EntryDraft): AnySessionEntry {
  const { type: _type, id: _id, parentId: _parentId, timestamp: _timestamp, ...body } = draft;
  return { type, id, parentId, timestamp: new Date(timestampMs).toISOString(), ...body };
}

/** Whether an entry begins a conversation that must not be lost: before it nothing need be on disk. */
export function isConversation(entry: AnySessionEntry): boolean {
  const message = "message" in entry ? entry.message : undefined;
  return (
    entry.type === "message" &&
    isJsonRecord(message) &&
    (message["role"] === "user" || message["role"] === "assistant")
  );
}
