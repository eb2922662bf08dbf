import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { COMMANDS } from "../../../src/apps/cli/commands.ts";
import { isDeletedImport } from "../../../src/catalog/list/deleted-imports.ts";
import { SessionError } from "../../../src/core/format/errors.ts";
import { IMPORT_CUSTOM_TYPE } from "../../../src/core/format/import-origin.ts";
import type { SessionBackend } from "../../../src/stores/contract/session-backend.ts";
import type { SessionStore } from "../../../src/stores/contract/session-store.ts";
import { SCHEMA_VERSION } from "../../../src/stores/postgres/migrate.ts";
import { makeEntryLine } from "../../../src/stores/remote/line-codec.ts";
import { MemoryBackend } from "../../../src/stores/remote/memory-backend.ts";
import { remoteStore } from "../../../src/stores/remote/remote-store.ts";
import { faultyBackend } from "../../../src/stores/suite/faulty-backend.ts";
import { overBackend } from "../../stores/support/over-backend.ts";
import { cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, userLine } from "./support/sessions.ts";
import { SECRET, SHOWN_STORE, TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const ID = "0198aaaa-0000-7000-8000-000000000001";

/** Creates a database with one session, and a session in a file. */
async function scene() {
  const folder = temporaryFolder();
  vi.stubEnv("TMPDIR", folder);
  const database = new TestDatabase();
  const scribe = new Scribe(join(folder, "sessions"), ID);
  scribe.user("hello");
  await scribe.session.close();
  await cli(["db", "copy", scribe.path, "--to", URL_OF_STORE], { stores: database });
  database.opened.length = 0;
  database.closed = 0;
  const copies = () => readdirSync(folder).filter((name) => name.startsWith("sessiontree-"));
  return { folder, database, path: scribe.path, copies };
}

test("--store and --dir override the variable, but cannot be combined", async () => {
  const { database, path, folder } = await scene();
  const env = { SESSIONTREE_STORE: URL_OF_STORE };
  const settings = { stores: database, env };
  const dir = join(folder, "sessions");
  expect(jsonLines(await cli(["show", ID, "--json"], settings))).toMatchObject([{ store: SHOWN_STORE }]);
  expect(jsonLines(await cli(["show", ID, "--json", "--dir", dir], settings))).toMatchObject([{ path }]);
  const other = "postgres://other/db";
  expect((await cli(["show", ID, "--json", "--store", other], settings)).stdout).toContain(other);
  expect(database.opened).toEqual([URL_OF_STORE, other]);
  const both = await cli(["show", ID, "--store", other, "--dir", dir], settings);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give --store or --dir, not both.")]);
  expect((await cli(["list"], { stores: database, env: { SESSIONTREE_STORE: "" } })).code).toBe(0);
  expect(database.opened).toHaveLength(2);
});

test("fork prints a command that finds the copy: with --store, unless the variable names the database", async () => {
  const { database } = await scene();
  const continued = async (args: string[], env: Record<string, string>) =>
    /sessiontree continue (.*) --in/.exec(
      (await cli(["fork", ID, ...args], { stores: database, env })).stderr,
    )?.[1];
  expect(await continued(["--store", URL_OF_STORE], {})).toMatch(/^[0-9a-f-]{36} --store \S+$/);
  expect(await continued([], { SESSIONTREE_STORE: URL_OF_STORE })).toMatch(/^[0-9a-f-]{36}$/);
  expect(await continued(["--store", URL_OF_STORE], {})).toContain(` ${SHOWN_STORE}`);
});

const FILES_ONLY = ["keep", "prune", "repair", "restore", "resume"];

test.each(FILES_ONLY)("%s works on files and reports that", async (name) => {
  const { database, path, folder } = await scene();
  const words = { keep: ["--status"], repair: [path], prune: ["--older-than", "9y"] }[name] ?? [];
  const given = await cli([name, ...words, "--store", URL_OF_STORE], { stores: database });
  expect([given.code, given.stderr]).toEqual([2, expect.stringContaining(`${name} works on files. `)]);
  expect(given.stderr).not.toContain("--dir");
  const settings = { stores: database, env: { HOME: folder, SESSIONTREE_STORE: URL_OF_STORE } };
  const fromVariable = await cli([name, ...words], settings);
  expect([fromVariable.code, fromVariable.stderr]).toEqual([2, expect.stringContaining("With --dir,")]);
  if (name !== "resume") expect((await cli([name, ...words, "--dir", folder], settings)).code).not.toBe(2);
  expect(database.opened).toEqual([]);
});

test("only the expected commands are limited to files", async () => {
  const loaded = await Promise.all(COMMANDS.map(async ({ name, load }) => ({ name, ...(await load()) })));
  const names = loaded.filter(({ filesOnly }) => filesOnly !== undefined).map(({ name }) => name);
  expect(names.sort()).toEqual(FILES_ONLY);
});

test.each([
  ["a folder", "./sessions"],
  ["another database", `mysql://ada:${SECRET}@db/agents`],
  ["a password with a slash", `postgres://ada:x/${SECRET}@db/agents`],
  ["no host", `postgres://ada:${SECRET}@`],
  ["a port that is none", `postgres://ada:${SECRET}@db:port/agents`],
])("%s is not an address, and is not repeated", async (_what, address) => {
  const stores = new TestDatabase();
  for (const args of [
    ["list", "--store", address],
    ["db", "copy", "x", "--to", address],
  ]) {
    if (args[1] === "copy" && address === "./sessions") continue;
    const { code, stdout, stderr } = await cli(args, { stores, env: { SESSIONTREE_DEBUG: "1" } });
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain(SECRET);
  }
  const { code, stderr } = await cli(["list"], { stores, env: { SESSIONTREE_STORE: address } });
  expect([code, stderr]).toEqual([2, expect.stringContaining("SESSIONTREE_STORE must be an address")]);
  expect(stores.opened).toEqual([]);
});

test.each([
  [
    `postgres://ada:${SECRET}@db/agents?schema=s&tenant=t&password=${SECRET}`,
    "postgres://ada@db/agents?schema=s&tenant=t",
  ],
  [`postgresql://ada:${SECRET}@db:5433/agents?sslkey=${SECRET}#${SECRET}`, "postgresql://ada@db:5433/agents"],
  [`postgres://ada:12/${SECRET}@db/agents`, "postgres://…"],
  [`postgres://:${SECRET}@db/agents`, "postgres://db/agents"],
  ["postgres:///agents", "postgres:///agents"],
])("%s is shown as %s", async (address, shown) => {
  const { database } = await scene();
  const [json] = jsonLines(await cli(["show", ID, "--json", "--store", address], { stores: database }));
  expect(json).toHaveProperty("store", shown);
});

test("no error contains a password", async () => {
  const broken = async (): Promise<SessionStore> => {
    throw Object.assign(new Error(`cannot reach ${URL_OF_STORE} or ${URL_OF_STORE}?password=${SECRET}`), {
      input: URL_OF_STORE,
    });
  };
  const stores = Object.assign(new TestDatabase(), { open: broken });
  for (const args of [
    ["list", "--store", URL_OF_STORE],
    [URL_OF_STORE],
    ["tree", URL_OF_STORE],
    ["name", URL_OF_STORE],
  ]) {
    const { code, stdout, stderr } = await cli(args, { stores, env: { SESSIONTREE_DEBUG: "1" } });
    expect(code).toBeGreaterThan(0);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stderr).toMatch(/postgres:\/\/ada:…@db\.example|address of a database with --store/);
  }
});

test("a store is opened once, when it is needed, and closed, even after a failure", async () => {
  const { database, copies, path } = await scene();
  const settings = { stores: database };
  expect((await cli(["verify", ID, ID, "@last", path, "--store", URL_OF_STORE], settings)).code).toBe(1);
  expect([database.opened.length, database.closed, copies()]).toEqual([1, 1, []]);
  expect((await cli(["show", ID, "nowhere", "--store", URL_OF_STORE], settings)).code).toBe(1);
  expect((await cli(["show", "nothing", "--store", URL_OF_STORE], settings)).code).toBe(1);
  expect((await cli(["search", "x", "--limit", "many", "--store", URL_OF_STORE], settings)).code).toBe(2);
  expect([database.opened.length, database.closed, copies()]).toEqual([3, 3, []]);
  expect((await cli(["tree", "--help", "--store", URL_OF_STORE], settings)).code).toBe(0);
  expect((await cli(["verify", path, "--store", URL_OF_STORE], settings)).code).toBe(0);
  expect(database.opened).toHaveLength(3);
});

test("a reader that closes the pipe leaves nothing open", async () => {
  const { database, copies } = await scene();
  const { code } = await cli(["export", ID, "--jsonl", "--store", URL_OF_STORE], {
    stores: database,
    onOutput: () => {
      throw Object.assign(new Error("closed"), { code: "EPIPE" });
    },
  });
  expect([code, database.closed, copies()]).toEqual([0, 1, []]);
});

test("a write that a failing database prevented is reported, and never as a success", async () => {
  const { folder, copies } = await scene();
  const { backend, faults } = faultyBackend(new MemoryBackend());
  const quick = { minRetryMs: 1, maxRetryMs: 1, giveUpAfterMs: 20 };
  const seed = remoteStore(backend);
  const session = seed.create({ cwd: folder, id: "one", createAtOnce: true });
  await session.flush();
  let isFailing = false;
  const append = backend.append.bind(backend);
  backend.append = async (...args) => {
    if (isFailing) throw new Error("the connection failed");
    return append(...args);
  };
  const refuse = () => Promise.reject(new Error("nobody asks for this"));
  const stores = { open: async () => remoteStore(backend, quick), migrate: refuse, migrationSql: refuse };
  isFailing = true;
  const named = await cli(["name", "one", "New", "--store", URL_OF_STORE], { stores });
  expect([named.code, named.stdout]).toEqual([1, ""]);
  expect(named.stderr).toContain("the connection failed");
  isFailing = false;
  expect((await cli(["name", "one", "--store", URL_OF_STORE], { stores })).stdout).toContain("no name");
  faults.failNext(1_000_000);
  for (const args of [["list"], ["tree", "one"], ["search", "x"], ["rm", "one", "--yes"], ["fork", "one"]]) {
    const { code, stdout, stderr } = await cli([...args, "--store", URL_OF_STORE], { stores });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("The store does not respond");
  }
  expect(copies()).toEqual([]);
});

test("hostile content of a database controls neither the terminal nor the file system", async () => {
  const { folder, copies } = await scene();
  const backend = new MemoryBackend();
  const id = "../../\u001b[2J\u202e";
  const cwd = `${folder}/\u001b[31m`;
  const timestamp = "2026-02-03T22:00:00.000Z";
  const lines = [
    { text: JSON.stringify({ type: "session", version: 3, id, timestamp, cwd }) },
    makeEntryLine(JSON.stringify(userLine("00000001", null, "\u001b[2Jhostile text")), true),
  ];
  await backend.create(
    {
      ...{ id, cwd, name: "evil \u001b]0;title\u0007", parentSession: null, createdMs: 0, lastMessageMs: 0 },
      ...{ messageCount: 1, firstMessage: "\u001b[2J" },
    },
    (async function* () {
      yield lines;
    })(),
  );
  const stores = new TestDatabase(() => backend);
  const to = join(folder, "out");
  for (const args of [
    ["list", "--all"],
    ["search", "hostile", "--all"],
    ["show", "evil"],
    ["tree", "evil"],
    ["verify", "evil"],
    ["stats", "evil"],
    ["name", "evil", "evil \u001b[31m still"],
    ["view", "evil", "--no-open"],
    ["rm", "nothing", "--yes"],
    ["db", "copy", "evil", "--to", to],
    ["rm", "evil", "--yes"],
  ]) {
    const { code, stdout, stderr } = await cli([...args, "--store", URL_OF_STORE], { stores });
    const isRefused = args[1] === "copy" || args[1] === "nothing";
    expect([args[0], code, stdout !== ""]).toEqual([args[0], Number(isRefused), !isRefused]);
    expect(stdout + stderr).not.toMatch(/(?![\t\n])[\p{Cc}\u202e]/u);
    expect(stderr).not.toContain("unexpected");
    expect(copies().length).toBeLessThan(2);
  }
  expect(readdirSync(folder)).not.toContain("out");
  expect(readdirSync(join(folder, ".."))).not.toContain("\u001b[2J\u202e");
});

test("a database that cannot rewrite rejects a redaction with a message", async () => {
  const inner = new MemoryBackend();
  const backend: SessionBackend = {
    supports: { ...inner.supports, rewrite: false },
    create: inner.create.bind(inner),
    read: inner.read.bind(inner),
    append: inner.append.bind(inner),
    list: inner.list.bind(inner),
    delete: inner.delete.bind(inner),
    close: inner.close.bind(inner),
  };
  const { path } = await scene();
  const stores = new TestDatabase(() => backend);
  await cli(["db", "copy", path, "--to", URL_OF_STORE], { stores });
  const { code, stdout, stderr } = await cli(["redact", ID, "@leaf", "--yes", "--store", URL_OF_STORE], {
    stores,
  });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("can neither redact nor upgrade. Copy the session to a store that can");
  expect((await stores.bytes(ID)).includes("hello")).toBe(true);
});

test("an error while opening or closing is reported once", async () => {
  const error = new SessionError("STORE_UNAVAILABLE", "The package pg is not installed; npm install pg.");
  const stores = Object.assign(new TestDatabase(), { open: () => Promise.reject(error) });
  const { code, stderr } = await cli(["list", "--store", URL_OF_STORE], { stores });
  expect([code, stderr]).toEqual([1, `sessiontree: ${error.message}\n`]);
  const closing = new TestDatabase();
  const open = closing.open.bind(closing);
  closing.open = async (url) => Object.assign(await open(url), { close: () => Promise.reject(error) });
  const listed = await cli(["list", "--json", "--store", URL_OF_STORE], { stores: closing });
  const told = { error: { code: error.code, message: error.message } };
  expect([listed.code, listed.stderr]).toEqual([1, `${JSON.stringify(told)}\n`]);
});

test("copy requires a target, and continues after a session that cannot be copied", async () => {
  const { database, path, folder } = await scene();
  const settings = { stores: database, cwd: folder };
  expect((await cli(["db", "copy", path], settings)).stderr).toContain("add --to and a folder");
  const missing = join(folder, "missing.jsonl");
  const { code, stdout, stderr } = await cli(
    ["db", "copy", missing, folder, path, "--to", "copies"],
    settings,
  );
  expect([code, stdout]).toEqual([1, expect.stringContaining(`Copied: ${join(folder, "copies")}`)]);
  expect(stderr.split("\n")).toHaveLength(3);
  expect(stderr).toContain(`sessiontree: ${missing}: `);
  expect(stderr).not.toContain("unexpected");
});

test("migrate creates tables, and asks before it migrates to a given version", async () => {
  const database = new TestDatabase();
  const migrate = (...args: string[]) => cli(["db", "migrate", ...args], { stores: database });
  expect((await migrate()).stderr).toContain("Name the database: add --store");
  const at = ["--store", URL_OF_STORE];
  expect((await migrate(...at)).stdout).toBe(
    `Created the tables of version ${SCHEMA_VERSION} in ${SHOWN_STORE}\n`,
  );
  expect((await migrate(...at)).stdout).toBe(
    `The tables already have version ${SCHEMA_VERSION}: ${SHOWN_STORE}\n`,
  );
  expect((await migrate(...at, "--to", "0")).code).toBe(2);
  for (const to of [String(SCHEMA_VERSION + 1), "-1", "x", ""]) {
    expect((await migrate(...at, "--yes", "--to", to)).code).toBe(2);
  }
  expect(database.version).toBe(SCHEMA_VERSION);
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return "no";
  };
  const refused = await cli(["db", "migrate", ...at, "--to", "0"], { stores: database, ask });
  expect([refused.code, database.version]).toEqual([1, SCHEMA_VERSION]);
  expect(questions[0]).toContain(`All sessions in ${SHOWN_STORE} will be deleted permanently`);
  database.version = 0.5;
  expect((await migrate(...at)).stdout).toContain(`from version 0.5 to ${SCHEMA_VERSION} in`);
  expect(jsonLines(await migrate(...at, "--to", "0", "--yes", "--json"))).toEqual([
    { store: SHOWN_STORE, from: SCHEMA_VERSION, to: 0 },
  ]);
  expect((await migrate(...at, "--sql", "--to", "2")).lines).toEqual([
    "begin;",
    "-- to version 2",
    "commit;",
  ]);
  expect((await migrate(...at, "--sql", "--to", "0")).stdout).toBe("");
  expect(database.version).toBe(0);
  expect(database.opened).toEqual([]);
});

test("completion never waits for a server", async () => {
  const { database, folder } = await scene();
  const env = { SESSIONTREE_STORE: URL_OF_STORE };
  const settings = { stores: database, env, cwd: folder };
  const complete = async (...words: string[]) =>
    (await cli(["completion", "bash", "--", ...words], settings)).stdout.trim().split("\n");
  expect(await complete("tree", "")).toEqual(["@last"]);
  expect(await complete("tree", "--store", URL_OF_STORE, "")).toEqual(["@last"]);
  expect(await complete("tree", "--dir", join(folder, "sessions"), "")).toEqual(["@last", ID]);
  expect(await complete("db", "mig")).toEqual(["migrate"]);
  expect(database.opened).toEqual([]);
});

test("rm marks sessions imported into a store as deleted, and removes the mark if the deletion fails", async () => {
  const { folder } = await scene();
  vi.stubEnv("XDG_DATA_HOME", folder);
  const memory = new MemoryBackend();
  const origin = { source: "codex", sourceId: "of-rm" };
  const timestamp = "2026-03-01T12:00:00.000Z";
  const lines = [
    { type: "session", version: 3, id: "imported", timestamp, cwd: "/p" },
    {
      type: "custom",
      id: "000000a1",
      parentId: null,
      timestamp,
      customType: IMPORT_CUSTOM_TYPE,
      data: origin,
    },
  ];
  await remoteStore(memory).importBytes(
    (async function* () {
      yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    })(),
  );
  let isRefused = true;
  const refusing = overBackend(memory, {
    delete: async (id) => {
      if (isRefused) throw new SessionError("WRITE_FAILED", "The role may not delete.");
      return memory.delete(id);
    },
  });
  const stores = new TestDatabase(() => refusing);
  const remove = () => cli(["rm", "imported", "--yes", "--store", URL_OF_STORE], { stores });
  expect([(await remove()).code, isDeletedImport(origin)]).toEqual([1, false]);
  isRefused = false;
  expect([(await remove()).code, isDeletedImport(origin)]).toEqual([0, true]);
});
