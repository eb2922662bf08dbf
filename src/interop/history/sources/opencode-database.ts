import { basename } from "node:path";
import { fieldsOf, numberOf } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { addTo } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { parseRecord } from "../../../core/jsonl/decode.ts";
import { newerVersion } from "../../import/opencode/import-opencode.ts";
import type { DeletedMessage } from "../../import/opencode/stored-messages.ts";
import { leftOut } from "../../import/source-text.ts";
import { member, textOf } from "../../import/source-values.ts";
import type { FileFacts } from "../source-program.ts";
import { type Database, withDatabase } from "../sqlite.ts";
import { factsOf, type StoredSession } from "./opencode-facts.ts";

/** Columns without which a database is not one that is known. */
const NEEDED = {
  session: ["id", "project_id", "parent_id", "directory", "title", "version", "time_created", "time_updated"],
  message: ["id", "session_id", "time_created", "time_updated", "data"],
  part: ["id", "message_id", "session_id", "time_created", "data"],
} as const;

/** Returns the facts of the sessions in the copy of a database; undefined if it is another program's. */
export function factsInTables(copy: string, path: string): FileFacts[] | undefined {
  return withDatabase(copy, (database) => {
    const tables = Object.entries(NEEDED).map(([name, needed]) => ({
      needed,
      columns: database.columns(name),
    }));
    const isKnown = tables.every(({ needed, columns }) => needed.every((name) => columns.has(name)));
    const isNewer = database.columns("session_message").has("seq");
    if (!isKnown && isNewer) throw newerVersion(path);
    if (!isKnown && !/^(?:opencode|kilo)/.test(basename(path))) return undefined;
    if (!isKnown) throw unknownTables(path);
    const facts = Array.from(database.rows(sessionQuery(database)), factsOfRow).flat();
    if (facts.length === 0 && isNewer && hasRows(database, "session_message")) throw newerVersion(path);
    return facts;
  });
}

function hasRows(database: Database, table: string): boolean {
  for (const _ of database.rows(`SELECT 1 FROM ${table} LIMIT 1`)) return true;
  return false;
}

/** Events are numbered where the program writes them: whatever happens in a session changes the number. */
function sessionQuery(database: Database): string {
  const hasEvents = database.columns("event_sequence").has("seq");
  const seq = hasEvents ? "(SELECT seq FROM event_sequence WHERE aggregate_id = session.id)" : "0";
  return `SELECT session.*, ${seq} AS seq, messages, first_created, last_updated FROM session JOIN (
    SELECT session_id, count(*) AS messages, min(time_created) AS first_created, max(time_updated) AS last_updated
    FROM message GROUP BY session_id) ON session_id = session.id`;
}

function factsOfRow(row: JsonRecord): FileFacts[] {
  const { id, messages, seq, time_updated: updated, first_created: first, last_updated: last } = row;
  return factsOf(infoOf(row), numberOf(first)).map((facts) => ({
    ...facts,
    stamp: [id, updated, messages, last, seq].join(" "),
    modifiedMs: Math.max(numberOf(updated), numberOf(last)),
  }));
}

/** Reads a session from its rows in the copy of a database. */
export function readRows(copy: string, sessionId: string): StoredSession {
  return withDatabase(copy, (database) => {
    const issues: SessionIssue[] = [];
    const [row = {}] = database.rows("SELECT * FROM session WHERE id = ?", sessionId);
    const read = (name: string, one: JsonRecord) => recordIn(name, one, issues);
    const parts = new Map<unknown, JsonRecord[]>();
    for (const one of database.rows("SELECT * FROM part WHERE session_id = ? ORDER BY id", sessionId)) {
      const part = read("part", one);
      if (part !== undefined) addTo(parts, one["message_id"], part);
    }
    const rows = database.rows(
      "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id",
      sessionId,
    );
    const messages = Array.from(rows, (one) => ({
      info: read("message", one),
      parts: parts.get(one["id"]) ?? [],
    }));
    const toolCallId = callThatStarted(database, row);
    return {
      document: { info: infoOf(row), messages: messages.filter(({ info }) => info !== undefined) },
      deleted: deletedMessages(database, sessionId),
      ...(toolCallId !== undefined && { toolCallId }),
      issues,
    };
  });
}

/** Returns the facts of a session as its exports have them. */
function infoOf(row: JsonRecord): JsonRecord {
  const { id, directory, title, version, agent, time_created: created, time_updated: updated, revert } = row;
  return {
    id,
    projectID: row["project_id"],
    parentID: row["parent_id"],
    directory,
    title,
    version,
    agent,
    revert: typeof revert === "string" ? parseRecord(revert) : undefined,
    time: { created, updated },
  };
}

/** Returns a message or part, which is stored without its id. */
function recordIn(name: string, { id, data }: JsonRecord, issues: SessionIssue[]): JsonRecord | undefined {
  const record = typeof data === "string" ? parseRecord(data) : undefined;
  if (record === undefined)
    issues.push(leftOut(`The ${name} ${String(id)} is no JSON object, and was left out.`));
  return record && { ...record, id };
}

/** How long before a subagent's session its call may have begun, in milliseconds. */
const CALL_MS = 10 * 60 * 1000;

/** Finds the parent's call that started a session. */
function callThatStarted(database: Database, row: JsonRecord): string | undefined {
  const parentId = textOf(row["parent_id"]);
  if (parentId === undefined) return undefined;
  const created = numberOf(row["time_created"]);
  const query = "SELECT data FROM part WHERE session_id = ? AND time_created BETWEEN ? AND ? ORDER BY id";
  for (const { data } of database.rows(query, parentId, created - CALL_MS, created + CALL_MS)) {
    const part = typeof data === "string" && data.includes('"task"') ? fieldsOf(parseRecord(data)) : {};
    if (member(member(part, "state"), "metadata")["sessionId"] === row["id"]) return textOf(part["callID"]);
  }
  return undefined;
}

/** Reads the messages that were deleted from events, the only ones that still have them. */
function deletedMessages(database: Database, sessionId: string): DeletedMessage[] {
  if (!["aggregate_id", "seq", "type", "data"].every((name) => database.columns("event").has(name)))
    return [];
  const eventsOf = (type: string) =>
    database.rows(
      "SELECT seq, data FROM event WHERE aggregate_id = ? AND type = ? ORDER BY seq",
      sessionId,
      `message.${type}.1`,
    );
  const deletedSeqs = new Map<unknown, number>();
  for (const { seq, data } of eventsOf("removed")) deletedSeqs.set(dataOf(data)["messageID"], numberOf(seq));
  if (deletedSeqs.size === 0) return [];
  const found = new Map<unknown, { createdSeq: number; info: JsonRecord; parts: Map<unknown, JsonRecord> }>();
  for (const { seq, data } of eventsOf("updated")) {
    const info = member(dataOf(data), "info");
    const { createdSeq = numberOf(seq), parts = new Map() } = found.get(info["id"]) ?? {};
    if (deletedSeqs.has(info["id"])) found.set(info["id"], { createdSeq, info, parts });
  }
  for (const { data } of eventsOf("part.updated")) {
    const part = member(dataOf(data), "part");
    found.get(part["messageID"])?.parts.set(part["id"], part);
  }
  return Array.from(found, ([id, { createdSeq, info, parts }]) => ({
    message: { info, parts: [...parts.values()].sort(byId) },
    createdSeq,
    deletedSeq: deletedSeqs.get(id) ?? 0,
  }));
}

function dataOf(data: unknown): JsonRecord {
  return fieldsOf(typeof data === "string" ? parseRecord(data) : undefined);
}

function byId(one: JsonRecord, other: JsonRecord): number {
  return String(one["id"]) < String(other["id"]) ? -1 : 1;
}

function unknownTables(path: string): SessionError {
  const message = `${path} has other tables than the databases of OpenCode that are known. Export its sessions with "opencode export", and import those files.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path, source: "opencode" } });
}
