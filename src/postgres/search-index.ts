import type { RunSql } from "./database.ts";
import { lockKey, type Names } from "./names.ts";
import { type Row, requiredText } from "./rows.ts";

/** Finds the table of lines and its parts, the whole last, each with the index for searching that it has. */
const PARTS = `select format('%I.%I', n.nspname, c.relname) as part, format('%I', c.relname || '_by_text') as index,
    format('%I.%I', n.nspname, c.relname || '_by_text') as full_index, c.relkind = 'p' as is_split,
    (select i.indisvalid from pg_index i
      where i.indexrelid = to_regclass(format('%I.%I', n.nspname, c.relname || '_by_text'))) as is_valid
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = $1::regclass or c.oid in (select t.relid from pg_partition_tree($1::regclass) t where t.isleaf)
  order by c.relkind = 'p'`;

const TRIGRAMS = `select format('%I', n.nspname) as schema from pg_extension e
  join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`;

/**
 * Builds the index for searching, or drops it, while others append. Leaves it to another host that is at it.
 *
 * Not in a transaction: it would keep all appends waiting until the index is built.
 *
 * @param run - Runs statements over one connection.
 */
export async function changeSearchIndex(run: RunSql, names: Names, isWanted: boolean): Promise<void> {
  const key = lockKey(`${names.schema} search`);
  // Waiting for the lock would hold up the build that has it.
  const [lock] = await run("select pg_try_advisory_lock($1::bigint) as is_mine", [key]);
  if (lock?.["is_mine"] !== true) return;
  try {
    for (const statement of await searchIndexSql(run, names, isWanted)) await run(statement);
  } finally {
    await run("select pg_advisory_unlock($1::bigint)", [key]);
  }
}

/** Returns the statements that build or drop the index, each to be run by itself; none if nothing is to be done. */
export async function searchIndexSql(run: RunSql, names: Names, isWanted: boolean): Promise<string[]> {
  const parts = await run(PARTS, [names.lines]);
  const whole = parts.at(-1);
  if (whole === undefined) return [];
  if (!isWanted) return whole["is_valid"] === null ? [] : [dropSql(whole)];
  if (whole["is_valid"] === true) return [];
  const [extension] = await run(TRIGRAMS);
  const operators = extension === undefined ? "" : `${requiredText(extension, "schema")}.`;
  const missing = parts.filter((part) => part["is_valid"] !== true);
  return [
    ...(extension === undefined ? ["create extension if not exists pg_trgm"] : []),
    // A build that was interrupted leaves an index that is kept up to date, and is of no use.
    ...missing.filter((part) => part["is_valid"] === false).map(dropSql),
    ...missing.map(
      (part) =>
        `create index${concurrently(part)} if not exists ${requiredText(part, "index")} on ${requiredText(part, "part")} using gin (search ${operators}gin_trgm_ops)`,
    ),
  ];
}

const dropSql = (part: Row) =>
  `drop index${concurrently(part)} if exists ${requiredText(part, "full_index")}`;

/** Of a table in parts, the index is made of those of its parts, at once. */
const concurrently = (part: Row) => (part["is_split"] === true ? "" : " concurrently");
