import type { AnySessionEntry, SessionEntryBase } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";
import type { EntryHead } from "../schema/head.ts";
import { isJsonRecord } from "../schema/json.ts";
import type { AgentMessage } from "../schema/message.ts";

/** An entry before it has an id, a parent and a time; an entry of another session will do, and gets new ones. */
export type EntryDraft = { readonly type: string; readonly [field: string]: unknown } | SessionEntryBase;

/** Makes a draft that must know the id or the time that its entry will have. */
export type DraftMaker = (id: string, timestampMs: number) => EntryDraft;

/** Puts the head in front of a draft's fields; what the draft says of its own head does not count. */
export function stamped({ type, id, parentId, timestampMs }: EntryHead, draft: EntryDraft): AnySessionEntry {
  const head = { type, id, parentId, timestamp: isoTime(timestampMs) };
  return { ...head, ...draft, ...head };
}

/** Does the same for a message, of which nearly all entries are made: objects of one shape are made fastest. */
export function stampedMessage(
  { id, parentId, timestampMs }: EntryHead,
  message: AgentMessage,
): AnySessionEntry {
  return { type: "message", id, parentId, timestamp: isoTime(timestampMs), message };
}

/** The time that was spelled last: in a burst, many entries are of one millisecond. */
const lastTime = { ms: Number.NaN, text: "" };

function isoTime(ms: number): string {
  if (ms !== lastTime.ms) {
    lastTime.text = new Date(ms).toISOString();
    lastTime.ms = ms;
  }
  return lastTime.text;
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

/**
 * Lets the host's hook see an entry before it is kept anywhere.
 *
 * @throws {SessionError} `ENTRY_INVALID` if the hook changes more than it may.
 */
export function prepared(
  made: AnySessionEntry,
  beforePersist: ((entry: AnySessionEntry) => AnySessionEntry) | undefined,
): AnySessionEntry {
  if (beforePersist === undefined) return made;
  const entry = beforePersist(made) ?? made;
  const isSame = entry.id === made.id && entry.parentId === made.parentId && entry.type === made.type;
  if (isSame) return entry;
  throw new SessionError(
    "ENTRY_INVALID",
    "beforePersist changed the id, parent or type of an entry; change its other fields only.",
    { details: { entryId: made.id } },
  );
}
