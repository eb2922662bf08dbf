import type { Opening } from "../../../src/core/facts/opening.ts";
import { OpeningFinder } from "../../../src/core/facts/session-title.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import type { IssueCode } from "../../../src/core/format/issue.ts";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { SessionIndex } from "../../../src/core/jsonl/session-index.ts";
import type { FileFacts } from "../../../src/session/files/session-row.ts";

/** A list's facts about a session, found in the plainest way: every line is parsed, and every entry read. */
export interface Expected {
  readonly summary: FileFacts | undefined;
  readonly issueCount: number;
}

const LINE_ISSUES: readonly IssueCode[] = [
  "RECORD_BEFORE_HEADER",
  "HEADER_REPEATED",
  "LINE_UNREADABLE",
  "LINE_TOO_LONG",
  "NOT_AN_ENTRY",
  "TAIL_TORN",
  "NUL_BYTES",
  "RECORDS_GLUED",
  "BODY_DAMAGED",
  "ID_DUPLICATE",
  "ENTRY_REPEATED",
];

const isTime = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= 8.64e15;

const getName = (value: unknown) => (typeof value === "string" ? value.trim() || null : null);

/** Summarizes the bytes of a file. */
export function plainSummary(bytes: Uint8Array): Expected {
  const { header, entries } = readSession(bytes);
  if (header === undefined) return { summary: undefined, issueCount: 0 };
  let name = getName(header.title);
  let firstMessage: string | null = null;
  let lastMessageMs: number | null = null;
  let messageCount = 0;
  for (const entry of JSON.parse(JSON.stringify(entries))) {
    if (entry.type === "session_info") name = getName(entry.name);
    if (entry.type === "title_change") name = getName(entry.title);
    if (entry.type === "message" || entry.originalType === "message") messageCount++;
    const role = entry.type === "message" ? entry.message.role : undefined;
    if (role !== "user" && role !== "assistant") continue;
    const ms = [entry.message.timestamp, entryMs(entry.timestamp)].find(isTime);
    if (ms !== undefined && !(ms <= (lastMessageMs ?? Number.NEGATIVE_INFINITY)))
      lastMessageMs = Math.trunc(ms);
    const text = role === "user" ? joinTexts(entry.message.content) : "";
    if (text.trim() !== "") firstMessage ??= text;
  }
  const createdMs = [Date.parse(header.timestamp)].find(isTime) ?? null;
  const { id, cwd, parentSession = null } = header;
  const codes = issueCodes(bytes);
  const issueCount = codes.some((code) => LINE_ISSUES.includes(code)) ? codes.length : 0;
  const opening = findPlainOpening(entries);
  const summary = {
    opening,
    id,
    cwd,
    name,
    parentSession,
    createdMs,
    lastMessageMs,
    messageCount,
    firstMessage,
  };
  return { summary, issueCount };
}

function findPlainOpening(entries: readonly AnySessionEntry[]): Opening {
  const finder = new OpeningFinder();
  for (const entry of entries) finder.add(entry.type, JSON.parse(JSON.stringify(entry)));
  return finder.opening;
}

/** Timestamp returned for an entry without one. */
const NO_TIME = "1970-01-01T00:00:00.000Z";

function entryMs(timestamp: unknown): unknown {
  return typeof timestamp === "string" && timestamp !== NO_TIME ? Date.parse(timestamp) : undefined;
}

function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
  return blocks
    .filter((block) => block?.type === "text" && typeof block.text === "string")
    .map((block) => block.text)
    .join(" ");
}

/** Returns the issues that are found without reading bodies. */
function issueCodes(bytes: Uint8Array): IssueCode[] {
  const index = new SessionIndex({ readBytes: (offset, length) => bytes.subarray(offset, offset + length) });
  index.feed(bytes);
  index.end();
  return index.issues.map((issue) => issue.code);
}
