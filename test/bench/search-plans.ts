/**
 * Shows how PostgreSQL searches for the owner of the tables and for a role under row-level security, in PGlite:
 * npx tsx test/bench/search-plans.ts [--sessions N, of ten lines each, default 10000]
 */
import { parseArgs } from "node:util";
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { migrateDatabase } from "../../src/stores/postgres/migrate.ts";
import { quoteNames } from "../../src/stores/postgres/names.ts";
import { makeFoundLinesSql, searchSql } from "../../src/stores/postgres/queries.ts";
import { sqlBlocks } from "../stores/postgres/support/document-statements.ts";

const { values } = parseArgs({ options: { sessions: { type: "string", default: "10000" } } });
const sessions = Number(values.sessions);

const client = await PGlite.create({ extensions: { pg_trgm } });
await migrateDatabase({ client });
for (const code of sqlBlocks("docs/postgres.md", "roles")) await client.exec(code);
await client.query(
  `insert into sessiontree.sessions (id, cwd, project, created_ms, modified_ms)
    select 's' || n, '/p', '/p', n, n from generate_series(1, $1::integer) n`,
  [sessions],
);
await client.query(
  `insert into sessiontree.lines (session, seq, entry_id, type, time_ms, line, search)
    select s.key, i, i::text, 'message', 0, '{}',
      upper('needle' || (s.created_ms * 10 + i) || 'x ' || md5((s.key * 10 + i)::text) || ' the agent reads a file')
    from sessiontree.sessions s, generate_series(1, 10) i`,
);
await client.exec("vacuum analyze");

const query = { words: [`needle${(sessions >> 1) * 10 + 7}x`], limit: 100 };
const cases = [
  ["the owner", "postgres", searchSql],
  ["sessions_host, without find_lines", "sessions_host", searchSql],
  ["sessions_host, with find_lines", "sessions_host", makeFoundLinesSql],
] as const;
for (const [who, role, sqlOf] of cases) {
  await client.exec(`set role ${role}`);
  const { text, values: parameters } = sqlOf(quoteNames("sessiontree"), query);
  const explain = () => client.query<{ "QUERY PLAN": string }>(`explain (analyze) ${text}`, parameters);
  // The first run reads pages and makes plans that later calls reuse.
  await explain();
  const { rows } = await explain();
  const lines = rows.map((row) => row["QUERY PLAN"]).filter((line) => /Scan|Removed|Execution/.test(line));
  console.log(`\n${sessions * 10} lines, as ${who}\n${lines.join("\n")}`);
  await client.exec("reset role");
}
await client.close();
