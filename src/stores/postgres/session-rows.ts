import type { SessionFacts } from "../../core/facts/session-facts.ts";
import { SessionError } from "../../core/format/errors.ts";
import type { FactsWithUsage } from "../contract/session-backend.ts";
import { columnKey, isStorable, searchForm } from "./column-text.ts";
import { numberOf, optionalNumber, type Row, requiredText, textOf } from "./rows.ts";

/** Maximum bytes of an id, because it is indexed. */
const MAX_ID_BYTES = 512;

/** Columns of a session, as `sessionFacts` reads them. */
export const SESSION_COLUMNS =
  "s.id, s.cwd, s.parent_session, s.name, s.created_ms, s.last_message_ms, s.message_count, s.first_message";

/** Columns of a new session's row, in the order of `sessionValues`. */
export const NEW_SESSION_COLUMNS =
  "id, cwd, project, parent_session, name, name_search, created_ms, last_message_ms, modified_ms, message_count, first_message";

/** Returns the values of a new session's row. */
export function sessionValues(session: SessionFacts): unknown[] {
  const { id, cwd, name, parentSession, messageCount, firstMessage } = session;
  const createdMs = wholeMs(session.createdMs) ?? 0;
  const lastMessageMs = wholeMs(session.lastMessageMs);
  const named = [name, name === null ? null : searchForm(name)];
  return [
    id,
    cwd,
    columnKey(cwd),
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
export function factsWithUsage(row: Row): FactsWithUsage {
  const usage: unknown = JSON.parse(textOf(row, "usage") ?? "[]");
  const texts = (Array.isArray(usage) ? usage : []).filter((text) => typeof text === "string");
  return { session: sessionFacts(row), usage: texts, linesWithoutEntry: numberOf(row, "without_entry") };
}

/** Reads the facts of a session from its columns. */
export function sessionFacts(row: Row): SessionFacts {
  return {
    id: requiredText(row, "id"),
    cwd: requiredText(row, "cwd"),
    name: textOf(row, "name") ?? null,
    parentSession: textOf(row, "parent_session") ?? null,
    createdMs: numberOf(row, "created_ms"),
    lastMessageMs: optionalNumber(row, "last_message_ms") ?? null,
    messageCount: numberOf(row, "message_count"),
    firstMessage: textOf(row, "first_message") ?? null,
  };
}

function wholeMs(ms: number | null): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}
