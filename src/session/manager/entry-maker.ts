import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { EntryHead } from "../../core/format/head.ts";
import { createEntryId } from "../../core/format/ids.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { encodeLiveRecord, encodeRecord } from "../../core/jsonl/encode.ts";
import type { LogLine } from "../log/session-log.ts";
import { type AppendableMessage, type EntryFields, type FieldsMaker, prepareEntry } from "./entry-draft.ts";

/** Hook that may change an entry before it is stored. */
export type BeforePersist = (entry: AnySessionEntry) => AnySessionEntry;

/** Options for making entries. */
export interface MakerOptions {
  /** Returns Unix milliseconds. */
  readonly now: () => number;
  /** May change an entry before it is stored. */
  readonly beforePersist?: BeforePersist;
}

/** Entry and its line. */
export interface MadeEntry {
  readonly entry: AnySessionEntry;
  readonly line: LogLine;
}

/** Creates entries from drafts and messages by adding an id, a parent, and a time. */
export class EntryMaker {
  readonly #options: MakerOptions;
  readonly #isTaken: (id: string) => boolean;
  readonly #keepsObjects: () => boolean;

  /**
   * @param isTaken - Returns whether an id is in use.
   * @param keepsObjects - Returns whether entries may contain values that JSON cannot represent.
   */
  constructor(options: MakerOptions, isTaken: (id: string) => boolean, keepsObjects: () => boolean) {
    this.#options = options;
    this.#isTaken = isTaken;
    this.#keepsObjects = keepsObjects;
  }

  /** Creates a chain of entries, each the parent of the next. */
  ofDrafts(drafts: readonly (EntryFields | FieldsMaker)[], parentId: string | null): MadeEntry[] {
    const ids = new Set<string>();
    let parent = parentId;
    return drafts.map((draft) => {
      const made = this.ofDraft(draft, parent, (id) => ids.has(id) || this.#isTaken(id));
      parent = made.entry.id;
      ids.add(parent);
      return made;
    });
  }

  ofDraft(draft: EntryFields | FieldsMaker, parentId: string | null, isTaken = this.#isTaken): MadeEntry {
    const timestampMs = this.#options.now();
    const id = createEntryId(isTaken);
    const given = typeof draft === "function" ? draft(id, timestampMs) : draft;
    const head = { type: given.type, id, parentId, timestampMs };
    return this.#made(head, stampDraft(head, given));
  }

  /** Recreates an entry with the same head and different content. */
  again({ entry, line }: MadeEntry, draft: EntryFields): MadeEntry {
    return this.#made(line.head, { ...stampDraft(line.head, draft), timestamp: entry.timestamp });
  }

  ofMessage(message: AppendableMessage, parentId: string | null): MadeEntry {
    const timestampMs = this.#options.now();
    const head = { type: "message", id: createEntryId(this.#isTaken), parentId, timestampMs };
    return this.#made(head, stampMessage(head, message));
  }

  #made(head: EntryHead, stamped: AnySessionEntry): MadeEntry {
    const { beforePersist } = this.#options;
    const entry = beforePersist === undefined ? stamped : prepareEntry(stamped, beforePersist);
    if (!this.#keepsObjects()) return { entry, line: { head, text: encodeRecord(entry) } };
    return { entry, line: { head, ...encodeLiveRecord(entry) } };
  }
}

/** Returns whether an entry begins a conversation. Earlier entries need not be on disk. */
export function isConversation(entry: AnySessionEntry): boolean {
  const message = "message" in entry ? entry.message : undefined;
  return (
    entry.type === "message" &&
    isJsonRecord(message) &&
    (message["role"] === "user" || message["role"] === "assistant")
  );
}

/** Adds a head to a draft's fields, ignoring the draft's own head. */
function stampDraft({ type, id, parentId, timestampMs }: EntryHead, draft: EntryFields): AnySessionEntry {
  const head = { type, id, parentId, timestamp: makeIsoTime(timestampMs) };
  return { ...head, ...draft, ...head };
}

/**
 * Adds a head to a message, and a time if it has none. Most entries are messages, and creating objects of the same shape is
 * fastest.
 */
function stampMessage({ id, parentId, timestampMs }: EntryHead, given: AppendableMessage): AnySessionEntry {
  const message: AgentMessage = hasTime(given) ? given : { ...given, timestamp: timestampMs };
  return { type: "message", id, parentId, timestamp: makeIsoTime(timestampMs), message };
}

/** Last formatted time. Entries appended in quick succession often share a millisecond. */
const lastTime = { ms: Number.NaN, text: "" };

function makeIsoTime(ms: number): string {
  if (ms !== lastTime.ms) {
    lastTime.text = new Date(ms).toISOString();
    lastTime.ms = ms;
  }
  return lastTime.text;
}

function hasTime(message: AppendableMessage): message is AppendableMessage & AgentMessage {
  return message.timestamp !== undefined;
}
