import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import type { SessionHeader } from "../format/header.ts";
import type { JsonRecord } from "../format/json.ts";
import { findSessionName, isNameType, toSessionName } from "../format/session-name.ts";
import { toWholeTime } from "../format/timestamps.ts";

/** The facts of a session that lists show and queries use, wherever it is kept. */
export interface SessionFacts {
  /** Id of the header. */
  readonly id: string;
  /** Working directory of the header; empty if it names none. */
  readonly cwd: string;
  /** Display name; null if it has none. */
  readonly name: string | null;
  /** What the header says the session was forked from: a path, or an id. */
  readonly parentSession: string | null;
  /** Time of the header, in Unix milliseconds; null if it has no readable one. Backends receive 0 instead. */
  readonly createdMs: number | null;
  /** Time of the latest user or assistant message; null if none has a time. */
  readonly lastMessageMs: number | null;
  /** Entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message that has text, in backends its beginning; null if there is none. */
  readonly firstMessage: string | null;
}

/**
 * The facts of an entry's line that queries use, all taken from the line.
 *
 * No text in the facts that backends receive holds U+0000 or half a surrogate pair.
 */
export interface EntryFacts {
  readonly id: string;
  /** Null for a root, and for an entry without the field. */
  readonly parentId: string | null;
  readonly type: string;
  /** Unix milliseconds, a whole number; null if the line has no time. */
  readonly timestampMs: number | null;
  /** The name that the entry sets, or null if it clears the name. Absent in other entries. */
  readonly sessionName?: string | null;
  /** Time of a user or assistant message, else of its entry, as a whole number. Absent in other entries, and without a time. */
  readonly messageMs?: number;
  /** The first 200 characters of a user message with text. Absent in other entries. */
  readonly userText?: string;
  /** What the line tells of the usage of models, in a form of the library's own. Absent in lines that tell nothing of it. */
  readonly usage?: string;
  /** The searched text; only given to backends that support search. */
  readonly searchText?: string;
}

/** What an entry adds to the facts of its session. */
export type FactsAdded = Pick<EntryFacts, "type" | "sessionName" | "messageMs" | "userText">;

/** Returns the text of a message, its blocks joined by one space; undefined if it has none. */
export function getMessageText(message: JsonRecord): string | undefined {
  const text = getTexts(message["content"]).join(" ");
  return text.trim() === "" ? undefined : text;
}

/** Returns the facts of a session that only has its header. */
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

/** Reads what an entry adds to the facts of its session; a message without a time has that of the entry. */
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

/** Gathers the facts of a session from its entries, one by one in file order: the one summarizer of all rows. */
export class Summarizer {
  readonly #before: SessionFacts;
  #name: string | null;
  #lastMessageMs: number;
  #firstMessage: string | null;
  messageCount: number;

  /** @param before - The facts of the header, or of all earlier entries. */
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

  /** Whether a user message with text is still to come. */
  get lacksFirstMessage(): boolean {
    return this.#firstMessage === null;
  }

  add(entry: FactsAdded): void {
    if (entry.type === "message") this.messageCount++;
    this.addContent(entry);
  }

  /** Adds what an entry holds, but does not count it. */
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
 * @param lines - The lines that were really added, each once, in order.
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
