import { factsAfter } from "../../core/facts/session-facts.ts";
import { COMMUTING_TYPES, staleLeaf } from "../../session/log/expected-leaf.ts";
import { type Row, readNumber, readOptionalNumber, readText, SESSION_COLUMNS } from "../contract/rows.ts";
import type {
  Amendment,
  AppendCondition,
  AppendReceipt,
  NewEntryLine,
  NewLine,
} from "../contract/session-backend.ts";
import { sessionNotFound, writesLost } from "../contract/store-errors.ts";
import type { RunSql } from "./database.ts";
import {
  FACT_COLUMNS,
  insertLine,
  LINE_COLUMNS,
  readLineText,
  readStoredSession,
  STATE_COLUMNS,
  type StoredSession,
  toFactValues,
} from "./rows.ts";
import { TABLES } from "./tables.ts";

const { sessions, lines, deletedSessions } = TABLES;

const FIND_SESSION = `select ${STATE_COLUMNS}, ${SESSION_COLUMNS} from ${sessions} s where s.is_complete = 1 and s.id = ?`;

/** Finds a complete session; undefined if it does not exist. */
export function findStoredSession(run: RunSql, id: string): StoredSession | undefined {
  const [row] = run(FIND_SESSION, id);
  return row && readStoredSession(row);
}

/** Finds a complete session. Throws `SESSION_NOT_FOUND` if it does not exist. */
export function getStoredSession(run: RunSql, id: string): StoredSession {
  const session = findStoredSession(run, id);
  if (session === undefined) throw sessionNotFound(id);
  return session;
}

/** Returns whether a line is stored and contains the expected entry. */
export function isKnown(run: RunSql, session: number, seq: number, entryId: string | undefined): boolean {
  const [row] = run(`select entry_id from ${lines} where session = ? and seq = ?`, session, seq);
  return row !== undefined && (entryId === undefined || row["entry_id"] === entryId);
}

const UPDATE_SESSION = `update ${sessions} set next_seq = ?, last_seq = ?, leaf_seq = ?,
  ${FACT_COLUMNS.map((column) => `${column} = ?`).join(", ")} where key = ?`;

/** Adds lines to the end of a session, after a gap, and returns the updated session. */
export function addStoredLines(
  run: RunSql,
  session: StoredSession,
  added: readonly NewLine[],
  gap = 0,
): StoredSession {
  if (added.length === 0) return session;
  const first = session.nextSeq + gap;
  let { leafSeq } = session;
  added.forEach((line, i) => {
    insertLine(run, { session: session.key, seq: first + i }, line);
    if (line.entry !== undefined && !COMMUTING_TYPES.includes(line.entry.type)) leafSeq = first + i;
  });
  const nextSeq = first + added.length;
  const facts = factsAfter(session.facts, added);
  run(UPDATE_SESSION, nextSeq, nextSeq - 1, leafSeq, ...toFactValues(facts), session.key);
  return { ...session, facts, nextSeq, lastSeq: nextSeq - 1, leafSeq };
}

/** Appends entries in the transaction of `run`, skipping entries that are already stored. */
export function appendEntries(
  run: RunSql,
  id: string,
  given: readonly NewEntryLine[],
  { expectedLeafId, afterSeq, afterEntryId, gap = 0 }: AppendCondition,
): AppendReceipt {
  const session = findStoredSession(run, id);
  if (session === undefined) throw isLost(run, id, afterSeq) ? writesLost(id) : sessionNotFound(id);
  if (afterSeq !== undefined && !isKnown(run, session.key, afterSeq, afterEntryId)) throw writesLost(id);
  const known = new Map<string, number>();
  const missing = new Map<string, NewEntryLine>();
  for (const line of given) {
    const seq = findStored(run, session, line, afterSeq);
    if (seq === undefined) missing.set(makeKey(line), line);
    else known.set(makeKey(line), seq);
  }
  if (missing.size > 0 && expectedLeafId !== undefined) assertStoredLeaf(run, session, expectedLeafId);
  const after = addStoredLines(run, session, [...missing.values()], gap);
  let next = after.nextSeq - missing.size;
  for (const key of missing.keys()) known.set(key, next++);
  const seqs = given.map((line) => known.get(makeKey(line)) ?? after.lastSeq);
  const [first] = seqs;
  const precedingSeq = first === undefined ? after.lastSeq : getPrecedingSeq(run, session.key, first);
  return { precedingSeq, lastSeq: seqs.at(-1) ?? after.lastSeq, revision: session.revision };
}

/** Returns the key of a line. A line contains no line break, so the last line break separates the id and the text. */
const makeKey = ({ entry, text }: NewEntryLine) => `${entry.id}\n${text}`;

/** Returns whether a missing session was lost: the caller knew it, and it was not deleted. */
function isLost(run: RunSql, id: string, afterSeq: number | undefined): boolean {
  return afterSeq !== undefined && run(`select 1 from ${deletedSessions} where id = ?`, id).length === 0;
}

/** Returns the position of the stored line that a new line repeats; undefined if the line is not a repetition. */
function findStored(
  run: RunSql,
  { key, lastSeq }: StoredSession,
  { entry, text }: NewEntryLine,
  afterSeq = 0,
): number | undefined {
  if (afterSeq === lastSeq) return undefined;
  const sql = `select ${LINE_COLUMNS} from ${lines} l where l.session = ? and l.entry_id = ? and l.length = ? order by l.seq`;
  const row = run(sql, key, entry.id, text.length).find((one) => readLineText(run, one) === text);
  return row && readNumber(row, "seq");
}

function getPrecedingSeq(run: RunSql, session: number, seq: number): number {
  return readSeq(run(`select max(seq) as seq from ${lines} where session = ? and seq < ?`, session, seq));
}

/** Returns the value of the `seq` column; 0 if it is null or there is no row. */
function readSeq([row]: Row[]): number {
  return (row && readOptionalNumber(row, "seq")) ?? 0;
}

/** Throws `STALE_LEAF` if an entry after the expected leaf continues the conversation. */
function assertStoredLeaf(run: RunSql, { key, leafSeq }: StoredSession, expectedLeafId: string | null): void {
  const atLeaf = `select 1 from ${lines} where session = ? and entry_id = ? and seq >= ?`;
  const isLeaf =
    expectedLeafId === null ? leafSeq === 0 : run(atLeaf, key, expectedLeafId, leafSeq).length > 0;
  if (isLeaf) return;
  const [row] = run(`select entry_id from ${lines} where session = ? and seq = ?`, key, leafSeq);
  throw staleLeaf(expectedLeafId, (row && readText(row, "entry_id")) ?? null);
}

const FIND_LEAF = `select max(seq) as seq from ${lines} where session = ? and entry_id is not null
  and type not in (${COMMUTING_TYPES.map((type) => `'${type}'`).join(", ")})`;

/**
 * Replaces, removes, and appends lines within the transaction of `run`.
 *
 * @returns Undefined, without any change, if the revision is not the expected revision.
 * @remarks Cost: O(changed lines), plus a query for the end of the session.
 */
export function amendSession(
  run: RunSql,
  id: string,
  { expectedRevision, replace, remove, append, facts }: Amendment,
): AppendReceipt | undefined {
  const { key, revision, nextSeq, facts: before } = getStoredSession(run, id);
  if (revision !== expectedRevision) return undefined;
  const removeLine = (seq: number) =>
    run(`delete from ${lines} where session = ? and seq = ? returning seq`, key, seq).length > 0;
  for (const { seq, line } of replace) if (removeLine(seq)) insertLine(run, { session: key, seq }, line);
  for (const seq of remove) removeLine(seq);
  const lastSeq = readSeq(run(`select max(seq) as seq from ${lines} where session = ?`, key));
  const leafSeq = readSeq(run(FIND_LEAF, key));
  run(UPDATE_SESSION, nextSeq, lastSeq, leafSeq, ...toFactValues({ ...before, ...facts }), key);
  run(`update ${sessions} set revision = revision + 1 where key = ?`, key);
  return appendEntries(run, id, append, {});
}
