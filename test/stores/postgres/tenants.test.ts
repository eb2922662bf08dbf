import { afterEach, beforeAll, expect, test } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { headerLine, makeSessionFacts, messageLine, yieldPieces } from "../support/lines.ts";
import { sqlBlocks } from "./support/document-statements.ts";
import { embeddedDatabase } from "./support/embedded.ts";

const database = embeddedDatabase();

beforeAll(async () => {
  await migrateDatabase({ client: database() });
  for (const code of sqlBlocks("docs/postgres.md", "roles")) await database().exec(code);
});

afterEach(async () => {
  await database().query("set session authorization postgres");
  await database().query("reset role");
  await database().query("reset sessiontree.tenant");
});

const as = (role: string) => database().query(`set role ${role}`);
const backendOf = (tenant?: string) =>
  new PostgresBackend({ client: database(), ...(tenant !== undefined && { tenant }) });
const line = messageLine("000000a1", null, "a secret of acme");

/** Creates a session of a tenant. */
async function make(backend: PostgresBackend, id: string): Promise<void> {
  await backend.create(makeSessionFacts(id), yieldPieces([headerLine(id)], [line]));
}

const missing = (error: unknown) => isSessionError(error, "SESSION_NOT_FOUND");
const refused = (error: unknown) => isSessionError(error, "STORE_UNAVAILABLE") && /42501/.test(error.message);

test("a tenant sees nothing of another's, in any call", async () => {
  await as("sessions_host");
  const [acme, other] = [backendOf("acme"), backendOf("other")];
  await make(acme, "one");
  expect(await acme.list({ limit: 5 })).toHaveLength(1);
  expect(await acme.search({ words: ["secret"], limit: 5 })).toHaveLength(1);

  expect(await other.list({ limit: 5 })).toEqual([]);
  expect(await other.search({ words: ["secret"], limit: 5 })).toEqual([]);
  await expect(other.read("one", 0, 9)).rejects.toSatisfy(missing);
  await expect(other.append("one", [line])).rejects.toSatisfy(missing);
  await expect(
    other.subscribe?.("one", () => undefined, { signal: AbortSignal.timeout(1) }),
  ).rejects.toSatisfy(missing);
  expect(await other.delete("one")).toBe(false);
  expect((await acme.read("one", 0, 9)).lines).toHaveLength(2);

  // The same id does not conflict, and neither tenant sees the other's changes.
  await make(other, "one");
  await other.append("one", [messageLine("000000a2", null)]);
  expect((await acme.read("one", 0, 9)).lines).toHaveLength(2);
});

test("the database itself separates tenants, for statements of any kind", async () => {
  const client = database();
  await make(backendOf("acme"), "two");
  await as("sessions_host");
  const count = async (table: string) =>
    (await client.query(`select 1 from sessiontree.${table}`)).rows.length;
  expect([await count("sessions"), await count("lines")]).toEqual([0, 0]);
  await client.query("select set_config('sessiontree.tenant', 'nobody', false)");
  expect([await count("sessions"), await count("lines")]).toEqual([0, 0]);
  const forged =
    "insert into sessiontree.sessions (tenant, id, cwd, project, created_ms, modified_ms) values ('acme', 'x', '', '', 0, 0)";
  await expect(client.query(forged)).rejects.toThrow(/row-level security/);
  await expect(client.query("update sessiontree.lines set tenant = 'nobody'")).resolves.toMatchObject({
    affectedRows: 0,
  });
  await client.query("select set_config('sessiontree.tenant', 'acme', false)");
  expect(await count("sessions")).toBeGreaterThan(0);
  await expect(client.query("update sessiontree.lines set tenant = 'nobody'")).rejects.toThrow(/row-level/);
});

test("a role can be bound to one tenant, whatever its connection's setting", async () => {
  const client = database();
  await make(backendOf("acme"), "three");
  for (const code of sqlBlocks("docs/postgres.md", "tenant")) await client.exec(code);
  await make(backendOf("other"), "three");
  // As a user who logs in as this role: a superuser may become any other.
  await client.query("set session authorization acme");
  const acme = backendOf("acme");
  expect(await acme.list({ limit: 9, idPrefix: "three" })).toHaveLength(1);
  expect(await acme.search({ words: ["secret"], limit: 99 })).not.toEqual([]);
  await acme.append("three", [messageLine("000000a3", null)]);
  expect(await backendOf("other").list({ limit: 9 })).toEqual([]);
  await expect(make(backendOf("other"), "four")).rejects.toSatisfy(refused);
  const detours = [
    "set role sessions_host",
    "select * from sessiontree.find_lines('[\"%SECRET%\"]', null, null, null, 9)",
  ];
  await client.query("select set_config('sessiontree.tenant', 'other', false)");
  for (const detour of detours) await expect(client.query(detour)).rejects.toThrow(/permission denied/);
});

test("the connection's own setting selects the tenant if the host does not", async () => {
  await make(backendOf("acme"), "five");
  await database().query("select set_config('sessiontree.tenant', 'acme', false)");
  expect(await backendOf().list({ limit: 9, idPrefix: "five" })).toHaveLength(1);
  await make(backendOf(), "six");
  await database().query("reset sessiontree.tenant");
  expect(await backendOf().list({ limit: 9, idPrefix: "six" })).toEqual([]);
  expect(await backendOf("acme").list({ limit: 9, idPrefix: "six" })).toHaveLength(1);
});

test("a role that may only add can neither change nor remove existing data", async () => {
  await as("sessions_writer");
  const backend = backendOf("acme");
  await make(backend, "seven");
  await backend.append("seven", [messageLine("000000a2", "000000a1")], { expectedLeafId: "000000a1" });
  expect((await backend.read("seven", 0, 9)).lines).toHaveLength(3);
  const change = { expectedRevision: 0, replace: [{ seq: 2, line }], remove: [], append: [], facts: {} };
  await expect(backend.amend("seven", change)).rejects.toSatisfy(refused);
  await expect(backend.delete("seven")).rejects.toSatisfy(refused);
});

test("a role that may only read can read, and nothing else", async () => {
  await make(backendOf("acme"), "eight");
  await as("sessions_reader");
  const backend = backendOf("acme");
  expect((await backend.read("eight", 0, 9)).lines).toHaveLength(2);
  expect(await backend.list({ limit: 9, idPrefix: "eight" })).toHaveLength(1);
  await expect(backend.append("eight", [messageLine("000000a2", null)])).rejects.toSatisfy(refused);
  await expect(make(backend, "nine")).rejects.toSatisfy(refused);
  // It cannot announce what it watches, so it polls.
  const watching = backend.subscribe?.("eight", () => undefined, { signal: AbortSignal.timeout(1) });
  await expect(watching).rejects.toSatisfy((error) => !isSessionError(error));
});

test.each(["\ud800", "a\udfff", "a\0b"])(
  "%j is refused as a tenant, because the database would store another name",
  (tenant) => {
    expect(() => backendOf(tenant)).toThrow(TypeError);
  },
);
