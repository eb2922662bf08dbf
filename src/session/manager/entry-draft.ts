import type { AnySessionEntry, SessionEntryBase } from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import type {
  AgentMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
} from "../../core/format/message.ts";
import { REDACTION_CUSTOM_TYPE } from "../../core/format/redaction.ts";

/** An entry before it has an id, a parent and a time. An entry of another session is accepted and gets new ones. */
export type EntryDraft = { readonly type: string; readonly [field: string]: unknown } | SessionEntryBase;

/** Makes a draft that must know the id or the time that its entry will have. */
export type DraftMaker = (id: string, timestampMs: number) => EntryDraft;

/** A message whose time may be left out. */
type Untimed<Message> = Message extends { timestamp: number }
  ? Omit<Message, "timestamp"> & { timestamp?: number | undefined }
  : Message;

/**
 * A message that can be appended: any role except the two that only contexts have. Without `timestamp`, it gets the time of
 * its entry.
 */
export type AppendableMessage = Untimed<
  Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>
>;

/**
 * Passes an entry through the host's hook before it is stored.
 *
 * @throws {SessionError} `ENTRY_INVALID` if the hook changes more than it may.
 */
export function prepareEntry(
  made: AnySessionEntry,
  beforePersist: (entry: AnySessionEntry) => AnySessionEntry,
): AnySessionEntry {
  const entry = beforePersist(made) ?? made;
  const isSame = entry.id === made.id && entry.parentId === made.parentId && entry.type === made.type;
  if (isSame) return entry;
  throw new SessionError(
    "ENTRY_INVALID",
    "beforePersist changed the id, parent or type of an entry; change its other fields only.",
    { details: { entryId: made.id } },
  );
}

/** Makes the entry that records a redaction. */
export function makeRedactionRecord(data: JsonRecord): EntryDraft {
  return { type: "custom", customType: REDACTION_CUSTOM_TYPE, data };
}
