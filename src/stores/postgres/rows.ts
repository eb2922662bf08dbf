import type { EntryFacts, SessionFacts } from "../../core/facts/session-facts.ts";
import { SessionError } from "../../core/format/errors.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import { COMMUTING_TYPES } from "../../session/log/expected-leaf.ts";
import {
  isStorable,
  type Row,
  readNumber,
  readSessionFacts,
  readText,
  searchForm,
} from "../contract/rows.ts";
import type { FactsWithUsage, NewLine, StoredLine } from "../contract/session-backend.ts";

/**
 * Maximum length of a key, in UTF-16 units. Longer strings are stored as hashes, because an index row is limited to
 * about 2,700 bytes.
 */
const MAX_KEY_UNITS = 256;

/** Prefix of hashes. */
const HASHED = "sha256:";

/** Converts a string to a short, unique key for an indexed column. */
export function makeColumnKey(text: string): string {
  if (text.length <= MAX_KEY_UNITS && !text.startsWith(HASHED) && isStorable(text)) return text;
  return HASHED + hashSha256(text);
}

/** Returns a LIKE pattern for strings that contain a string in `searchForm`. */
export function makePartPattern(text: string): string {
  return `%${makeLikePattern(searchForm(text))}%`;
}

/** Returns a LIKE pattern that matches exactly one string. */
export function makeLikePattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/**
 * Validates a tenant. Rejects strings that the database would not store unchanged: lone surrogates are converted to U+FFFD.
 *
 * @throws {TypeError}
 */
export function assertTenant(tenant: unknown): void {
  if (typeof tenant === "string" && isStorable(tenant)) return;
  throw new TypeError("tenant must be a string without NUL and lone surrogates; choose another.");
}

const decodeBase64 = (bytes: string) => `translate(encode(${bytes}, 'base64'), chr(10), '')`;

/** Columns of a stored line. A string with a byte order mark is also returned as bytes, because some clients remove the mark. */
export const LINE_COLUMNS = `l.seq, l.line, l.is_unterminated, ${decodeBase64("l.raw")} as raw,
  case when left(l.line, 1) = chr(65279) then ${decodeBase64("convert_to(l.line, 'UTF8')")} end as marked`;

/** Encodes lines as JSON for the database functions. */
export function encodeLinesAsJson(lines: readonly NewLine[]): string {
  return JSON.stringify(lines.map((line, n) => ({ n, ...toLineColumns(line) })));
}

/** Converts a line to columns. */
export function toLineColumns({ text, encoding, isUnterminated, entry }: NewLine): object {
  return {
    ...(encoding === "base64" ? { raw: text } : { line: text }),
    ...(isUnterminated && { is_unterminated: true }),
    ...(entry && toEntryColumns(entry)),
  };
}

function toEntryColumns(entry: EntryFacts): object {
  const { id, parentId, type, timestampMs, sessionName, messageMs, userText, usage, searchText } = entry;
  return {
    entry_id: makeColumnKey(id),
    parent_id: parentId === null ? null : makeColumnKey(parentId),
    type,
    time_ms: Number.isSafeInteger(timestampMs) ? timestampMs : null,
    goes_on: !COMMUTING_TYPES.includes(type),
    // An empty string means that the name is removed; null means that the line does not set a name.
    ...(sessionName !== undefined && {
      session_name: sessionName ?? "",
      name_search: searchForm(sessionName ?? ""),
    }),
    ...(Number.isSafeInteger(messageMs) && { message_ms: messageMs }),
    ...(userText !== undefined && { user_text: userText }),
    ...(usage !== undefined && { usage }),
    ...(searchText !== undefined && searchText !== "" && { search: searchForm(searchText) }),
  };
}

/** Reads a line from its columns. */
export function readStoredLine(row: Row): StoredLine {
  const raw = readText(row, "raw");
  const isUnterminated = row["is_unterminated"] === true;
  return {
    seq: readNumber(row, "seq"),
    text: raw ?? readMarkedText(row) ?? readText(row, "line") ?? "",
    ...(raw !== undefined && { encoding: "base64" }),
    ...(isUnterminated && { isUnterminated }),
  };
}

function readMarkedText(row: Row): string | undefined {
  const bytes = readText(row, "marked");
  return bytes === undefined ? undefined : Buffer.from(bytes, "base64").toString();
}

/** Maximum length of an id, in bytes. Ids are limited because they are indexed. */
const MAX_ID_BYTES = 512;

/** Columns of a new session's row, in the order of `toSessionValues`. */
export const NEW_SESSION_COLUMNS =
  "id, cwd, project, parent_session, name, name_search, created_ms, last_message_ms, modified_ms, message_count, first_message";

/** Returns the values of a new session's row. */
export function toSessionValues(session: SessionFacts): unknown[] {
  const { id, cwd, name, parentSession, messageCount, firstMessage } = session;
  const createdMs = roundMs(session.createdMs) ?? 0;
  const lastMessageMs = roundMs(session.lastMessageMs);
  const named = [name, name === null ? null : searchForm(name)];
  const times = [createdMs, lastMessageMs, lastMessageMs ?? createdMs];
  return [id, cwd, makeColumnKey(cwd), parentSession, ...named, ...times, messageCount, firstMessage];
}

/** Throws if an id is too long for an index or cannot be stored in a text column. */
export function assertPossibleId(id: string): void {
  if (isStorable(id) && Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  const message = `The session id is longer than ${MAX_ID_BYTES} bytes or is not valid text; choose another id.`;
  throw new SessionError("INVALID_SESSION_ID", message, { details: { id } });
}

/** Reads a session's facts and the usage recorded in its lines. */
export function readFactsWithUsage(row: Row): FactsWithUsage {
  const usage: unknown = JSON.parse(readText(row, "usage") ?? "[]");
  const texts = (Array.isArray(usage) ? usage : []).filter((text) => typeof text === "string");
  return {
    session: readSessionFacts(row),
    usage: texts,
    linesWithoutEntry: readNumber(row, "without_entry"),
  };
}

function roundMs(ms: number | null): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}
