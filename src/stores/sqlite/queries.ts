import type { SessionFacts } from "../../core/facts/session-facts.ts";
import {
  type Row,
  readNumber,
  readRequiredText,
  readSessionFacts,
  SESSION_COLUMNS,
  searchForm,
} from "../contract/rows.ts";
import type { BackendListQuery, FactsWithUsage, LinePage } from "../contract/session-backend.ts";
import { writesLost } from "../contract/store-errors.ts";
import { getStoredSession, isKnown } from "./append.ts";
import type { SqliteValue } from "./client.ts";
import type { RunSql } from "./database.ts";
import { LINE_COLUMNS, readStoredLine } from "./rows.ts";
import { TABLES } from "./tables.ts";

const { sessions, lines } = TABLES;

/** Maximum size of the lines in one response, in UTF-16 units. The first line may be larger. */
const PAGE_UNITS = 4 * 1024 * 1024;

/** Page of lines to read. */
export interface LineQuery {
  readonly afterSeq: number;
  readonly limit: number;
  readonly afterEntryId: string | undefined;
}

/** Reads a page of lines. */
export function readLinePage(
  run: RunSql,
  id: string,
  { afterSeq, limit, afterEntryId }: LineQuery,
): LinePage {
  const { key, revision, lastSeq } = getStoredSession(run, id);
  if (afterEntryId !== undefined && !isKnown(run, key, afterSeq, afterEntryId)) throw writesLost(id);
  const sizes = run(
    `select seq, length from ${lines} where session = ? and seq > ? order by seq limit ?`,
    ...[key, afterSeq, limit],
  );
  const end = findPageEnd(sizes);
  if (end === undefined) return { lines: [], isEnd: true, revision };
  const rows = run(
    `select ${LINE_COLUMNS} from ${lines} l where l.session = ? and l.seq > ? and l.seq <= ? order by l.seq`,
    ...[key, afterSeq, end],
  );
  return { lines: rows.map((row) => readStoredLine(run, row)), isEnd: end === lastSeq, revision };
}

/** Returns the position of the last line that fits in a response; undefined if there are no lines. */
function findPageEnd(sizes: readonly Row[]): number | undefined {
  let end: number | undefined;
  let units = 0;
  for (const row of sizes) {
    units += readNumber(row, "length");
    if (end !== undefined && units > PAGE_UNITS) break;
    end = readNumber(row, "seq");
  }
  return end;
}

/** Lists a page of sessions. */
export function listSessions(run: RunSql, query: BackendListQuery): SessionFacts[] {
  return findRows(run, query).map(readSessionFacts);
}

/** Lists a page of sessions with the usage recorded in their lines. */
export function listSessionUsage(run: RunSql, query: BackendListQuery): FactsWithUsage[] {
  return findRows(run, query).map((row) => {
    const key = readNumber(row, "key");
    const usage = run(`select usage from ${lines} where session = ? and usage is not null order by seq`, key);
    const [count] = run(`select count(*) as count from ${lines} where session = ? and entry_id is null`, key);
    return {
      session: readSessionFacts(row),
      usage: usage.map((one) => readRequiredText(one, "usage")),
      linesWithoutEntry: count === undefined ? 0 : readNumber(count, "count"),
    };
  });
}

function findRows(run: RunSql, { cwd, idPrefix, name, limit, after }: BackendListQuery): Row[] {
  const conditions = ["s.is_complete = 1"];
  const values: SqliteValue[] = [];
  const add = (condition: string, ...more: SqliteValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (cwd !== undefined) add("s.cwd = ?", cwd);
  if (idPrefix !== undefined) add("s.id >= ? and instr(s.id, ?) = 1", idPrefix, idPrefix);
  if (name !== undefined) add("instr(s.name_search, ?) > 0", searchForm(name));
  // The first condition allows an index to find the start.
  if (after !== undefined)
    add(
      "s.modified_ms <= ? and (s.modified_ms < ? or s.id > ?)",
      after.modifiedMs,
      after.modifiedMs,
      after.id,
    );
  return run(
    `select s.key, ${SESSION_COLUMNS} from ${sessions} s where ${conditions.join(" and ")}
      order by s.modified_ms desc, s.id limit ?`,
    ...values,
    limit,
  );
}
