import { type Names, quoteBody, quoteLiteral, TENANT_SQL } from "../names.ts";
import type { Migration } from "./migration.ts";

/**
 * A function that finds lines by text with the rights of the tables' owner.
 *
 * Row-level security prevents the use of the search index: PostgreSQL applies the policy before `like`. The function
 * checks the tenant itself and returns only keys; the caller reads the lines under the policies of its own role.
 */
const findLines = ({ findLines: name, lines, sessions }: Names) => `
create function ${name}(p_patterns json, p_project text, p_after_id text, p_after_seq bigint, p_limit integer)
returns table (session bigint, seq bigint)
language plpgsql stable security definer rows 10 set search_path = '' as ${quoteBody(`
declare
  v_words text;
begin
  select coalesce(string_agg(format(' and l.search like %L', g.pattern), ''), '') into v_words
    from json_array_elements_text(p_patterns) as g(pattern);
  return query execute format('select l.session, l.seq from %s l join %s s on s.key = l.session
    where s.tenant = $1 and s.is_complete', ${quoteLiteral(lines)}, ${quoteLiteral(sessions)}) || v_words
    || case when p_project is null then '' else ' and s.project = $2' end
    || case when p_after_id is null then '' else ' and s.id <= $3 and (s.id < $3 or l.seq > $4)' end
    || ' order by s.id desc, l.seq limit $5'
    using ${TENANT_SQL}, p_project, p_after_id, p_after_seq, p_limit;
end`)}`;

/** Lets roles that do not own the tables search with the index, if the owner grants it. */
export const findingLines: Migration = {
  version: 4,
  purpose: "searching with the index for roles under row-level security",
  up: (names) => [findLines(names), `revoke all on function ${names.findLinesSignature} from public`],
  down: (names) => [`drop function ${names.findLinesSignature}`],
};
