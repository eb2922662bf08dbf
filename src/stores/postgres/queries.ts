import { toStorable } from "../contract/line-facts.ts";
import { SESSION_COLUMNS } from "../contract/rows.ts";
import type { BackendListQuery, BackendSearchQuery } from "../contract/session-backend.ts";
import { type Names, TENANT_SQL } from "./names.ts";
import { LINE_COLUMNS, makeColumnKey, makeLikePattern, makePartPattern } from "./rows.ts";

/** Statement and its parameters. */
export interface Query {
  readonly text: string;
  readonly values: unknown[];
}

/** Maximum size of the lines in one response, in bytes. The first line may be larger. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Collects parameters and returns their placeholders. */
class Parameters {
  readonly values: unknown[] = [];

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

const IS_SEEN = `s.tenant = ${TENANT_SQL} and s.is_complete`;

/** Builds a statement for one session. `make` receives the condition that selects the session. */
export function makeSessionSql(id: string, make: (where: string) => string): Query {
  return { text: make(`${IS_SEEN} and s.id = $1`), values: [id] };
}

/**
 * Builds the statement that reads a page of lines, each with the session's row. If there are no lines, it returns only
 * that row.
 *
 * A single statement sees a consistent state of the database, so the lines match the revision.
 */
export function readSql(
  names: Names,
  id: string,
  afterSeq: number,
  limit: number,
  afterEntryId: string | undefined,
): Query {
  const afterId = afterEntryId === undefined ? null : makeColumnKey(afterEntryId);
  return {
    text: `select s.revision, s.last_seq as end_seq, ($5::text is null or exists (select from ${names.lines} k
      where k.session = s.key and k.seq = $2 and k.entry_id = $5)) as is_known, l.* from ${names.sessions} s left join lateral (
      select ${LINE_COLUMNS} from (
        select p.*, sum(octet_length(coalesce(p.line, '')) + octet_length(coalesce(p.raw, ''))) over (order by p.seq
          rows between unbounded preceding and 1 preceding) as bytes_before
        from (select * from ${names.lines} one where one.session = s.key and one.seq > $2
          order by one.seq limit $3) p
      ) l where coalesce(l.bytes_before, 0) < $4 order by l.seq
    ) l on true where ${IS_SEEN} and s.id = $1 order by l.seq`,
    values: [id, afterSeq, limit, PAGE_BYTES, afterId],
  };
}

/** Builds the statement that reads a page of a list. */
export function listSql(names: Names, query: BackendListQuery): Query {
  return makePageSql(names, query, SESSION_COLUMNS);
}

/** Builds the statement that reads a page of a list with the usage in the sessions' lines. */
export function makeUsageSql(names: Names, query: BackendListQuery): Query {
  const lines = `from ${names.lines} l where l.session = s.key and`;
  return makePageSql(
    names,
    query,
    `${SESSION_COLUMNS}, (select json_agg(l.usage order by l.seq)::text ${lines} l.usage is not null) as usage,
      (select count(*) ${lines} l.entry_id is null) as without_entry`,
  );
}

function makePageSql(
  names: Names,
  { cwd, idPrefix, name, limit, after }: BackendListQuery,
  columns: string,
): Query {
  const parameters = new Parameters();
  const conditions = [IS_SEEN];
  if (cwd !== undefined) conditions.push(`s.project = ${parameters.add(makeColumnKey(cwd))}`);
  if (idPrefix !== undefined)
    conditions.push(`s.id like ${parameters.add(`${makeLikePattern(toStorable(idPrefix))}%`)}`);
  if (name !== undefined) conditions.push(`s.name_search like ${parameters.add(makePartPattern(name))}`);
  if (after !== undefined) {
    const [ms, id] = [parameters.add(after.modifiedMs), parameters.add(after.id)];
    // The first condition allows an index to find the start.
    conditions.push(`s.modified_ms <= ${ms} and (s.modified_ms < ${ms} or s.id > ${id})`);
  }
  return {
    text: `select ${columns} from ${names.sessions} s where ${conditions.join(" and ")}
      order by s.modified_ms desc, s.id limit ${parameters.add(limit)}`,
    values: parameters.values,
  };
}

/** Builds the statement that returns whether the role may search with the owner's permissions. */
export function mayFindLinesSql({ findLinesSignature }: Names): Query {
  return {
    text: "select has_function_privilege(to_regprocedure($1), 'execute') as may_find",
    values: [findLinesSignature],
  };
}

/** Builds the statement that finds a page of lines containing the given words, using the database function. */
export function makeFoundLinesSql(names: Names, { words, cwd, limit, after }: BackendSearchQuery): Query {
  return {
    text: `select ${SESSION_COLUMNS}, ${LINE_COLUMNS}
      from ${names.findLines}($1::json, $2, $3, $4, $5) f
      join ${names.lines} l on l.session = f.session and l.seq = f.seq join ${names.sessions} s on s.key = l.session
      where ${IS_SEEN} order by s.id desc, l.seq`,
    values: [
      JSON.stringify(words.map(makePartPattern)),
      cwd === undefined ? null : makeColumnKey(cwd),
      after?.sessionId ?? null,
      after?.seq ?? null,
      limit,
    ],
  };
}

/**
 * Builds the statement that finds a page of lines containing the given words among the lines that the role may read. It searches
 * session by session until the page is full.
 */
export function searchSql(names: Names, { words, cwd, limit, after }: BackendSearchQuery): Query {
  const parameters = new Parameters();
  const inSession = words.map((word) => `one.search like ${parameters.add(makePartPattern(word))}`);
  const conditions = [IS_SEEN];
  if (cwd !== undefined) conditions.push(`s.project = ${parameters.add(makeColumnKey(cwd))}`);
  if (after !== undefined) {
    const [id, seq] = [parameters.add(after.sessionId), parameters.add(after.seq)];
    conditions.push(`s.id <= ${id}`);
    inSession.push(`(s.id < ${id} or one.seq > ${seq})`);
  }
  const max = parameters.add(limit);
  return {
    text: `select ${SESSION_COLUMNS}, ${LINE_COLUMNS} from ${names.sessions} s cross join lateral (
        select * from ${names.lines} one where one.session = s.key and ${inSession.join(" and ")}
        order by one.seq limit ${max}
      ) l where ${conditions.join(" and ")} order by s.id desc, l.seq limit ${max}`,
    values: parameters.values,
  };
}

/** Time for which a session remains watched without being renewed. */
const WATCHED_FOR = "2 minutes";

/** Builds the statement that marks sessions as watched, by their keys. */
export function watchSql({ sessions }: Names, keys: readonly string[]): Query {
  return {
    text: `update ${sessions} s set watched_until = now() + $2::interval
      where s.key in (select g::bigint from json_array_elements_text($1::json) as g)`,
    values: [JSON.stringify(keys), WATCHED_FOR],
  };
}
