import type { AnySessionEntry } from "../../core/format/entry.ts";
import type { EntryHead } from "../../core/format/head.ts";
import { createEntryId } from "../../core/format/ids.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import { encodeAnyRecord, encodeRecord } from "../../core/jsonl/encode.ts";
import type { LogLine } from "../log/session-log.ts";
import { type AppendableMessage, type DraftMaker, type EntryDraft, prepareEntry } from "./entry-draft.ts";

/** May alter an entry before it is stored. */
export type BeforePersist = (entry: AnySessionEntry) => AnySessionEntry;

/** Options for making entries. */
export interface MakerOptions {
  /** Returns Unix milliseconds. */
  readonly now: () => number;
  /** May alter an entry before it is stored. */
  readonly beforePersist?: BeforePersist;
}

/** An entry and its line. */
export interface MadeEntry {
  readonly entry: AnySessionEntry;
  readonly line: LogLine;
}

/** Makes entries of drafts and messages: adds id, parent and time. */
export class EntryMaker {
  readonly #options: MakerOptions;
  readonly #isTaken: (id: string) => boolean;
  readonly #keepsObjects: () => boolean;

  /**
   * @param isTaken - Tells whether an id is in use.
   * @param keepsObjects - Tells whether entries may hold what JSON cannot hold.
   */
  constructor(options: MakerOptions, isTaken: (id: string) => boolean, keepsObjects: () => boolean) {
    this.#options = options;
    this.#isTaken = isTaken;
    this.#keepsObjects = keepsObjects;
  }

  /** Makes a chain of entries, each the parent of the next. */
  ofDrafts(drafts: readonly (EntryDraft | DraftMaker)[], parentId: string | null): MadeEntry[] {
    const ids = new Set<string>();
    let parent = parentId;
    return drafts.map((draft) => {
      const made = this.ofDraft(draft, parent, (id) => ids.has(id) || this.#isTaken(id));
      parent = made.entry.id;
      ids.add(parent);
      return made;
    });
  }

  ofDraft(draft: EntryDraft | DraftMaker, parentId: string | null, isTaken = this.#isTaken): MadeEntry {
    const timestampMs = this.#options.now();
    const id = createEntryId(isTaken);
    const given = typeof draft === "function" ? draft(id, timestampMs) : draft;
    const head = { type: given.type, id, parentId, timestampMs };
    return this.#made(head, stampDraft(head, given));
  }

  /** Makes an entry again, with the same head and other content. */
  again({ entry, line }: MadeEntry, draft: EntryDraft): MadeEntry {
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
    let replaced: string | undefined;
    const text = encodeAnyRecord(entry, (what, path) => {
      replaced ??= `${what} at ${path}`;
    });
    return { entry, line: { head, text, ...(replaced !== undefined && { replaced }) } };
  }
}

/** Tells whether an entry begins a conversation. Before that, nothing need be on disk. */
export function isConversation(entry: AnySessionEntry): boolean {
  const message = "message" in entry ? entry.message : undefined;
  return (
    entry.type === "message" &&
    isJsonRecord(message) &&
    (message["role"] === "user" || message["role"] === "assistant")
  );
}

/** Puts a head in front of a draft's fields, and ignores the draft's own head. */
function stampDraft({ type, id, parentId, timestampMs }: EntryHead, draft: EntryDraft): AnySessionEntry {
  const head = { type, id, parentId, timestamp: makeIsoTime(timestampMs) };
  return { ...head, ...draft, ...head };
}

/** Does the same for a message, which also gets a time if it has none. Nearly all entries are messages, and objects of one shape are fastest to make. */
function stampMessage({ id, parentId, timestampMs }: EntryHead, given: AppendableMessage): AnySessionEntry {
  const message: AgentMessage = hasTime(given) ? given : { ...given, timestamp: timestampMs };
  return { type: "message", id, parentId, timestamp: makeIsoTime(timestampMs), message };
}

/** The last formatted time: in a burst, many entries have the same millisecond. */
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
