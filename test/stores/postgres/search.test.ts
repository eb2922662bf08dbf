import type { Transaction } from "@electric-sql/pglite";
import { beforeAll, describe, expect, test } from "vitest";
import type { BackendSearchQuery, SessionBackend } from "../../../src/stores/contract/session-backend.ts";
import type { SearchInStoreOptions, SessionStore } from "../../../src/stores/contract/session-store.ts";
import type { PostgresClient } from "../../../src/stores/postgres/client.ts";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { memoryStore, remoteStore } from "../../../src/stores/remote/remote-store.ts";
import { cut } from "../../../src/stores/suite/kit.ts";
import { all, Chain, header } from "../../catalog/support/sessions.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../support/lines.ts";
import { sqlBlocks } from "./support/document-statements.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase({ hasTrigrams: true });

beforeAll(async () => {
  const client = database();
  await migrateDatabase({ client });
  for (const code of sqlBlocks("docs/postgres.md", "roles")) await client.exec(code);
  for (const tenant of ["acme", "other"]) {
    const backend = new PostgresBackend({ client, tenant });
    for (const id of ["a", "b"]) {
      const lines = [messageLine("000000a1", null, `a needle of ${tenant}`), messageLine("000000a2", null)];
      await backend.create(makeSessionFacts(id), yieldPieces([headerLine(id)], lines));
    }
  }
});

/** A transaction as a separate client: its counts are visible in it alone. */
const clientIn = (transaction: Transaction): PostgresClient => ({
  query: (text, values) => transaction.query(text, values),
  transaction: (run) => run(transaction),
  listen: async () => async () => undefined,
});

/** Searches as a role, and counts the uses of the search index. */
async function search(role: string, tenant: string, words: readonly string[]) {
  return database().transaction(async (transaction) => {
    await transaction.query("set local enable_seqscan = off");
    // Makes a few rows worth an index: the order would otherwise come from the index by id.
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

/** Counts the uses of the search index so far. */
async function indexScans(transaction: Transaction): Promise<number> {
  const sql = "select pg_stat_get_xact_numscans('sessiontree.lines_by_text'::regclass)::integer as scans";
  const { rows } = await transaction.query<{ scans: number }>(sql);
  return rows[0]?.scans ?? 0;
}

const NEEDLES = messageLine("000000a1", null, "a needle of acme").text;

test.each(["postgres", "sessions_host", "sessions_writer", "sessions_reader"])(
  "%s searches with the index, and only in its tenant",
  async (role) => {
    const { texts, scans } = await search(role, "acme", ["needle", "A NEE"]);
    expect(texts).toEqual([NEEDLES, NEEDLES]);
    expect(scans).toBeGreaterThan(0);
    expect((await search(role, "acme", ["needle", "other"])).texts).toEqual([]);
    expect((await search(role, "nobody", ["needle"])).texts).toEqual([]);
  },
);

test("finds the same without the index for a role that may not call the function", async () => {
  const client = database();
  await client.exec("create role unaware; grant usage on schema sessiontree to unaware");
  await client.exec("grant select on all tables in schema sessiontree to unaware");
  expect(await search("unaware", "acme", ["needle"])).toEqual({ texts: [NEEDLES, NEEDLES], scans: 0 });
});

test("finds frequent words session by session and rare ones by the index, in one order", async () => {
  const client = database();
  const memory = new MemoryBackend();
  const backend = new PostgresBackend({ client, tenant: "many" });
  for (const id of ["c", "a", "B"]) {
    const lines = Array.from({ length: 500 }, (_, i) =>
      messageLine(String(i).padStart(8, "0"), null, `common ${i % 100 === 7 ? "rare" : "hay"} ${i}`),
    );
    const facts = makeSessionFacts(id, { cwd: id === "a" ? "/a" : "/project" });
    for (const one of [backend, memory]) await one.create(facts, yieldPieces([headerLine(id)], lines));
  }
  await client.query("set role sessions_host");
  const found = async (one: SessionBackend, query: BackendSearchQuery) =>
    (await one.search?.(query))?.map(({ session, line }) => ({
      sessionId: session.id,
      seq: line.seq,
      text: line.text,
    }));
  for (const words of [["common"], ["rare"], ["COMMON", "rare"], ["common", "7"], ["c"], ["none of it"]]) {
    for (const extra of [{}, { cwd: "/a" }]) {
      for (let after: { sessionId: string; seq: number } | undefined; ; ) {
        const query = { words, limit: 70, ...extra, ...(after && { after }) };
        const expected = await found(memory, query);
        expect(await found(backend, query)).toEqual(expected);
        after = expected?.at(-1);
        if (after === undefined || (expected?.length ?? 0) < 70) break;
      }
    }
  }
  await client.query("reset role");
});

/** Records which sessions are read in full. */
class WatchedBackend extends PostgresBackend {
  readonly reads = new Set<string>();

  override read(...given: Parameters<PostgresBackend["read"]>) {
    this.reads.add(given[0]);
    return super.read(...given);
  }
}

describe("expressions, failures, calls, and questions", () => {
  const backend = () => new WatchedBackend({ client: database(), tenant: "zoo" });

  beforeAll(async () => {
    const store = remoteStore(backend());
    for (let i = 0; i < 20; i++) {
      const id = `s${String(i).padStart(2, "0")}`;
      const file = i === 7 ? "zebra.ts" : "horse.ts";
      const call = { type: "toolCall", id: "c1", name: "edit", arguments: { path: `src/${file}` } };
      const chain = new Chain(header({ id, cwd: i === 9 ? "/zoo/zebra.ts" : "/zoo" }))
        .user(i === 7 ? "The zebra_7 ran, a 日本 striped horse 🙂 50%" : `horse ${i}`)
        .message({ role: "assistant", content: [call] })
        .message({
          role: "toolResult",
          toolCallId: "c1",
          toolName: "edit",
          content: "refused",
          isError: true,
        });
      await store.importBytes(cut(Buffer.from(chain.text), 1_000));
    }
  });

  test.each<[string, SearchInStoreOptions, string[], string[]]>([
    ["zebra_\\d+", { regex: true }, ["s07.1"], ["s07"]],
    ["^the .*ZEBRA", { regex: true }, ["s07.1"], ["s07"]],
    ["日本? \\w+ horse 🙂", { regex: true }, ["s07.1"], ["s07"]],
    ["0%$|50%$", { regex: true, roles: ["user"], cwd: "/none" }, [], []],
    ["50%$", { regex: true }, ["s07.1"], ["s07"]],
    ["unheard.of", { regex: true }, [], []],
    ["ZEBRA", { failed: true }, ["s07.3"], ["s07"]],
    ["unheard", { failed: true }, [], []],
    ["zebra.*", { failed: true, regex: true, tools: ["none"] }, [], []],
    ["", { path: "src/zebra.ts" }, ["s07.2", "s07.3"], ["s07", "s09"]],
    ["striped zebras", { match: "any" }, ["s07.1", "s07.2"], ["s07"]],
    ["日本語", { match: "any" }, ["s07.1"], ["s07"]],
    ["🙂", { match: "any" }, ["s07.1"], ["s07"]],
    ["the zebra's \"", { match: "any", limit: 1 }, ["s07.1"], ["s07"]],
    ["unheard of", { match: "any" }, [], []],
    ["% \\ ' \u0000", { match: "any" }, [], []],
  ])("for %j with %j read no session that the index excludes", async (query, options, hits, reads) => {
    const watched = backend();
    const found = await all(remoteStore(watched).search(query, options));
    expect(
      found.map(({ session, entryId }) => `${session.id}.${Number.parseInt(entryId, 16)}`).sort(),
    ).toEqual(hits);
    expect([...watched.reads].sort()).toEqual(reads);
  });

  test("find the same in a database as in memory", async () => {
    const memory = memoryStore();
    const lines = backend();
    for (let i = 0; i < 20; i++) {
      const { lines: stored } = await lines.read(`s${String(i).padStart(2, "0")}`, 0, 100);
      await memory.importBytes(cut(Buffer.from(`${stored.map(({ text }) => text).join("\n")}\n`), 1_000));
    }
    for (const question of [
      "the striped zebra, horse 11",
      "refused edits of horse.ts",
      "日本 horse",
      "of it the",
      "x".repeat(64),
    ]) {
      const ask = async (store: SessionStore) =>
        (await all(store.search(question, { match: "any" }))).map(({ session: _, ...hit }) => hit);
      expect(await ask(remoteStore(backend()))).toEqual(await ask(memory));
    }
  });
});
