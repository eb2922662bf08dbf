import { type Names, quoteBody, quoteLiteral, TENANT_SETTING, TENANT_SQL } from "./names.ts";

/** Fields of a line passed to `add_lines`. `n` is the line's index in the call, starting at 0. */
const GIVEN = `g(n integer, line text, raw text, is_unterminated boolean, entry_id text, parent_id text,
  type text, time_ms bigint, session_name text, name_search text, user_text text, search text, usage text, goes_on boolean, message_ms bigint)`;

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
  last_message_ms bigint,
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
  usage text,
  primary key (session, seq),
  check ((line is null) <> (raw is null))
)`;

/** Table of deleted sessions. An empty id means that the whole tenant was deleted. */
const deletedSessionsTable = ({ deletedSessions }: Names) => `
create table ${deletedSessions} (
  tenant text not null collate "C",
  id text not null collate "C",
  revision bigint not null,
  deleted_at timestamptz not null default now(),
  primary key (tenant, id)
)`;

/** Trigger that records deleted sessions, so that they are not mistaken for lost sessions. Works for deletions by any client. */
const noteDeleted = ({ noteDeleted: name, sessions, deletedSessions }: Names) => [
  `
create function ${name}() returns trigger
language plpgsql security definer set search_path = '' as ${quoteBody(`
begin
  if tg_op = 'TRUNCATE' then
    insert into ${deletedSessions} as d (tenant, id, revision)
      select s.tenant, s.id, s.revision from ${sessions} s where s.is_complete
      on conflict (tenant, id) do update set revision = greatest(d.revision, excluded.revision), deleted_at = now();
  else
    insert into ${deletedSessions} as d (tenant, id, revision)
      select g.tenant, g.id, g.revision from gone g where g.is_complete
      on conflict (tenant, id) do update set revision = greatest(d.revision, excluded.revision), deleted_at = now();
  end if;
  return null;
end`)}`,
  `create trigger note_deleted after delete on ${sessions} referencing old table as gone
    for each statement execute function ${name}()`,
  `create trigger note_truncated before truncate on ${sessions} for each statement execute function ${name}()`,
];

/** Trigger that sets the revision of a new session to a revision that no earlier session with the same id had. */
const setRevision = ({ setRevision: name, sessions, deletedSessions }: Names) => [
  `
create function ${name}() returns trigger
language plpgsql security definer set search_path = '' as ${quoteBody(`
begin
  new.revision := coalesce((select d.revision + 1 from ${deletedSessions} d
    where d.tenant = new.tenant and d.id = new.id), 0);
  return new;
end`)}`,
  `create trigger set_revision before insert on ${sessions} for each row execute function ${name}()`,
];

/** Function that locks a session's row, adds lines to the session after a gap, and updates the row's facts. */
const addLines = ({ addLines: name, lines, sessions }: Names) => `
create function ${name}(p_session bigint, p_lines json, p_gap bigint) returns bigint
language plpgsql set search_path = '' as ${quoteBody(`
declare
  v_first bigint;
  v_count bigint := json_array_length(p_lines);
begin
  select s.next_seq into strict v_first from ${sessions} s where s.key = p_session for update;
  if v_count = 0 then return v_first; end if;
  v_first := v_first + p_gap;
  with given as materialized (
    select g.*, v_first - 1 + row_number() over (order by g.n) as seq from json_to_recordset(p_lines) as ${GIVEN}
  ), added as (
    insert into ${lines} (session, seq, entry_id, parent_id, type, time_ms, is_unterminated,
      line, raw, search, usage)
    select p_session, g.seq, g.entry_id, g.parent_id, g.type, g.time_ms,
      coalesce(g.is_unterminated, false), g.line, decode(g.raw, 'base64'), g.search, g.usage
    from given g order by g.n
  ), told as (
    select max(g.seq) filter (where g.goes_on) as leaf, max(g.message_ms) as message_ms,
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
    last_message_ms = greatest(s.last_message_ms, t.message_ms),
    modified_ms = coalesce(greatest(s.last_message_ms, t.message_ms), s.created_ms),
    message_count = s.message_count + t.messages,
    first_message = coalesce(s.first_message, t.first_message),
    name = case when t.name is null then s.name else nullif(t.name, '') end,
    name_search = case when t.name is null then s.name_search else nullif(t.name_search, '') end
  from told t where s.key = p_session;
  return v_first;
end`)}`;

/**
 * Function that appends entries in a single call, so that the session's row is locked for that call only, not for
 * several network round trips.
 */
const appendLines = (names: Names) => `
create function ${names.append}(p_tenant text, p_id text, p_lines json, p_has_condition boolean, p_expected text,
  p_channel text, p_after_seq bigint, p_after_id text, p_gap bigint, p_lock_ms integer)
returns table (status text, known text, first_seq bigint, preceding_seq bigint, revision bigint, leaf text)
language plpgsql set search_path = '' as ${quoteBody(`
declare
  v_session record;
  v_known bigint[];
  v_new json;
begin
  if p_tenant is not null then perform set_config('${TENANT_SETTING}', p_tenant, true); end if;
  if p_lock_ms is not null then perform set_config('lock_timeout', p_lock_ms::text, true); end if;
  select s.key, s.revision, s.last_seq, s.leaf_seq, s.watched_until into v_session from ${names.sessions} s
    where s.tenant = ${TENANT_SQL} and s.id = p_id and s.is_complete for update;
  if not found then
    status := case when p_after_seq is not null and not exists (select from ${names.deletedSessions} d
      where d.tenant = ${TENANT_SQL} and d.id in (p_id, '')) then 'lost' else 'missing' end;
    return next;
    return;
  end if;
  if p_after_seq is not null and not exists (select from ${names.lines} l where l.session = v_session.key
    and l.seq = p_after_seq and (p_after_id is null or l.entry_id = p_after_id)) then
    status := 'lost';
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
    first_seq := ${names.addLines}(v_session.key, v_new, p_gap);
    if p_channel is not null and v_session.watched_until > now() then perform pg_notify(p_channel, v_session.key::text); end if;
  end if;
  preceding_seq := v_session.last_seq;
  if v_known[1] is not null then
    select coalesce(max(l.seq), 0) into preceding_seq from ${names.lines} l
      where l.session = v_session.key and l.seq < v_known[1];
  end if;
  return next;
end`)}`;

/**
 * Function that finds lines by text with the permissions of the tables' owner.
 *
 * Row-level security prevents the use of the search index: PostgreSQL applies the policy before `like`. The function
 * checks the tenant itself and returns only keys; the caller reads the lines under the policies of its own role.
 *
 * The function uses the index to collect matches up to a limit. If there are no more matches, it sorts them. Otherwise,
 * the words are frequent and the index would not help, so the function searches session by session until the page is
 * full. At the limit, which is proportional to the square root of the number of lines, both methods cost the same.
 */
const findLines = ({ findLines: name, quotedSchema, lines, sessions }: Names) => `
create function ${name}(p_patterns json, p_project text, p_after_id text, p_after_seq bigint, p_limit integer)
returns table (session bigint, seq bigint)
language plpgsql stable security definer rows 10 set search_path = '' set enable_seqscan = off set jit = off as ${quoteBody(`
declare
  v_tenant text := ${TENANT_SQL};
  v_words text;
  v_plain_words text;
  v_bound bigint := 1000;
  v_found bigint := 0;
  v_sessions bigint[];
  v_seqs bigint[];
  v_where text := ' where s.tenant = $1 and s.is_complete'
    || case when p_project is null then '' else ' and s.project = $2' end
    || case when p_after_id is null then '' else ' and s.id <= $3' end;
  v_behind text := case when p_after_id is null then '' else ' and (s.id < $3 or l.seq > $4)' end;
begin
  select coalesce(string_agg(format(' and l.search like %L', g.pattern), ''), ''),
    coalesce(string_agg(format(' and (l.search || %L) like %L', '', g.pattern), ''), '')
    into v_words, v_plain_words from json_array_elements_text(p_patterns) as g(pattern);
  if exists (select from json_array_elements_text(p_patterns) as g(pattern) where length(g.pattern) > 4)
    and exists (select from pg_catalog.pg_index i where i.indisvalid
      and i.indexrelid = to_regclass(${quoteLiteral(`${quotedSchema}.lines_by_text`)})) then
    select greatest(v_bound, ceil(sqrt(p_limit * greatest(sum(c.reltuples), 0)))::bigint) into v_bound
      from pg_catalog.pg_class c where c.oid = ${quoteLiteral(lines)}::regclass
        or c.oid in (select h.inhrelid from pg_catalog.pg_inherits h where h.inhparent = ${quoteLiteral(lines)}::regclass);
    execute format('select count(*), array_agg(h.session), array_agg(h.seq) from (
      select l.session, l.seq from %s l where true%s limit %s) h', ${quoteLiteral(lines)}, v_words, v_bound + 1)
      into v_found, v_sessions, v_seqs;
    if v_found <= v_bound then
      return query execute format('select l.session, l.seq
        from unnest($6, $7) as l(session, seq) join %s s on s.key = l.session', ${quoteLiteral(sessions)})
        || v_where || v_behind || ' order by s.id desc, l.seq limit $5'
        using v_tenant, p_project, p_after_id, p_after_seq, p_limit, v_sessions, v_seqs;
      return;
    end if;
  end if;
  return query execute format('select l.session, l.seq from %s s cross join lateral (
      select l.session, l.seq from %s l where l.session = s.key', ${quoteLiteral(sessions)}, ${quoteLiteral(lines)})
    || v_plain_words || v_behind || ' order by l.seq limit $5) l' || v_where || ' order by s.id desc, l.seq limit $5'
    using v_tenant, p_project, p_after_id, p_after_seq, p_limit;
end`)}`;

/**
 * Trigram index, which finds any part of a string in any language. A word index would miss parts of words, paths, and
 * text without spaces. Without the extension, a search reads all text.
 */
const searchIndex = ({ lines }: Names) => `
do ${quoteBody(`
declare
  v_schema text;
begin
  if not exists (select from pg_available_extensions where name = 'pg_trgm') then return; end if;
  begin
    create extension if not exists pg_trgm;
  exception when insufficient_privilege then
    return;
  end;
  select n.nspname into strict v_schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm';
  execute format('create index lines_by_text on %s using gin (search %I.gin_trgm_ops)', ${quoteLiteral(lines)}, v_schema);
end`)}`;

/** Policy that hides other tenants' rows from all roles except the table owner. */
const hideOtherTenants = (table: string) => [
  `alter table ${table} enable row level security`,
  `create policy tenant on ${table} using (tenant = ${TENANT_SQL}) with check (tenant = ${TENANT_SQL})`,
];

/** Returns the statements that create the tables and the functions for appending and finding lines. */
export function createTables(names: Names): string[] {
  const { sessions, lines, deletedSessions } = names;
  return [
    sessionsTable(names),
    `create unique index sessions_by_id on ${sessions} (tenant, id) where is_complete`,
    `create index sessions_by_time on ${sessions} (tenant, modified_ms desc, id) where is_complete`,
    `create index sessions_by_project on ${sessions} (tenant, project, modified_ms desc, id) where is_complete`,
    linesTable(names),
    `create index lines_by_entry on ${lines} (session, entry_id) where entry_id is not null`,
    `create index lines_by_usage on ${lines} (session, seq) include (usage) where usage is not null`,
    `create index lines_without_entry on ${lines} (session) where entry_id is null`,
    deletedSessionsTable(names),
    ...noteDeleted(names),
    ...setRevision(names),
    searchIndex(names),
    addLines(names),
    appendLines(names),
    findLines(names),
    `revoke all on function ${names.findLinesSignature} from public`,
    ...hideOtherTenants(sessions),
    ...hideOtherTenants(lines),
    ...hideOtherTenants(deletedSessions),
  ];
}

/** Returns the statements that drop the tables and functions, including all sessions. */
export function dropTables(names: Names): string[] {
  return [
    `drop function ${names.findLinesSignature}`,
    `drop function ${names.append}(text, text, json, boolean, text, text, bigint, text, bigint, integer)`,
    `drop function ${names.addLines}(bigint, json, bigint)`,
    `drop table ${names.lines}`,
    `drop table ${names.sessions}`,
    `drop table ${names.deletedSessions}`,
    `drop function ${names.noteDeleted}()`,
    `drop function ${names.setRevision}()`,
  ];
}
