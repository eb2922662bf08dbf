import type { EntryFacts, SessionFacts } from "../../core/facts/session-facts.ts";
import { SessionError } from "../../core/format/errors.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { hashSha256 } from "../../session/fs/digest.ts";
import { COMMUTING_TYPES } from "../../session/log/expected-leaf.ts";
import { toStorable } from "../contract/line-facts.ts";
import type { FactsWithUsage, NewLine, StoredLine } from "../contract/session-backend.ts";

/** A row, with columns as the driver parsed them. */
export type Row = { readonly [column: string]: unknown };

/** Returns rows as records. */
export function toRows(rows: readonly unknown[]): Row[] {
  return rows.map((row) => {
    if (isJsonRecord(row)) return row;
    throw new TypeError("The client gave a row that is no object; leave its rows as objects by column.");
  });
}

/** Reads a text; undefined for null. */
export function readText(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : refuseColumn(column, "a text");
}

/** Reads a required text. */
export function readRequiredText(row: Row, column: string): string {
  return readText(row, column) ?? refuseColumn(column, "a text");
}

/** Reads a whole number; some drivers return bigint as text. */
export function readNumber(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number)
    ? number
    : refuseColumn(column, "a number");
}

/** Reads a whole number; undefined for null. */
export function readOptionalNumber(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : readNumber(row, column);
}

function refuseColumn(column: string, what: string): never {
  throw new TypeError(
    `The client gave something else than ${what} in column ${column}; set no other type parsers for it.`,
  );
}

/** Longer ids are stored as hashes: an index row has at most about 2,700 bytes. */
const MAX_KEY_UNITS = 256;

/** Prefix of hashes. */
const HASHED = "sha256:";

/** Tells whether a column can hold a text unchanged. */
export function isStorable(text: string): boolean {
  return toStorable(text) === text;
}

/** Returns the form of a text in an indexed column: short and unique. */
export function makeColumnKey(text: string): string {
  if (text.length <= MAX_KEY_UNITS && !text.startsWith(HASHED) && isStorable(text)) return text;
  return HASHED + hashSha256(text);
}

/**
 * Returns the form of a text for case-insensitive search.
 *
 * Upper case, because it maps each letter independently of its neighbors: a part of a text stays a part.
 */
export function searchForm(text: string): string {
  return toStorable(text.toUpperCase());
}

/** Returns a LIKE pattern that matches texts that contain a text in `searchForm`. */
export function makePartPattern(text: string): string {
  return `%${makeLikePattern(searchForm(text))}%`;
}

/** Returns a LIKE pattern that matches exactly one text. */
export function makeLikePattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/**
 * Refuses a tenant that would not arrive unchanged: lone surrogates become U+FFFD.
 *
 * @throws {TypeError}
 */
export function assertTenant(tenant: unknown): void {
  if (typeof tenant === "string" && isStorable(tenant)) return;
  throw new TypeError("tenant must be a string without NUL and lone surrogates; choose another.");
}

const decodeBase64 = (bytes: string) => `translate(encode(${bytes}, 'base64'), chr(10), '')`;

/** Columns of a stored line. A text with a byte order mark is also returned as bytes, because some clients drop the mark. */
export const LINE_COLUMNS = `l.seq, l.line, l.is_unterminated, ${decodeBase64("l.raw")} as raw,
  case when left(l.line, 1) = chr(65279) then ${decodeBase64("convert_to(l.line, 'UTF8')")} end as marked`;

/** Returns lines as JSON for the database functions. */
export function encodeLinesAsJson(lines: readonly NewLine[]): string {
  return JSON.stringify(lines.map((line, n) => ({ n, ...toLineColumns(line) })));
}

/** Returns the columns of a line. */
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
    // Empty means a removed name; null means that the line sets no name.
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

/** Maximum bytes of an id, because it is indexed. */
const MAX_ID_BYTES = 512;

/** Columns of a session, as `readSessionFacts` reads them. */
export const SESSION_COLUMNS =
  "s.id, s.cwd, s.parent_session, s.name, s.created_ms, s.last_message_ms, s.message_count, s.first_message";

/** Columns of a new session's row, in the order of `toSessionValues`. */
export const NEW_SESSION_COLUMNS =
  "id, cwd, project, parent_session, name, name_search, created_ms, last_message_ms, modified_ms, message_count, first_message";

/** Returns the values of a new session's row. */
export function toSessionValues(session: SessionFacts): unknown[] {
  const { id, cwd, name, parentSession, messageCount, firstMessage } = session;
  const createdMs = roundMs(session.createdMs) ?? 0;
  const lastMessageMs = roundMs(session.lastMessageMs);
  const named = [name, name === null ? null : searchForm(name)];
  return [
    id,
    cwd,
    makeColumnKey(cwd),
    parentSession,
    ...named,
    createdMs,
    lastMessageMs,
    lastMessageMs ?? createdMs,
    messageCount,
    firstMessage,
  ];
}

/** Refuses an id that an index or a text column cannot hold. */
export function assertPossibleId(id: string): void {
  if (isStorable(id) && Buffer.byteLength(id) <= MAX_ID_BYTES) return;
  throw new SessionError(
    "INVALID_SESSION_ID",
    `The session id takes more than ${MAX_ID_BYTES} bytes, or holds what is no text; choose another one.`,
    { details: { id } },
  );
}

/** Reads a session with what its lines tell of usage. */
export function readFactsWithUsage(row: Row): FactsWithUsage {
  const usage: unknown = JSON.parse(readText(row, "usage") ?? "[]");
  const texts = (Array.isArray(usage) ? usage : []).filter((text) => typeof text === "string");
  return {
    session: readSessionFacts(row),
    usage: texts,
    linesWithoutEntry: readNumber(row, "without_entry"),
  };
}

/** Reads the facts of a session from its columns. */
export function readSessionFacts(row: Row): SessionFacts {
  return {
    id: readRequiredText(row, "id"),
    cwd: readRequiredText(row, "cwd"),
    name: readText(row, "name") ?? null,
    parentSession: readText(row, "parent_session") ?? null,
    createdMs: readNumber(row, "created_ms"),
    lastMessageMs: readOptionalNumber(row, "last_message_ms") ?? null,
    messageCount: readNumber(row, "message_count"),
    firstMessage: readText(row, "first_message") ?? null,
  };
}

function roundMs(ms: number | null): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}
