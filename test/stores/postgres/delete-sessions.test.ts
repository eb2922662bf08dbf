import { deleteSessionsBefore, deleteTenant } from "sessiontree/postgres";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { headerLine, makeSessionFacts, messageLine, TIME_MS, yieldPieces } from "../support/lines.ts";
import { sqlBlocks } from "./support/document-statements.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();

beforeAll(async () => {
  await migrateDatabase({ client: database() });
  for (const code of sqlBlocks("docs/postgres.md", "roles")) await database().exec(code);
});

beforeEach(async () => {
  await database().query("reset role");
  await database().query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade");
  for (const tenant of ["", "acme", "other"]) {
    for (const [id, ms] of [
      ["old", TIME_MS],
      ["older", TIME_MS - 1],
      ["new", TIME_MS + 5],
    ] as const) {
      const lines = [messageLine("000000a1", null, id, ms)];
      await backendOf(tenant).create(makeSessionFacts(id), yieldPieces([headerLine(id)], lines));
    }
  }
});

const backendOf = (tenant: string) => new PostgresBackend({ client: database(), tenant });
const idsOf = async (tenant: string) => (await backendOf(tenant).list({ limit: 9 })).map(({ id }) => id);

test("deletes sessions older than a time, in batches, of one tenant or of all", async () => {
  const client = database();
  const before = new Date(TIME_MS + 1);
  expect(await deleteSessionsBefore({ client, before, tenant: "acme", batchSize: 1 })).toBe(2);
  expect([await idsOf("acme"), (await idsOf("other")).length]).toEqual([["new"], 3]);
  expect(await deleteSessionsBefore({ client, before })).toBe(4);
  expect(await deleteSessionsBefore({ client, before })).toBe(0);
  expect([await idsOf(""), await idsOf("other")]).toEqual([["new"], ["new"]]);
  expect((await client.query("select 1 from sessiontree.lines")).rows).toHaveLength(6);
});

test("deletes a tenant, and nothing of it can be restored", async () => {
  const client = database();
  await client.query("set role sessions_host");
  expect(await deleteTenant({ client, tenant: "acme", batchSize: 2 })).toBe(3);
  expect(await deleteTenant({ client, tenant: "acme" })).toBe(0);
  expect([await idsOf("acme"), (await idsOf("other")).length]).toEqual([[], 3]);
  const line = messageLine("000000a2", null);
  for (const id of ["old", "lost before the deletion"]) {
    const appended = backendOf("acme").append(id, [line], { afterSeq: 2, afterEntryId: "000000a1" });
    await expect(appended).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  }
  const lost = backendOf("other").append("never deleted", [line], { afterSeq: 2 });
  await expect(lost).rejects.toMatchObject({ code: "WRITES_LOST" });
});

test("leaves marks for sessions deleted by SQL as well, and their ids restart with a greater revision", async () => {
  const client = database();
  await client.query("delete from sessiontree.sessions where id = 'old'");
  await client.query("truncate sessiontree.sessions cascade");
  const backend = backendOf("acme");
  for (const id of ["old", "new"]) {
    const appended = backend.append(id, [messageLine("000000a2", null)], { afterSeq: 2 });
    await expect(appended).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(await backend.create(makeSessionFacts(id), yieldPieces([headerLine(id)]))).toMatchObject({
      revision: 1,
    });
  }
});

test("refuses an invalid date or tenant, and stops when aborted", async () => {
  const client = database();
  expect(() => deleteSessionsBefore({ client, before: new Date("") })).toThrow(TypeError);
  expect(() => deleteSessionsBefore({ client, before: new Date(), batchSize: 0 })).toThrow(TypeError);
  expect(() => deleteTenant({ client, tenant: "\ud800" })).toThrow(TypeError);
  const signal = AbortSignal.abort();
  await expect(deleteTenant({ client, tenant: "acme", signal })).rejects.toMatchObject({ code: "ABORTED" });
  expect(await idsOf("acme")).toHaveLength(3);
});

test("finds old sessions by the index with the statement in docs/scale.md", async () => {
  const client = database();
  const [retention = ""] = sqlBlocks("docs/scale.md", "retention");
  await client.query("set enable_seqscan = off");
  const { rows } = await client.query<Record<string, string>>(`explain ${retention.split(";")[0]}`);
  await client.query("reset enable_seqscan");
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/using sessions_by_time/);
  expect(plan).not.toMatch(/Sort/);
});
