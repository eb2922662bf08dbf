import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type ImportSessionsOptions,
  importWith,
  type SessionImport,
} from "../../../src/interop/history/import-sessions.ts";
import { canReadDatabases, withDatabase } from "../../../src/interop/history/sqlite.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { buildProgram } from "../../support/build-program.ts";
import { joinLines, part, SESSION_ID, text as said, user } from "../import/support/claude-records.ts";
import { answer, makeDocument, prompt, text } from "../import/support/opencode-records.ts";
import { ProgramsDatabase, SCHEMA } from "./support/opencode-database.ts";
import { Places } from "./support/places.ts";

const HELLO = makeDocument([prompt("msg_1", 1, "hello"), answer("msg_2", 2, [text("hi")])]);
const OTHER = makeDocument([prompt("msg_3", 1, "more")], { id: "ses_two" });
const GOOD = joinLines([user("q", null, "hello"), part("a", "q", "msg_1", said("hi"))]);

let program: URL;
beforeAll(async () => {
  program = await buildProgram("src/interop/history/source-worker.ts");
});

interface Run {
  readonly found: SessionImport[];
  readonly skipped: string[];
}

/** Imports a database and a good session, with or without the reader process. */
async function run(places: Places, more: Partial<ImportSessionsOptions> = {}, by = program): Promise<Run> {
  places.put(`.claude/projects/-code/${SESSION_ID}.jsonl`, GOOD);
  const skipped: string[] = [];
  const found: SessionImport[] = [];
  const options = {
    store: fileStore({ sessionDir: places.sessions }),
    env: { HOME: places.home },
    cacheDir: places.cacheDir,
    onSkipped: (_path: string, error: unknown) => skipped.push(String(error)),
    ...more,
  };
  for await (const one of importWith(by, options)) found.push(one);
  expect(readdirSync(places.cacheDir).filter((name) => name.includes(".tmp"))).toEqual([]);
  return { found, skipped };
}

const NOWHERE = new URL("file:///nowhere.js");
const idsIn = ({ found }: Run) => found.map(({ sourceId }) => sourceId).sort();

/** Schema changes, each with the imported ones of the two sessions. */
const COLUMNS: readonly (readonly [what: string, change: string, isKnown: boolean])[] = [
  ["of 500 MB in sessions", "ALTER TABLE session ADD COLUMN x text AS (hex(zeroblob(250000000)))", true],
  ["of 540 MB in parts", "ALTER TABLE part ADD COLUMN x text AS (hex(zeroblob(270000000)))", true],
  [
    "of 540 MB instead of the data",
    SCHEMA.replace(/CREATE TABLE session_message.*/, "").replaceAll(
      "data text",
      "data text AS (hex(zeroblob(270000000)))",
    ),
    false,
  ],
  [
    "that takes seconds for each row",
    "ALTER TABLE session ADD COLUMN x text AS (length(replace(hex(zeroblob(300000000)), '00', '1')))",
    true,
  ],
];

/** Sessions that are used before all others and so are not in the last month. */
const SIXTY_SESSIONS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60)
  INSERT INTO session SELECT i, 'p', null, '/code', 't', '1', 'build', null, i, i FROM n;
  INSERT INTO message SELECT 'old_' || id, id, 1, 1, '{}' FROM session WHERE id NOT LIKE 'ses%';`;

/** Rows that a page can have in large numbers. */
const MANY_ROWS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
  INSERT INTO message SELECT i, 'ses_one', i, i, '{"role":"user","text":"' || hex(zeroblob(40)) || '"}' FROM n;
  PRAGMA wal_checkpoint(TRUNCATE);`;

/** Links the message pages in cycles, so that reading all of them takes years. */
function makeEndless(database: ProgramsDatabase): void {
  database.exec(MANY_ROWS);
  const bytes = readFileSync(database.path);
  const size = bytes.readUInt16BE(16);
  const isTree = (page: number) =>
    bytes[(page - 1) * size] === 5 && bytes.readUInt16BE((page - 1) * size + 3) > 9;
  const count = bytes.length / size;
  const root = Array.from({ length: count }, (_, index) => index + 1).find(isTree) ?? 0;
  const tree = bytes.subarray((root - 1) * size, root * size);
  const leaf = tree.readUInt32BE(tree.readUInt16BE(12));
  const leadTo = (child: number, page: Buffer) => {
    page.writeUInt32BE(child, 8);
    for (let cell = 0; cell < page.readUInt16BE(3); cell++)
      page.writeUInt32BE(child, page.readUInt16BE(12 + 2 * cell));
    return page;
  };
  const levels = [1, 2, 3, 4, 5, 6];
  const below = levels.map((level) =>
    leadTo(level === levels.length ? leaf : count + level + 1, Buffer.from(tree)),
  );
  leadTo(count + 1, tree);
  bytes.writeUInt32BE(count + levels.length, 28);
  writeFileSync(database.path, Buffer.concat([bytes, ...below]));
}

describe.skipIf(!canReadDatabases())("another program's database (skipped without node:sqlite)", () => {
  test.each(COLUMNS)(
    "with a generated column %s does not end or block the import",
    async (_what, change, isKnown) => {
      for (const by of [program, NOWHERE]) {
        const places = new Places();
        const database = new ProgramsDatabase(places, isKnown ? SCHEMA : change);
        if (isKnown) for (const document of [HELLO, OTHER]) database.put(document);
        if (isKnown) database.exec(`${SIXTY_SESSIONS} ${change}`);
        const result = await run(places, { sinceMs: 1000 }, by);
        expect(idsIn(result)).toEqual([SESSION_ID, ...(isKnown ? ["ses_one", "ses_two"] : [])]);
        expect(result.skipped).toEqual(isKnown ? [] : [expect.stringMatching(/does not have the tables/)]);
      }
    },
    30_000,
  );

  test("with 40,000 sessions and no index is read in one pass", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places, SCHEMA.replaceAll(" PRIMARY KEY", ""));
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 40000)
      INSERT INTO session SELECT 'ses_' || i, 'p', null, '/code', 't', '1', 'build', null, i, i FROM n;
      INSERT INTO message SELECT 'msg_' || id, id, time_created, time_updated, '{"role":"user"}' FROM session;
      INSERT INTO event_sequence SELECT id, time_created FROM session;`);
    // Only one is in the last month, since so many files would slow down the test.
    database.exec(`UPDATE session SET time_updated = ${Date.now()} WHERE id = 'ses_39999'`);
    expect((await run(places, { sinceMs: Date.now() - 60_000 })).skipped).toEqual([]);
  });

  test.each([
    ["session", "time_created = 1152921504606846976", []],
    ["message", "time_created = -1152921504606846976", []],
  ])("with a number above 2^53 in the table %s loses only that session", async (table, change) => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    for (const document of [HELLO, OTHER]) database.put(document);
    database.exec(`UPDATE ${table} SET ${change} WHERE id IN ('ses_two', 'msg_3')`);
    const result = await run(places);
    expect(idsIn(result)).toEqual([SESSION_ID, "ses_one"]);
    expect(result.skipped).toEqual([expect.stringMatching(/ses_two.*2\^53.*opencode export/)]);
  });

  test("with a text of more than 64 MB drops that one, with an issue", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    database.put(HELLO);
    database.exec("UPDATE part SET data = hex(zeroblob(34000000)) WHERE message_id = 'msg_2'");
    const { found, skipped } = await run(places);
    expect(skipped).toEqual([]);
    expect(found.find(({ sourceId }) => sourceId === "ses_one")?.issues).toMatchObject([
      { code: "SOURCE_LEFT_OUT", message: expect.stringMatching(/at most 64 MB/) },
    ]);
  });

  test("whose pages link in cycles is reported", async () => {
    const places = new Places();
    makeEndless(new ProgramsDatabase(places));
    const result = await run(places);
    expect(idsIn(result)).toEqual([SESSION_ID]);
    expect(result.skipped).toEqual([expect.stringMatching(/more work to read than an intact database/)]);
  });

  const INDEXED = `${SCHEMA} CREATE INDEX by_session ON message (session_id);`;

  test("that takes forever stops at a signal", async () => {
    const places = new Places();
    makeEndless(new ProgramsDatabase(places, INDEXED));
    const signal = AbortSignal.timeout(1_000);
    await expect(run(places, { signal })).rejects.toMatchObject({ code: "ABORTED" });
  });

  test("is read for a limited time even without a process", () => {
    const database = new ProgramsDatabase(new Places(), INDEXED);
    makeEndless(database);
    const copy = `${database.path}-copy`;
    copyFileSync(database.path, copy);
    let now = 0;
    vi.spyOn(Date, "now").mockImplementation(() => (now += 10_000));
    onTestFinished(() => void vi.restoreAllMocks());
    const read = () =>
      withDatabase(
        copy,
        (opened) => [...opened.rows({ table: "message", texts: [], numbers: ["time_created"] })].length,
      );
    expect(read).toThrow(/more work to read than an intact database/);
    expect(now).toBeLessThan(100_000);
  });
});
