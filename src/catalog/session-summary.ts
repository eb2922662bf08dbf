import { textsOf } from "../context/content-text.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import type { SessionHeader } from "../schema/header.ts";
import type { JsonRecord } from "../schema/json.ts";
import { isNameType, nameIn, nameOf } from "../schema/session-name.ts";
import { isTime } from "../schema/times.ts";

/** What a list says of a session, as plain data that a cache can keep. */
export interface SessionSummary {
  readonly id: string;
  /** Empty if the header names none. */
  readonly cwd: string;
  readonly parentSession: string | undefined;
  /** Unix milliseconds of the header; undefined if it has no readable time. */
  readonly createdMs: number | undefined;
  /** Unix milliseconds of the latest user or assistant message; undefined if there is none with a time. */
  readonly lastMessageMs: number | undefined;
  readonly name: string | undefined;
  /** Entries of type `message`, of any role. */
  readonly messageCount: number;
  /** Text of the first user message that has text. */
  readonly firstMessage: string | undefined;
  /** Lines that are not exactly one header or one entry. */
  readonly issueCount: number;
}

/** The part of a summary that comes from the header. */
export interface HeaderFacts extends Pick<SessionSummary, "id" | "cwd" | "parentSession" | "createdMs"> {
  /** The name until an entry sets another. */
  readonly title?: string | undefined;
}

/** Returns a valid time in Unix milliseconds; undefined for anything else. */
function validTime(value: unknown): number | undefined {
  return isTime(value) ? value : undefined;
}

/** Reads the `timestamp` of an entry: ISO 8601, or a number, as some writers have it. */
export function recordTime(record: JsonRecord): number | undefined {
  const { timestamp } = record;
  return validTime(typeof timestamp === "string" ? Date.parse(timestamp) : timestamp);
}

/** Returns the text of a message, its blocks joined by one space; undefined if it has none. */
export function messageText(message: JsonRecord): string | undefined {
  const text = textsOf(message["content"]).join(" ");
  return text.trim() === "" ? undefined : text;
}

/** Gathers the facts of a summary from a session's entries, one by one in file order. */
export class SummaryFacts {
  messageCount: number;
  firstMessage: string | undefined;
  lastMessageMs: number | undefined;
  #name: string | undefined;
  /** Whether an entry has set or cleared the name, so that the header's does not count. */
  #isNamed: boolean;

  /** @param before - The summary of the earlier entries of the same file. */
  constructor(before?: SessionSummary) {
    this.messageCount = before?.messageCount ?? 0;
    this.firstMessage = before?.firstMessage;
    this.lastMessageMs = before?.lastMessageMs;
    this.#name = before?.name;
    this.#isNamed = before !== undefined;
  }

  /**
   * Notes the facts of a `message` entry. The caller counts it, since damaged ones count as well.
   *
   * @param record - The entry, or undefined if its line does not parse.
   * @param entryMs - The entry's own time, for a message without one.
   */
  noteMessage(record: JsonRecord | undefined, entryMs: number | undefined): void {
    if (record?.["type"] !== "message") return;
    const message = fieldsOf(record["message"]);
    const { role } = message;
    if (role !== "user" && role !== "assistant") return;
    const ms = validTime(message["timestamp"]) ?? validTime(entryMs);
    if (ms !== undefined) this.lastMessageMs = Math.max(ms, this.lastMessageMs ?? ms);
    if (role === "user") this.firstMessage ??= messageText(message);
  }

  /** Notes the name that an entry sets; a line that does not parse sets none. */
  noteName(record: JsonRecord | undefined): void {
    if (!isNameType(record?.["type"]) || record === undefined) return;
    this.#name = nameIn(record);
    this.#isNamed = true;
  }

  /** Returns the facts as a summary. */
  summary(header: HeaderFacts, issueCount: number): SessionSummary {
    const { id, cwd, parentSession, createdMs, title } = header;
    const { lastMessageMs, messageCount, firstMessage } = this;
    const facts = {
      lastMessageMs,
      name: this.#isNamed ? this.#name : title,
      messageCount,
      firstMessage,
      issueCount,
    };
    return { id, cwd, parentSession, createdMs, ...facts };
  }
}

/** Returns the part of a summary that comes from the header. */
export function headerFacts(header: SessionHeader): HeaderFacts {
  const { id, cwd, parentSession, timestamp, title } = header;
  return { id, cwd, parentSession, createdMs: validTime(Date.parse(timestamp)), title: nameOf(title) };
}
