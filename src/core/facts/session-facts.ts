import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import { findSessionName, isNameType, toSessionName } from "../format/session-name.ts";
import { toWholeTime } from "../format/timestamps.ts";

/** Maximum length of the first message in a store's list, in UTF-16 code units. */
export const MAX_FIRST_MESSAGE = 200;

/** Facts about a session for use in lists and queries, regardless of where the session is stored. */
export interface SessionFacts {
  /** Id of the header. */
  readonly id: string;
  /** Working directory from the header; empty if it has none. */
  readonly cwd: string;
  /** Display name; null if the session has none. */
  readonly name: string | null;
  /** Session from which this one was forked, as stated in the header: a path or an id. */
  readonly parentSession: string | null;
  /** Time from the header, in Unix milliseconds; null if it is unreadable. Backends receive 0 instead. */
  readonly createdMs: number | null;
  /** Time of the latest user or assistant message; null if none has a time. */
  readonly lastMessageMs: number | null;
  /** Number of entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message that has text; null if there is none. Backends receive only its beginning. */
  readonly firstMessage: string | null;
}

/**
 * Facts about an entry that queries use. They are read only from the entry's line.
 *
 * Strings in facts passed to backends contain neither U+0000 nor lone surrogates.
 */
export interface EntryFacts {
  readonly id: string;
  /** Null for a root, and for an entry without the field. */
  readonly parentId: string | null;
  readonly type: string;
  /** Time in integer Unix milliseconds; null if the line has no time. */
  readonly timestampMs: number | null;
  /** Name that the entry sets, or null if it clears the name. Absent in other entries. */
  readonly sessionName?: string | null;
  /**
   * Time of a user or assistant message or, failing that, of its entry, as an integer. Absent from other entries and from entries
   * without a time.
   */
  readonly messageMs?: number;
  /** First 200 characters of a user message with text. Absent in other entries. */
  readonly userText?: string;
  /** Model usage that the line records, in the library's own format. Absent if the line does not record any. */
  readonly usage?: string;
  /** Text to search. Passed only to backends that support search. */
  readonly searchText?: string;
}

/** Facts that an entry adds to those of its session. */
export type FactsAdded = Pick<EntryFacts, "type" | "sessionName" | "messageMs" | "userText">;

/** Returns the text of a message, with its blocks joined by spaces; undefined if it has none. */
export function getMessageText(message: JsonRecord): string | undefined {
  const text = getTexts(message["content"]).join(" ");
  return text.trim() === "" ? undefined : text;
}

/** Returns the facts of a session with a header and no entries. */
export function makeHeaderFacts({ id, cwd, parentSession, timestamp, title }: SessionHeader): SessionFacts {
  return {
    id,
    cwd,
    name: toSessionName(title) ?? null,
    parentSession: parentSession ?? null,
    createdMs: toWholeTime(Date.parse(timestamp)) ?? null,
    lastMessageMs: null,
    messageCount: 0,
    firstMessage: null,
  };
}

/** Reads the facts that an entry adds to those of its session. A message without a time uses the time of its entry. */
export function readAddedFacts(type: string, record: JsonRecord, entryMs: number | undefined): FactsAdded {
  if (isNameType(type)) return { type, sessionName: findSessionName(record) ?? null };
  if (type !== "message") return { type };
  const message = toRecord(record["message"]);
  const { role } = message;
  if (role !== "user" && role !== "assistant") return { type };
  const messageMs = toWholeTime(message["timestamp"]) ?? toWholeTime(entryMs);
  const userText = role === "user" ? getMessageText(message) : undefined;
  return { type, ...(messageMs !== undefined && { messageMs }), ...(userText !== undefined && { userText }) };
}

/** Collects the facts of a session from its entries, one by one in file order. All rows are built with this class. */
export class Summarizer {
  readonly #before: SessionFacts;
  #name: string | null;
  #lastMessageMs: number;
  #firstMessage: string | null;
  messageCount: number;

  /** @param before - Facts from the header, or from all earlier entries. */
  constructor(before: SessionFacts) {
    this.#before = before;
    this.#name = before.name;
    this.#lastMessageMs = before.lastMessageMs ?? Number.NEGATIVE_INFINITY;
    this.#firstMessage = before.firstMessage;
    this.messageCount = before.messageCount;
  }

  /** Time of the latest message, or `-Infinity`. */
  get lastMessageMs(): number {
    return this.#lastMessageMs;
  }

  /** Whether no user message with text has been added yet. */
  get lacksFirstMessage(): boolean {
    return this.#firstMessage === null;
  }

  add(entry: FactsAdded): void {
    if (entry.type === "message") this.messageCount++;
    this.addContent(entry);
  }

  /** Adds the facts of an entry without counting it as a message. */
  addContent({ sessionName, messageMs, userText }: FactsAdded): void {
    if (sessionName !== undefined) this.#name = sessionName;
    if (messageMs !== undefined && messageMs > this.#lastMessageMs) this.#lastMessageMs = messageMs;
    this.#firstMessage ??= userText ?? null;
  }

  get facts(): SessionFacts {
    const { id, cwd, parentSession, createdMs } = this.#before;
    return {
      id,
      cwd,
      name: this.#name,
      parentSession,
      createdMs,
      lastMessageMs: Number.isFinite(this.#lastMessageMs) ? this.#lastMessageMs : null,
      messageCount: this.messageCount,
      firstMessage: this.#firstMessage,
    };
  }
}

/**
 * Returns the facts of a session after lines were added.
 *
 * @param lines - Lines that were actually added, in order and without duplicates.
 * @remarks Cost: O(lines).
 */
export function factsAfter(
  session: SessionFacts,
  lines: readonly { readonly entry?: EntryFacts | undefined }[],
): SessionFacts {
  const summarizer = new Summarizer(session);
  for (const { entry } of lines) if (entry !== undefined) summarizer.add(entry);
  return summarizer.facts;
}
