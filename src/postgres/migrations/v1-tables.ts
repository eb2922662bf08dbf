import { type Names, quoteBody, TENANT_SETTING, TENANT_SQL } from "../names.ts";
import type { Migration } from "./migration.ts";

/** The fields of a line for `add_lines`; `n` numbers the lines of a call from 0. */
const GIVEN = `g(n integer, line text, raw text, is_unterminated boolean, entry_id text, parent_id text,
  type text, time_ms bigint, session_name text, name_search text, user_text text, search text, goes_on boolean, message_ms bigint)`;

const sessionsTable = ({ sessions }: Names) => `
create table ${sessions} (
  key bigint generated always as identity primary key,
  tenant text not null default ${TENANT_SQL} collate "C",
  id text not null collate "C",
  cwd text not null,
  project text not null collate "C",
  parent_session text,
  name text,
  name_search text,
  created_ms bigint not null,
  modified_ms bigint not null,
  message_count bigint not null default 0,
  first_message text,
  revision bigint not null default 0,
  next_seq bigint not null default 1,
  last_seq bigint not null default 0,
  leaf_seq bigint not null default 0,
  is_complete boolean not null default true,
  watched_until timestamptz,
  made_at timestamptz not null default now()
)`;

const linesTable = ({ lines, sessions }: Names) => `
create table ${lines} (
  session bigint not null references ${sessions} (key) on delete cascade,
  seq bigint not null,
  tenant text not null default ${TENANT_SQL} collate "C",
  entry_id text collate "C",
  parent_id text,
  type text,
  time_ms bigint,
  is_unterminated boolean not null default false,
  line text,
  raw bytea,
  search text collate "C",
  primary key (session, seq),
  check ((line is null) <> (raw is null))
)`;

/**
 * Adds lines to a session whose row the caller has locked, and updates the row's facts.
 *
 * @param time - The time of a line that may be the latest.
 * @param modified - Columns that are set to it.
 */
export const addLines = (
  { addLines: name, lines, sessions }: Names,
  time = "time_ms",
  modified = "modified_ms = greatest(s.modified_ms, t.time)",
) => `
create or replace function ${name}(p_session bigint, p_lines json) returns bigint
language plpgsql set search_path = '' as ${quoteBody(`
declare
  v_first bigint;
  v_count bigint := json_array_length(p_lines);
begin
  select s.next_seq into strict v_first from ${sessions} s where s.key = p_session for update;
  if v_count = 0 then return v_first; end if;
  with given as materialized (
    select g.*, v_first - 1 + row_number() over (order by g.n) as seq from json_to_recordset(p_lines) as ${GIVEN}
  ), added as (
    insert into ${lines} (session, seq, entry_id, parent_id, type, time_ms, is_unterminated,
      line, raw, search)
    select p_session, g.seq, g.entry_id, g.parent_id, g.type, g.time_ms,
      coalesce(g.is_unterminated, false), g.line, decode(g.raw, 'base64'), g.search
    from given g order by g.n
  ), told as (
    select max(g.seq) filter (where g.goes_on) as leaf, max(g.${time}) as time,
      count(*) filter (where g.type = 'message') as messages,
      (array_agg(g.user_text order by g.n) filter (where g.user_text is not null))[1] as first_message,
      (array_agg(g.session_name order by g.n desc) filter (where g.session_name is not null))[1] as name,
      (array_agg(g.name_search order by g.n desc) filter (where g.session_name is not null))[1] as name_search
    from given g
  )
  update ${sessions} s set
    next_seq = v_first + v_count,
    last_seq = v_first + v_count - 1,
    leaf_seq = coalesce(t.leaf, s.leaf_seq),
    ${modified},
    message_count = s.message_count + t.messages,
    first_message = coalesce(s.first_message, t.first_message),
    name = case when t.name is null then s.name else nullif(t.name, '') end,
    name_search = case when t.name is null then s.name_search else nullif(t.name_search, '') end
  from told t where s.key = p_session;
  return v_first;
end`)}`;

/**
 * Appends entries in one call, so that the session's row is locked for one call rather than several network round
 * trips.
 */
const appendLines = (names: Names) => `
create function ${names.append}(p_tenant text, p_id text, p_lines json, p_has_condition boolean, p_expected text,
  p_channel text)
returns table (status text, known text, first_seq bigint, preceding_seq bigint, revision bigint, leaf text)
language plpgsql set search_path = '' as ${quoteBody(`
declare
  v_session record;
  v_known bigint[];
  v_new json;
begin
  if p_tenant is not null then perform set_config('${TENANT_SETTING}', p_tenant, true); end if;
  select s.key, s.revision, s.last_seq, s.leaf_seq, s.watched_until into v_session from ${names.sessions} s
    where s.tenant = ${TENANT_SQL} and s.id = p_id and s.is_complete for update;
  if not found then
    status := 'missing';
    return next;
    return;
  end if;
  revision := v_session.revision;
  select array_agg(k.seq order by k.n) into v_known from (
    select g.n, (select min(l.seq) from ${names.lines} l
      where l.session = v_session.key and l.entry_id = g.entry_id and l.line = g.line) as seq
    from json_to_recordset(p_lines) as g(n integer, entry_id text, line text)
  ) k;
  known := array_to_json(v_known)::text;
  status := 'done';
  if array_position(v_known, null) is not null then
    if p_has_condition and not (
      case when p_expected is null then v_session.leaf_seq = 0
      else exists (select from ${names.lines} l where l.session = v_session.key and l.entry_id = p_expected
        and l.seq >= v_session.leaf_seq) end
    ) then
      status := 'stale';
      select l.entry_id into leaf from ${names.lines} l
        where l.session = v_session.key and l.seq = v_session.leaf_seq;
      return next;
      return;
    end if;
    select json_agg(g.e) into v_new from json_array_elements(p_lines) as g(e)
      where v_known[(g.e ->> 'n')::integer + 1] is null;
    first_seq := ${names.addLines}(v_session.key, v_new);
    if p_channel is not null and v_session.watched_until > now() then perform pg_notify(p_channel, v_session.key::text); end if;
  end if;
  preceding_seq := v_session.last_seq;
  if v_known[1] is not null then
    select coalesce(max(l.seq), 0) into preceding_seq from ${names.lines} l
      where l.session = v_session.key and l.seq < v_known[1];
  end if;
  return next;
end`)}`;

/** The tables, and the function through which everything is appended. */
export const tables: Migration = {
  version: 1,
  purpose: "sessions, their lines, and appending",
  up: (names) => [
    sessionsTable(names),
    `create unique index sessions_by_id on ${names.sessions} (tenant, id) where is_complete`,
    `create index sessions_by_time on ${names.sessions} (tenant, modified_ms desc, id) where is_complete`,
    `create index sessions_by_project on ${names.sessions} (tenant, project, modified_ms desc, id) where is_complete`,
    linesTable(names),
    `create index lines_by_entry on ${names.lines} (session, entry_id) where entry_id is not null`,
    addLines(names),
    appendLines(names),
  ],
  down: (names) => [
    `drop function ${names.append}(text, text, json, boolean, text, text)`,
    `drop function ${names.addLines}(bigint, json)`,
    `drop table ${names.lines}`,
    `drop table ${names.sessions}`,
  ],
};
