import type {
  AnySessionEntry,
  SessionEntry,
  SessionEntryBase,
  SessionMessageEntry,
  UnknownEntry,
} from "../../core/format/entry.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { JsonRecord } from "../../core/format/json.ts";
import type {
  AgentMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
} from "../../core/format/message.ts";
import { REDACTION_CUSTOM_TYPE } from "../../core/format/redaction.ts";

/** Fields of an entry without its head. Programs can store additional data in `details`. */
type Headless<Entry> = Entry extends SessionMessageEntry
  ? { readonly type: "message"; readonly message: StoredMessage; readonly details?: unknown }
  : Entry extends SessionEntryBase
    ? Omit<Entry, "id" | "parentId" | "timestamp"> & { readonly details?: unknown }
    : never;

/**
 * An entry that does not have an id, a parent, or a time yet: either the fields of one of the eleven known types, or
 * `unknownType` and arbitrary fields for a type that this library does not know. An entry from another session is also accepted
 * and is given a new head.
 */
export type EntryDraft =
  | Headless<SessionEntry>
  | { readonly unknownType: string; readonly type?: never; readonly [field: string]: unknown }
  | SessionEntryBase
  | UnknownEntry;

/** Creates a draft from the id and time that its entry will have. */
export type DraftMaker = (id: string, timestampMs: number) => EntryDraft;

/** Checked fields of an entry of any type. */
export type EntryFields = { readonly type: string; readonly [field: string]: unknown } | SessionEntryBase;

/** Creates fields from the id and time that their entry will have. */
export type FieldsMaker = (id: string, timestampMs: number) => EntryFields;

/** Message with an optional time. */
type Untimed<Message> = Message extends { timestamp: number }
  ? Omit<Message, "timestamp"> & { timestamp?: number | undefined }
  : Message;

/**
 * Message that can be appended: any role except the two that only exist in contexts. A message without a `timestamp` is given the
 * time of its entry.
 */
export type AppendableMessage = Untimed<StoredMessage>;

/** Message with a role that entries can have. */
type StoredMessage = Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>;

/**
 * Passes an entry through the host's hook before it is stored.
 *
 * @throws {SessionError} `ENTRY_INVALID` if the hook changes the id, parent, or type.
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

/** Creates the entry that records a redaction. */
export function makeRedactionRecord(data: JsonRecord): EntryFields {
  return { type: "custom", customType: REDACTION_CUSTOM_TYPE, data };
}

/** Options for writing an append and for keeping the leaf. */
export interface WriteOptions {
  readonly mustExist?: boolean;
  readonly keepLeaf?: boolean;
}
