import type { EntryFacts } from "../../core/facts/session-facts.ts";
import { COMMUTING_TYPES } from "../../session/log/expected-leaf.ts";
import type { NewLine, StoredLine } from "../contract/session-backend.ts";
import { columnKey, searchForm } from "./column-text.ts";
import { numberOf, type Row, textOf } from "./rows.ts";

const base64 = (bytes: string) => `translate(encode(${bytes}, 'base64'), chr(10), '')`;

/** Columns of a stored line. A text with a byte order mark is also returned as bytes, because some clients drop the mark. */
export const LINE_COLUMNS = `l.seq, l.line, l.is_unterminated, ${base64("l.raw")} as raw,
  case when left(l.line, 1) = chr(65279) then ${base64("convert_to(l.line, 'UTF8')")} end as marked`;

/** Returns lines as JSON for the database functions. */
export function givenLines(lines: readonly NewLine[]): string {
  return JSON.stringify(lines.map((line, n) => ({ n, ...givenLine(line) })));
}

/** Returns the columns of a line. */
export function givenLine({ text, encoding, isUnterminated, entry }: NewLine): object {
  return {
    ...(encoding === "base64" ? { raw: text } : { line: text }),
    ...(isUnterminated && { is_unterminated: true }),
    ...(entry && entryColumns(entry)),
  };
}

function entryColumns(entry: EntryFacts): object {
  const { id, parentId, type, timestampMs, sessionName, messageMs, userText, usage, searchText } = entry;
  return {
    entry_id: columnKey(id),
    parent_id: parentId === null ? null : columnKey(parentId),
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
export function storedLine(row: Row): StoredLine {
  const raw = textOf(row, "raw");
  const isUnterminated = row["is_unterminated"] === true;
  return {
    seq: numberOf(row, "seq"),
    text: raw ?? markedText(row) ?? textOf(row, "line") ?? "",
    ...(raw !== undefined && { encoding: "base64" }),
    ...(isUnterminated && { isUnterminated }),
  };
}

function markedText(row: Row): string | undefined {
  const bytes = textOf(row, "marked");
  return bytes === undefined ? undefined : Buffer.from(bytes, "base64").toString();
}
