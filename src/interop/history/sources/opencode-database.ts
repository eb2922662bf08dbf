import { basename } from "node:path";
import { toNumber, toRecord } from "../../../core/context/entry-fields.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { addTo } from "../../../core/format/group-by.ts";
import type { SessionIssue } from "../../../core/format/issue.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { parseRecord } from "../../../core/jsonl/decode.ts";
import { makeNewerVersionError, type OpenCodeInput } from "../../import/opencode/import-opencode.ts";
import { getToolCallId } from "../../import/opencode/parts.ts";
import { type DeletedMessage, readContinuation } from "../../import/opencode/stored-messages.ts";
import { getMember, makeLeftOutIssue, toIsoTime, toNonemptyText } from "../../import/source-text.ts";
import type { FileFacts } from "../source-program.ts";
import { type Database, type TableQuery, withDatabase } from "../sqlite.ts";

const TIMES = ["time_created", "time_updated"];
const SESSION_TEXTS = ["id", "project_id", "parent_id", "directory", "title", "version"];
const MESSAGES = { table: "message", texts: ["id", "session_id", "data"], numbers: TIMES };
const PARTS = {
  table: "part",
  texts: ["id", "message_id", "session_id", "data"],
  numbers: ["time_created"],
};
const EVENTS = { table: "event", texts: ["aggregate_id", "type", "data"], numbers: ["seq"] };

/** Tables and columns that a supported database must have. */
const NEEDED: readonly TableQuery[] = [
  { table: "session", texts: SESSION_TEXTS, numbers: TIMES },
  MESSAGES,
  PARTS,
];

/** Columns for finding a session's rows. */
export const OPENCODE_LOOKUPS = {
  session: "id",
  message: "session_id",
  part: "session_id",
  event: "aggregate_id",
};

/** Returns facts about the sessions in a database copy; undefined if the database belongs to another program. */
export function readTableFacts(copy: string, path: string): FileFacts[] | undefined {
  return withDatabase(copy, (database) => {
    const isKnown = NEEDED.every((query) => hasColumns(database, query));
    const isNewer = database.columns("session_message").has("seq");
    if (!isKnown && isNewer) throw makeNewerVersionError(path);
    if (!isKnown && !/^(?:opencode|kilo)/.test(basename(path))) return undefined;
    if (!isKnown) throw makeUnknownTablesError(path);
    const facts = readStoredFacts(database);
    if (facts.length === 0 && isNewer && hasRows(database, "session_message"))
      throw makeNewerVersionError(path);
    return facts;
  });
}

function hasRows(database: Database, table: string): boolean {
  for (const _ of database.rows({ table, texts: ["id"] })) return true;
  return false;
}

/** Facts about the messages of one session. */
interface MessageFacts {
  readonly count: number;
  readonly firstMs: number;
  /** Creation time of the last message, in Unix milliseconds. */
  readonly madeMs: number;
  /** Time when a message was last changed, in Unix milliseconds. */
  readonly lastMs: number;
}

/** Returns facts about the sessions that have messages. */
function readStoredFacts(database: Database): FileFacts[] {
  const messages = new Map<unknown, MessageFacts>();
  const times = ["time_created", "time_updated"];
  for (const row of database.rows({ table: "message", texts: ["session_id"], numbers: times })) {
    const [createdMs, updatedMs] = [toNumber(row["time_created"]), toNumber(row["time_updated"])];
    const known = messages.get(row["session_id"]);
    messages.set(row["session_id"], {
      count: (known?.count ?? 0) + 1,
      firstMs: Math.min(known?.firstMs ?? createdMs, createdMs),
      madeMs: Math.max(known?.madeMs ?? createdMs, createdMs),
      lastMs: Math.max(known?.lastMs ?? updatedMs, updatedMs),
    });
  }
  const seqs = new Map<unknown, unknown>();
  // OpenCode numbers the events that it writes, so any change to a session changes the number.
  const events = { table: "event_sequence", texts: ["aggregate_id"], numbers: ["seq"] };
  if (hasColumns(database, events))
    for (const row of database.rows(events)) seqs.set(row["aggregate_id"], row["seq"]);
  return Array.from(database.rows(makeSessionQuery(database)), (row) => {
    const own = messages.get(row["id"]);
    return own === undefined ? [] : makeRowFacts(row, own, seqs.get(row["id"]) ?? null);
  }).flat();
}

function makeRowFacts(row: JsonRecord, messages: MessageFacts, seq: unknown): FileFacts[] {
  const { id, time_updated: updated } = row;
  return makeFacts(toInfo(row), messages.firstMs, messages.madeMs).map((facts) => ({
    ...facts,
    stamp: [id, updated, messages.count, messages.lastMs, seq].join(" "),
    modifiedMs: Math.max(toNumber(updated), messages.lastMs),
  }));
}

function hasColumns(database: Database, { table, texts, numbers = [] }: TableQuery): boolean {
  const columns = database.columns(table);
  return [...texts, ...numbers].every((name) => columns.has(name));
}

/** Names of session columns that exist only in some versions. */
const OPTIONAL = ["agent", "revert", "metadata"];

function makeSessionQuery(database: Database): TableQuery {
  const columns = database.columns("session");
  const texts = SESSION_TEXTS.concat(OPTIONAL.filter((name) => columns.has(name)));
  return { table: "session", texts, numbers: TIMES };
}

function isTooLarge(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Reads a session from its rows in a database copy.
 *
 * @throws {SessionError} `NOT_A_SESSION` if a number in the rows is too large for JavaScript.
 */
export function readRows(copy: string, path: string, sessionId: string): StoredSession {
  return withDatabase(copy, (database) => {
    const issues: SessionIssue[] = [];
    const rows = function* (query: TableQuery, where: string) {
      for (const row of database.rows({ ...query, where }, sessionId)) {
        if (query.numbers?.some((name) => isTooLarge(row[name])))
          throw makeNumberTooLargeError(path, sessionId, query.table);
        yield row;
      }
    };
    const [row = {}] = rows(makeSessionQuery(database), "id = ?");
    const parts = new Map<unknown, JsonRecord[]>();
    for (const one of rows(PARTS, "session_id = ?")) {
      const part = parseStoredRecord("part", one, issues);
      if (part !== undefined) addTo(parts, one["message_id"], part);
    }
    const messages = Array.from(rows(MESSAGES, "session_id = ?"), (one) => ({
      info: parseStoredRecord("message", one, issues),
      parts: (parts.get(one["id"]) ?? []).sort(byId),
    }));
    const toolCallId = findStartingCall(database, row);
    return {
      document: { info: toInfo(row), messages: messages.filter(({ info }) => info !== undefined) },
      deleted: readDeletedMessages(database, sessionId),
      ...(toolCallId !== undefined && { toolCallId }),
      issues,
    };
  });
}

/** Returns the facts about a session in the format of an export. */
function toInfo(row: JsonRecord): JsonRecord {
  const { id, directory, title, version, agent, time_created: created, time_updated: updated } = row;
  const { revert, metadata } = row;
  return {
    id,
    projectID: row["project_id"],
    parentID: row["parent_id"],
    directory,
    title,
    version,
    agent,
    revert: typeof revert === "string" ? parseRecord(revert) : undefined,
    metadata: typeof metadata === "string" ? parseRecord(metadata) : undefined,
    time: { created, updated },
  };
}

/** Parses a message or part, both of which are stored without their ids. */
function parseStoredRecord(
  name: string,
  { id, data }: JsonRecord,
  issues: SessionIssue[],
): JsonRecord | undefined {
  const record = typeof data === "string" ? parseRecord(data) : undefined;
  if (record === undefined)
    issues.push(
      makeLeftOutIssue(
        `The ${name} ${toSafeString(id)} is not a JSON object of at most 64 MB, and was left out.`,
      ),
    );
  return record && { ...record, id };
}

/** Maximum time between the creation of a subagent's session and the start of the call that created it, in milliseconds. */
const CALL_MS = 10 * 60 * 1000;

/** Finds the call in the parent that started a session. */
function findStartingCall(database: Database, row: JsonRecord): string | undefined {
  const parentId = toNonemptyText(row["parent_id"]);
  if (parentId === undefined) return undefined;
  const created = toNumber(row["time_created"]);
  const where = `session_id = ? AND time_created BETWEEN ${created - CALL_MS} AND ${created + CALL_MS}`;
  for (const { data } of database.rows({ ...PARTS, where }, parentId)) {
    const part = typeof data === "string" && data.includes('"task"') ? toRecord(parseRecord(data)) : {};
    if (getMember(getMember(part, "state"), "metadata")["sessionId"] === row["id"])
      return getToolCallId(part);
  }
  return undefined;
}

/** Reads deleted messages from events, which still contain them. */
function readDeletedMessages(database: Database, sessionId: string): DeletedMessage[] {
  if (!hasColumns(database, EVENTS)) return [];
  const where = "aggregate_id = ? AND type = ?";
  const readEvents = (type: string) =>
    Array.from(database.rows({ ...EVENTS, where }, sessionId, `message.${type}.1`)).sort(
      (one, other) => toNumber(one["seq"]) - toNumber(other["seq"]),
    );
  const deletedSeqs = new Map<unknown, number>();
  for (const { seq, data } of readEvents("removed"))
    deletedSeqs.set(parseData(data)["messageID"], toNumber(seq));
  if (deletedSeqs.size === 0) return [];
  const found = new Map<unknown, { createdSeq: number; info: JsonRecord; parts: Map<unknown, JsonRecord> }>();
  for (const { seq, data } of readEvents("updated")) {
    const info = getMember(parseData(data), "info");
    const { createdSeq = toNumber(seq), parts = new Map() } = found.get(info["id"]) ?? {};
    if (deletedSeqs.has(info["id"])) found.set(info["id"], { createdSeq, info, parts });
  }
  for (const { data } of readEvents("part.updated")) {
    const part = getMember(parseData(data), "part");
    found.get(part["messageID"])?.parts.set(part["id"], part);
  }
  return Array.from(found, ([id, { createdSeq, info, parts }]) => ({
    message: { info, parts: [...parts.values()].sort(byId) },
    createdSeq,
    deletedSeq: deletedSeqs.get(id) ?? 0,
  }));
}

function parseData(data: unknown): JsonRecord {
  return toRecord(typeof data === "string" ? parseRecord(data) : undefined);
}

function byId(one: JsonRecord, other: JsonRecord): number {
  return toSafeString(one["id"]) < toSafeString(other["id"]) ? -1 : 1;
}

function makeNumberTooLargeError(path: string, sessionId: string, table: string): SessionError {
  const message = `The session ${sessionId} in ${path} has a number greater than 2^53 in the table ${table}. Export the session with "opencode export", and import the exported file.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path, source: "opencode" } });
}

function makeUnknownTablesError(path: string): SessionError {
  const message = `${path} does not have the tables of a known OpenCode database. Export its sessions with "opencode export", and import the exported files.`;
  return new SessionError("NOT_A_SESSION", message, { details: { path, source: "opencode" } });
}

/** An OpenCode session from one of its stores, in the format of an export. */
export type StoredSession = Pick<OpenCodeInput, "document" | "deleted" | "toolCallId" | "issues">;

/**
 * Returns facts about a session.
 *
 * @param info - Fields of the session, as in an export.
 * @param firstMs - Creation time of the first message, in Unix milliseconds; 0 if unknown.
 * @param lastMs - Creation time of the last message, in Unix milliseconds.
 */
export function makeFacts(info: JsonRecord, firstMs: number, lastMs: number): FileFacts[] {
  const sessionId = toNonemptyText(info["id"]);
  if (sessionId === undefined) return [];
  const startedAt = toIsoTime(getMember(info, "time")["created"]);
  const continuation = readContinuation({ info });
  const isExport = continuation !== undefined && lastMs <= continuation.copiedUntilMs;
  const begunAt = firstMs > 0 ? toIsoTime(firstMs) : undefined;
  return [
    {
      source: "opencode",
      sessionId,
      cwd: toNonemptyText(info["directory"]) ?? "",
      startedAt,
      parentId: toNonemptyText(info["parentID"]),
      baseId: toNonemptyText(info["projectID"]),
      begunAt,
      // A fork copies messages along with their times.
      isCopy: begunAt !== undefined && startedAt !== undefined && begunAt < startedAt,
      exported: isExport ? continuation.session : undefined,
    },
  ];
}
