import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { migrateDatabase } from "../../../src/stores/postgres/migrate.ts";
import { PostgresBackend } from "../../../src/stores/postgres/postgres-backend.ts";
import { embeddedDatabase } from "../../stores/postgres/support/embedded.ts";
import { type CliResult, type CliSettings, cli, jsonLines, temporaryFolder } from "./support/cli.ts";
import { Scribe, userLine, writeLines } from "./support/sessions.ts";
import { SECRET, SHOWN_STORE, TestDatabase, URL_OF_STORE } from "./support/stores.ts";

const PROJECT = "/projects/till";
const ID = "0198aaaa-0000-7000-8000-000000000001";

/** A database with one of the project's sessions, and the files next to it. */
interface Scene {
  readonly folder: string;
  readonly path: string;
  readonly database: TestDatabase;
  /** IDs of the user's message and of its answer. */
  readonly entries: readonly [string, string];
  /** Runs the command line in the project, on the database. */
  sql(...args: string[]): Promise<CliResult>;
  run(args: readonly string[], settings?: CliSettings): Promise<CliResult>;
}

async function makeScene(database = new TestDatabase()): Promise<Scene> {
  const folder = temporaryFolder();
  // Copies must be deleted when a command has ended, and nothing else creates folders here.
  vi.stubEnv("TMPDIR", join(folder));
  const scribe = new Scribe(join(folder, "sessions"), ID, PROJECT);
  const entries = [scribe.user("Totals are wrong."), scribe.assistant("The sum is rounded.")] as const;
  scribe.session.appendSessionInfo("Fix the totals");
  await scribe.session.close();
  const run = (args: readonly string[], settings: CliSettings = {}) =>
    cli(args, { cwd: PROJECT, stores: database, ...settings });
  const sql = (...args: string[]) => run([...args, "--store", URL_OF_STORE]);
  expect((await run(["db", "copy", scribe.path, "--to", URL_OF_STORE])).stderr).toBe("");
  return { folder, path: scribe.path, database, entries, sql, run };
}

const embedded = embeddedDatabase();

const DATABASES: readonly (readonly [string, () => Promise<TestDatabase>])[] = [
  ["memory", async () => new TestDatabase()],
  [
    "PostgreSQL",
    async () => {
      const client = embedded();
      await migrateDatabase({ client });
      await client.query("truncate sessiontree.sessions, sessiontree.deleted_sessions cascade");
      return new TestDatabase(() => new PostgresBackend({ client }));
    },
  ],
];

describe.each(DATABASES)("with sessions in %s", (_name, databaseOf) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await makeScene(await databaseOf());
  });

  test.each([
    ["tree", ["tree", "@last"]],
    ["tree as JSON", ["tree", "Fix", "--json"]],
    ["show an entry", ["show", ID, "@leaf"]],
    ["context", ["context", "0198aaaa"]],
    ["export", ["export", "@last", "--markdown"]],
    ["export of everything", ["export", "@last", "--jsonl", "--full"]],
    ["diff", ["diff", "@last", "@leaf", "@leaf", "--json"]],
    ["name", ["name", "@last"]],
    ["compaction plan", ["compact", "@last", "--dry-run"]],
  ])("%s prints the same as for the file", async (_what, args) => {
    const { sql, run, path, folder } = scene;
    const ofFile = await run(args.map((word) => (/^(?:@last|Fix|0198.*)$/.test(word) ? path : word)));
    const ofStore = await sql(...args);
    expect(ofStore).toEqual({ ...ofFile, stdout: ofStore.stdout, lines: ofStore.lines });
    expect(ofStore.stdout).toBe(ofFile.stdout);
    expect(readdirSync(folder).filter((name) => name.startsWith("sessiontree-"))).toEqual([]);
  });

  test("JSON about a session has the ID and the database instead of a path", async () => {
    const { sql } = scene;
    const location = { id: ID, store: SHOWN_STORE };
    for (const args of [
      ["show", ID],
      ["verify", ID],
      ["name", ID],
      ["name", ID, "@leaf"],
    ]) {
      const [json] = jsonLines(await sql(...args, "--json"));
      expect(json).toMatchObject(args[0] === "name" ? location : { id: ID });
      expect(json).toHaveProperty("store", SHOWN_STORE);
      expect(json).not.toHaveProperty("path");
    }
    const [stats] = jsonLines(await sql("stats", ID, "--json"));
    expect(stats).toMatchObject({ id: ID, store: SHOWN_STORE, entryCount: 3 });
    expect(stats).not.toHaveProperty("path");
    expect((await sql("verify", "@last")).stdout).toContain(`OK  ${ID} in ${SHOWN_STORE}  (3 entries`);
    expect((await sql("show", "@last")).stdout).toContain(SHOWN_STORE);
    expect((await sql("stats", "@last")).stdout).toContain(SHOWN_STORE);
  });

  test("a session is listed in its project, and with --all", async () => {
    const { sql, run } = scene;
    const [json] = jsonLines(await sql("list", "--json"));
    expect(json).toMatchObject({
      id: ID,
      store: SHOWN_STORE,
      cwd: PROJECT,
      name: "Fix the totals",
      messageCount: 2,
      firstMessage: "Totals are wrong.",
    });
    expect(json).not.toHaveProperty("path");
    expect(json).not.toHaveProperty("issueCount");
    expect((await sql("list", "--pretty")).lines[1]).toMatch(/^0198aaaa {2}.* 2 {2}Fix the totals$/);
    const elsewhere = { cwd: "/projects/other" };
    const none = await run(["list", "--store", URL_OF_STORE], elsewhere);
    expect(none.stderr).toContain(`No sessions of /projects/other in ${SHOWN_STORE}.`);
    expect((await run(["list", "--all", "--store", URL_OF_STORE], elsewhere)).stdout).toContain("till");
  });

  test("text is found as in files", async () => {
    const { sql, entries } = scene;
    const [hit] = jsonLines(await sql("search", "rounded", "--json"));
    expect(hit).toMatchObject({
      session: { id: ID, store: SHOWN_STORE, cwd: PROJECT, name: "Fix the totals" },
      entry: entries[1],
      role: "assistant",
    });
    expect((await sql("search", "TOTALS", "wrong", "--role", "user", "--pretty")).lines.at(-1)).toBe(
      "1 entry in 1 session",
    );
    const nothing = await sql("search", "rounded", "--role", "user");
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining("Nothing found")]);
    const inOne = jsonLines(await sql("search", "wrong", ID, "--json"));
    expect(inOne).toMatchObject([{ session: { id: ID, store: SHOWN_STORE }, entry: entries[0] }]);
    expect(inOne).not.toHaveProperty("[0].session.path");
    for (const option of ["--regex", "--case"]) expect((await sql("search", "wrong", option)).code).toBe(0);
    expect((await sql("search", "(", "--all", "--regex")).code).toBe(2);
  });

  test("name, label, compact, and redact change the session there", async () => {
    const { sql, database, entries } = scene;
    expect((await sql("name", "@last", "Totals")).stdout).toBe('The session is named "Totals".\n');
    expect((await sql("name", "Totals")).stdout).toBe("Totals\n");
    expect((await sql("name", ID, entries[0] ?? "", "start")).code).toBe(0);
    expect((await sql("name", ID, entries[0] ?? "")).stdout).toBe("start\n");
    const [compacted] = jsonLines(await sql("compact", ID, "--keep", "1", "--json"));
    expect(compacted).toMatchObject({ id: ID, store: SHOWN_STORE, isDryRun: false });
    expect(compacted).toHaveProperty("compacted");
    const [redacted] = jsonLines(await sql("redact", ID, entries[1], "--yes", "--json"));
    expect(redacted).toMatchObject({ id: ID, store: SHOWN_STORE, entry: entries[1], leftovers: [] });
    const bytes = await database.bytes(ID);
    expect(bytes).toContain('"Totals"');
    expect(bytes).not.toContain("The sum is rounded.");
    expect((await sql("verify", ID)).code).toBe(0);
    // In a database, `verify --all` is not available, so no note recommends it.
    const { code, stderr } = await sql("verify");
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("fork and clone create sessions there, which record their parent", async () => {
    const { sql, run, database, entries } = scene;
    const [forked] = jsonLines(await sql("fork", ID, entries[0], "--json"));
    expect(forked).toMatchObject({
      store: SHOWN_STORE,
      parentSession: ID,
      entryCount: 1,
      leafId: entries[0],
    });
    expect(forked).not.toHaveProperty("path");
    const cloned = await sql("fork", ID);
    expect(await database.ids()).toContain(cloned.stdout.trim());
    expect(cloned.stderr).toMatch(
      /^Copied 3 entries into a session in postgres:\/\/ada@db\.example\/agents\.\nTo continue it/,
    );
    const here = await run(["fork", ID, "--here", "--json", "--store", URL_OF_STORE], {
      cwd: "/projects/b",
    });
    const [own] = jsonLines(here);
    expect(own).toMatchObject({ store: SHOWN_STORE, parentSession: ID, entryCount: 3 });
    expect(await database.ids()).toHaveLength(4);
    const listed = jsonLines(await run(["list", "--json", "--store", URL_OF_STORE], { cwd: "/projects/b" }));
    expect(listed).toMatchObject([{ parentSession: ID, cwd: "/projects/b" }]);
  });

  test("view writes a page that is named after the session", async () => {
    const { sql } = scene;
    const { stdout, code } = await sql("view", "@last", "--no-open");
    expect(code).toBe(0);
    const page = stdout.trim().replace("Wrote 3 entries to ", "");
    expect(page).toMatch(new RegExp(`/${ID}\\.html$`));
    expect(readFileSync(page, "utf8")).not.toContain(SECRET);
  });

  test("tree --follow shows new entries, and keeps no copy", async () => {
    const { run, folder } = scene;
    const { stderr, code } = await run(["tree", "@last", "--follow", "--store", URL_OF_STORE], {
      untilInterrupted: () => {
        expect(readdirSync(folder).filter((name) => name.startsWith("sessiontree-"))).toEqual([]);
        return AbortSignal.abort();
      },
    });
    expect([code, stderr]).toEqual([
      0,
      `sessiontree: Following ${ID} in ${SHOWN_STORE}; press Ctrl-C to stop.\n`,
    ]);
  });

  test("merge accepts a file and a session of the database", async () => {
    const { sql, path, folder } = scene;
    await sql("name", ID, "Of the server");
    const to = join(folder, "both.jsonl");
    const merged = await sql("merge", path, ID, "-o", to);
    expect(merged.stdout).toMatch(new RegExp(`1, ${ID} in \\S+\\n`));
    expect(readFileSync(to, "utf8")).toContain("Of the server");
    const inPlace = await sql("merge", ID, path, "--in-place");
    expect([inPlace.code, inPlace.stderr]).toEqual([2, expect.stringContaining("add -o and a file")]);
  });

  test("rm asks, and removes permanently", async () => {
    const { sql, run, database } = scene;
    await sql("fork", ID);
    const args = ["rm", ID, "--store", URL_OF_STORE];
    expect((await run(args)).code).toBe(2);
    const questions: string[] = [];
    const ask = (answer: string) => async (question: string) => {
      questions.push(question);
      return answer;
    };
    const refused = await run(args, { ask: ask("n") });
    expect([refused.code, refused.stderr]).toEqual([1, "sessiontree: Nothing was deleted.\n"]);
    expect(questions[0]).toContain(`${ID}  Fix the totals\n  2 messages, last used `);
    expect(questions[0]).toContain(`Delete it from ${SHOWN_STORE} permanently?`);
    expect((await run(args, { ask: ask("y") })).stdout).toBe(
      `Deleted permanently: ${ID} in ${SHOWN_STORE}\n`,
    );
    const [other = ""] = await database.ids();
    const [removed] = jsonLines(await sql("rm", other, other, "--yes", "--json"));
    expect(removed).toEqual({ id: other, store: SHOWN_STORE, method: "permanent" });
    expect(await database.ids()).toEqual([]);
  });

  test("a round trip keeps all bytes, and copies nothing twice", async () => {
    const { sql, path, folder, run } = scene;
    const to = join(folder, "back");
    const [copied] = jsonLines(await sql("db", "copy", "@last", "--to", to, "--json"));
    const [file = ""] = readdirSync(to);
    expect(copied).toEqual({ id: ID, path: join(to, file) });
    expect(readFileSync(join(to, file))).toEqual(readFileSync(path));
    const again = await sql("db", "copy", ID, "--to", to);
    expect([again.code, again.stdout]).toEqual([1, ""]);
    expect(again.stderr).toContain(`${ID}: `);
    const damaged = writeLines(folder, "damaged", [userLine("00000001", null), "{torn \u0000"]);
    writeFileSync(damaged, `${readFileSync(damaged, "utf8")}\uFEFF{"half`);
    const both = await run(["db", "copy", path, damaged, "--to", URL_OF_STORE]);
    expect([both.code, both.stdout]).toEqual([1, `Copied: damaged in ${SHOWN_STORE}\n`]);
    expect((await sql("db", "copy", "damaged", "--to", to)).code).toBe(0);
    const [back = ""] = readdirSync(to).filter((name) => name.includes("damaged"));
    expect(readFileSync(join(to, back))).toEqual(readFileSync(damaged));
    expect((await sql("verify", "damaged")).code).toBe(1);
  });

  test.each(["%", "_", "'; drop table lines; --", "\\", "0198aaaa%", "nothing", " ", "e".repeat(5_000)])(
    "%j matches nothing",
    async (name) => {
      const { sql, database } = scene;
      // A backslash makes it a path.
      const { code, stderr } = await sql("name", name);
      expect(code).toBe(1);
      expect(stderr).not.toContain("unexpected");
      expect(await database.ids()).toEqual([ID]);
    },
  );

  test("a name of several sessions resolves to this project's", async () => {
    const { sql, run, database } = scene;
    await run(["fork", ID, "--here", "--store", URL_OF_STORE], { cwd: "/projects/b" });
    expect((await sql("show", "fix the", "--json")).stdout).toContain(ID);
    const elsewhere = await run(["show", "fix", "--store", URL_OF_STORE], { cwd: "/projects/c" });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      1,
      expect.stringContaining('2 sessions match "fix"'),
    ]);
    expect((await sql("show", "totals fix", "--json")).stdout).toContain(ID);
    expect(await database.ids()).toHaveLength(2);
    const none = await run(["show", "@last", "--store", URL_OF_STORE], { cwd: "/projects/c" });
    expect(none.stderr).toContain(`This project has no sessions in ${SHOWN_STORE}`);
  });

  test("a path is a file", async () => {
    const { sql, path } = scene;
    expect((await sql("name", path, "In the file")).code).toBe(0);
    expect((await sql("name", path, "--json")).stdout).toContain(JSON.stringify({ path }).slice(1, -1));
    expect((await sql("name", ID)).stdout).toBe("Fix the totals\n");
    const mixed = await sql("rm", path, ID, "--yes");
    expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringContaining("delete them separately")]);
    expect(statSync(path).isFile()).toBe(true);
    expect((await sql("rm", path, "--permanent", "--yes")).stdout).toBe(`Deleted permanently: ${path}\n`);
  });
});
