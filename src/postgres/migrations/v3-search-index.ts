import { quoteBody, quoteLiteral } from "../names.ts";
import type { Migration } from "./migration.ts";

/**
 * A trigram index, which finds any part of a text in any language; an index of words would miss parts of words,
 * paths, and texts without spaces. Without the extension, a search reads all texts.
 */
export const searchIndex: Migration = {
  version: 3,
  purpose: "an index for searching",
  up: ({ lines }) => [
    `do ${quoteBody(`
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
end`)}`,
  ],
  down: ({ quotedSchema }) => [`drop index if exists ${quotedSchema}.lines_by_text`],
};
