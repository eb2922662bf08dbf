import { COMMUTING_TYPES, staleLeaf } from "../../session/log/expected-leaf.ts";
import {
  type Row,
  readNumber,
  readOptionalNumber,
  readRequiredText,
  readText,
  searchForm,
} from "../contract/rows.ts";
import type { Amendment, AppendCondition, AppendReceipt, NewEntryLine } from "../contract/session-backend.ts";
import { sessionNotFound, writesLost } from "../contract/store-errors.ts";
import type { RunSql } from "./database.ts";
import type { Names } from "./names.ts";
import { makeSessionSql } from "./queries.ts";
import { encodeLinesAsJson, makeColumnKey, toLineColumns } from "./rows.ts";

/** Maximum value of the server's `lock_timeout`, in milliseconds. */
const MAX_LOCK_MS = 2 ** 31 - 1;

/** Destination of appended lines. */
export interface AppendPlace {
  readonly names: Names;
  readonly tenant: string | undefined;
  /** Channel for notifications; undefined to send none. */
  readonly channel: string | undefined;
  /** Maximum time to wait for a lock, in milliseconds. */
  readonly lockMs: number;
}

/** Appends entries with one call of a database function. */
export async function appendEntries(
  run: RunSql,
  { names, tenant, channel, lockMs }: AppendPlace,
  id: string,
  lines: readonly NewEntryLine[],
  { expectedLeafId, afterSeq, afterEntryId, gap = 0 }: AppendCondition,
): Promise<AppendReceipt> {
  const { distinct, places } = withoutRepeats(lines);
  const [row] = await run(`select * from ${names.append}($1, $2, $3::json, $4, $5, $6, $7, $8, $9, $10)`, [
    tenant ?? null,
    id,
    encodeLinesAsJson(distinct),
    expectedLeafId !== undefined,
    typeof expectedLeafId === "string" ? makeColumnKey(expectedLeafId) : null,
    channel ?? null,
    afterSeq ?? null,
    afterEntryId === undefined ? null : makeColumnKey(afterEntryId),
    gap,
    Math.ceil(Math.min(lockMs, MAX_LOCK_MS)),
  ]);
  const status = row && readRequiredText(row, "status");
  if (row === undefined || status === "missing") throw sessionNotFound(id);
  if (status === "lost") throw writesLost(id);
  if (status === "stale") throw staleLeaf(expectedLeafId ?? null, readText(row, "leaf") ?? null);
  const precedingSeq = readNumber(row, "preceding_seq");
  const lastSeq = getSeqs(row)[places.at(-1) ?? 0] ?? precedingSeq;
  return { precedingSeq, lastSeq, revision: readNumber(row, "revision") };
}

/** Removes repeated lines, and returns the index of each given line in the distinct lines. */
function withoutRepeats(lines: readonly NewEntryLine[]): { distinct: NewEntryLine[]; places: number[] } {
  const known = new Map<string, number>();
  const distinct: NewEntryLine[] = [];
  const places = lines.map((line) => {
    // A line contains no line break, so the last line break separates the id and the line.
    const key = `${line.entry.id}\n${line.text}`;
    const place = known.get(key) ?? distinct.push(line) - 1;
    known.set(key, place);
    return place;
  });
  return { distinct, places };
}

/** Returns the sequence numbers of lines: known numbers for stored lines, and consecutive numbers for new lines. */
function getSeqs(row: Row): number[] {
  const known: unknown = JSON.parse(readText(row, "known") ?? "[]");
  let next = readOptionalNumber(row, "first_seq") ?? 0;
  return (Array.isArray(known) ? known : []).map((seq: unknown) => (typeof seq === "number" ? seq : next++));
}

/**
 * Replaces, removes, and appends lines within the transaction of `run`.
 *
 * @returns Undefined, without any change, if the revision is not the expected revision.
 * @remarks Cost: O(changed lines), plus a query for the session's facts.
 */
export async function amendSession(
  run: RunSql,
  place: AppendPlace,
  id: string,
  { expectedRevision, replace, remove, append, facts }: Amendment,
): Promise<AppendReceipt | undefined> {
  const { names, channel } = place;
  const { text, values } = makeSessionSql(
    id,
    (where) => `select s.key::text as key, s.revision from ${names.sessions} s where ${where} for update`,
  );
  const [row] = await run(text, values);
  if (row === undefined) throw sessionNotFound(id);
  const revision = readNumber(row, "revision");
  if (revision !== expectedRevision) return undefined;
  const key = readRequiredText(row, "key");
  await run(replaceSql(names), [
    key,
    JSON.stringify(replace.map(({ seq, line }) => ({ seq, ...toLineColumns(line) }))),
  ]);
  await run(
    `delete from ${names.lines} l where l.session = $1
      and l.seq in (select g::bigint from json_array_elements_text($2::json) as g)`,
    [key, JSON.stringify(remove)],
  );
  await run(...makeFactsSql(names, key, facts));
  const receipt = await appendEntries(run, { ...place, channel: undefined }, id, append, {});
  if (channel !== undefined) await run(notifySql(names), [channel, key]);
  return { ...receipt, revision: revision + 1 };
}

/** Returns the statement that notifies watchers that a session has changed. */
function notifySql({ sessions }: Names): string {
  return `select pg_notify($1, s.key::text) from ${sessions} s where s.key = $2 and s.watched_until > now()`;
}

function replaceSql({ lines }: Names): string {
  return `update ${lines} l set line = g.line, raw = decode(g.raw, 'base64'),
      is_unterminated = coalesce(g.is_unterminated, false), entry_id = g.entry_id, parent_id = g.parent_id,
      type = g.type, time_ms = g.time_ms, search = g.search, usage = g.usage
    from json_to_recordset($2::json) as g(seq bigint, line text, raw text, is_unterminated boolean, entry_id text,
      parent_id text, type text, time_ms bigint, search text, usage text)
    where l.session = $1 and l.seq = g.seq`;
}

/** Creates the statement that recomputes the end of a session and the facts derived from replaced lines. */
function makeFactsSql(
  { sessions, lines }: Names,
  key: string,
  { name, firstMessage }: Amendment["facts"],
): [text: string, values: unknown[]] {
  const ofLines = (what: string) => `(select ${what} from ${lines} l where l.session = s.key`;
  const text = `update ${sessions} s set
    revision = s.revision + 1,
    last_seq = coalesce(${ofLines("max(l.seq)")}), 0),
    leaf_seq = coalesce(${ofLines("max(l.seq)")} and l.entry_id is not null
      and l.type not in (select json_array_elements_text($2::json))), 0),
    name = case when $3 then $4 else s.name end,
    name_search = case when $3 then $5 else s.name_search end,
    first_message = case when $6 then $7 else s.first_message end
    where s.key = $1`;
  const search = typeof name === "string" ? searchForm(name) : null;
  const named = [name !== undefined, name ?? null, search];
  return [
    text,
    [key, JSON.stringify(COMMUTING_TYPES), ...named, firstMessage !== undefined, firstMessage ?? null],
  ];
}
