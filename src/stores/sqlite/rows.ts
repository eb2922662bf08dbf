import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { type Row, readNumber, readRequiredText, readSessionFacts, searchForm } from "../contract/rows.ts";
import type { NewLine, StoredLine } from "../contract/session-backend.ts";
import type { SqliteValue } from "./client.ts";
import type { RunSql } from "./database.ts";
import { TABLES } from "./tables.ts";

/** Maximum length of a string in one row, in UTF-16 units of up to three bytes. A row in a Durable Object is limited to 2 MB. */
const MAX_ROW_UNITS = 500_000;

/** Row of a session, with the columns that an append uses. */
export interface StoredSession {
  readonly key: number;
  readonly facts: SessionFacts;
  readonly revision: number;
  readonly nextSeq: number;
  readonly lastSeq: number;
  /** `seq` of the last line that continues the conversation; 0 if there is no such line. */
  readonly leafSeq: number;
}

/** Session columns that `readStoredSession` requires in addition to the fact columns. */
export const STATE_COLUMNS = "s.key, s.revision, s.next_seq, s.last_seq, s.leaf_seq";

/** Reads a session from `STATE_COLUMNS` and the fact columns. */
export function readStoredSession(row: Row): StoredSession {
  return {
    key: readNumber(row, "key"),
    facts: readSessionFacts(row),
    revision: readNumber(row, "revision"),
    nextSeq: readNumber(row, "next_seq"),
    lastSeq: readNumber(row, "last_seq"),
    leafSeq: readNumber(row, "leaf_seq"),
  };
}

/** Session columns filled from facts, in the order of `toFactValues`. */
export const FACT_COLUMNS = [
  ...["id", "cwd", "parent_session", "name", "name_search", "created_ms", "last_message_ms", "modified_ms"],
  ...["message_count", "first_message"],
];

/** Returns the values of `FACT_COLUMNS`. */
export function toFactValues(facts: SessionFacts): SqliteValue[] {
  const { id, cwd, name, parentSession, messageCount, firstMessage } = facts;
  const createdMs = facts.createdMs ?? 0;
  const { lastMessageMs } = facts;
  const named = [name, name === null ? null : searchForm(name)];
  const times = [createdMs, lastMessageMs, lastMessageMs ?? createdMs];
  return [id, cwd, parentSession, ...named, ...times, messageCount, firstMessage];
}

/** Line columns required by `readStoredLine`. */
export const LINE_COLUMNS = "l.key as line_key, l.seq, l.is_unterminated, l.is_base64, l.has_pieces, l.line";

/** Reads a line from its columns, and its pieces if it has any. */
export function readStoredLine(run: RunSql, row: Row): StoredLine {
  return {
    seq: readNumber(row, "seq"),
    text: readLineText(run, row),
    ...(readNumber(row, "is_base64") === 1 && { encoding: "base64" }),
    ...(readNumber(row, "is_unterminated") === 1 && { isUnterminated: true }),
  };
}

/** Reads the text of a line from its columns. */
export function readLineText(run: RunSql, row: Row): string {
  const text = readRequiredText(row, "line");
  if (readNumber(row, "has_pieces") === 0) return text;
  const rest = run(
    `select text from ${TABLES.pieces} where line = ? order by piece`,
    readNumber(row, "line_key"),
  );
  return text + rest.map((piece) => readRequiredText(piece, "text")).join("");
}

/** Position of a stored line. */
interface LinePlace {
  readonly session: number;
  readonly seq: number;
}

const INSERTED_COLUMNS =
  "session, seq, entry_id, parent_id, type, time_ms, is_unterminated, is_base64, length, has_pieces, usage, line";

const INSERT_LINE = `insert into ${TABLES.lines} (${INSERTED_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning key`;

/** Stores a line with its pieces and its searchable text. */
export function insertLine(run: RunSql, { session, seq }: LinePlace, line: NewLine): void {
  const { text, encoding, isUnterminated = false, entry } = line;
  const [first = "", ...rest] = splitText(text);
  const facts = [entry?.id ?? null, entry?.parentId ?? null, entry?.type ?? null, entry?.timestampMs ?? null];
  const form = [Number(isUnterminated), Number(encoding === "base64"), text.length, Number(rest.length > 0)];
  const [row] = run(INSERT_LINE, session, seq, ...facts, ...form, entry?.usage ?? null, first);
  const key = row === undefined ? 0 : readNumber(row, "key");
  rest.forEach((piece, i) => {
    run(`insert into ${TABLES.pieces} (line, piece, text) values (?, ?, ?)`, key, i, piece);
  });
  const { searchText = "" } = entry ?? {};
  if (searchText === "") return;
  const searched = searchForm(searchText);
  const fits = searched.length <= MAX_ROW_UNITS;
  run(`insert into ${TABLES.texts} (line, text) values (?, ?)`, key, fits ? searched : null);
}

/** Splits a string between characters into pieces that each fit in a row. */
function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = from + MAX_ROW_UNITS;
    // Half of a surrogate pair cannot be stored.
    const isInPair = end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const to = isInPair ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
