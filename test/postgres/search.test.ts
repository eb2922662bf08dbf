import type { Transaction } from "@electric-sql/pglite";
import { beforeAll, expect, test } from "vitest";
import type { PostgresClient } from "../../src/postgres/client.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { PostgresBackend } from "../../src/postgres/postgres-backend.ts";
import { sqlBlocks } from "./support/document-statements.ts";
import { embeddedDatabase } from "./support/embedded.ts";
import { headerLine, messageLine, piecesOf, sessionFactsOf } from "./support/lines.ts";

const database = embeddedDatabase({ hasTrigrams: true });

beforeAll(async () => {
  const client = database();
  await migrate({ client });
  for (const code of sqlBlocks("docs/postgres.md", "roles")) await client.exec(code);
  for (const tenant of ["acme", "other"]) {
    const backend = new PostgresBackend({ client, tenant });
    for (const id of ["a", "b"]) {
      const lines = [messageLine("000000a1", null, `a needle of ${tenant}`), messageLine("000000a2", null)];
      await backend.create(sessionFactsOf(id), piecesOf([headerLine(id)], lines));
    }
  }
});

/** A transaction as a client of its own: what it counts is known in it alone. */
const clientIn = (transaction: Transaction): PostgresClient => ({
  query: (text, values) => transaction.query(text, values),
  transaction: (run) => run(transaction),
  listen: async () => async () => undefined,
});

/** Searches as a role, and counts how often the index for searching was used. */
async function search(role: string, tenant: string, words: readonly string[]) {
  return database().transaction(async (transaction) => {
    await transaction.query("set local enable_seqscan = off");
    // Only so that a few rows are worth an index: the order could be had from the one by id.
    await transaction.query("set local enable_nestloop = off");
    const before = await indexScans(transaction);
    await transaction.query(`set local role ${role}`);
    const backend = new PostgresBackend({ client: clientIn(transaction), tenant });
    const found = await backend.search({ words, limit: 10 });
    await transaction.query("reset role");
    const scans = (await indexScans(transaction)) - before;
    return { texts: found.map(({ line }) => line.text), scans };
  });
}

/** Counts how often the index for searching was used until now. */
async function indexScans(transaction: Transaction): Promise<number> {
  const sql = "select pg_stat_get_xact_numscans('sessiontree.lines_by_text'::regclass)::integer as scans";
  const { rows } = await transaction.query<{ scans: number }>(sql);
  return rows[0]?.scans ?? 0;
}

const NEEDLES = messageLine("000000a1", null, "a needle of acme").text;

test.each(["postgres", "sessions_host", "sessions_writer", "sessions_reader"])(
  "%s searches with the index, and in its tenant alone",
  async (role) => {
    const { texts, scans } = await search(role, "acme", ["needle", "A NEE"]);
    expect(texts).toEqual([NEEDLES, NEEDLES]);
    expect(scans).toBeGreaterThan(0);
    expect((await search(role, "acme", ["needle", "other"])).texts).toEqual([]);
    expect((await search(role, "nobody", ["needle"])).texts).toEqual([]);
  },
);

test("a role that may not call the function finds the same, without the index", async () => {
  const client = database();
  await client.exec("create role unaware; grant usage on schema sessiontree to unaware");
  await client.exec("grant select on all tables in schema sessiontree to unaware");
  expect(await search("unaware", "acme", ["needle"])).toEqual({ texts: [NEEDLES, NEEDLES], scans: 0 });
});
