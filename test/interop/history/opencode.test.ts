import { spawnSync } from "node:child_process";
import fs, {
  type copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ImportCache } from "../../../src/interop/history/import-cache.ts";
import type { SessionImport } from "../../../src/interop/history/import-sessions.ts";
import { findLost } from "../../../src/interop/history/lost-sessions.ts";
import { findSourceSessions } from "../../../src/interop/history/source-query.ts";
import { SourceReader } from "../../../src/interop/history/source-reader.ts";
import { OPENCODE } from "../../../src/interop/history/sources/opencode.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { purgeCache } from "../../../src/session/files/cache-files.ts";
import { makeTemporaryPath } from "../../../src/session/fs/temporary-files.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { joinLines, part, SESSION_ID, text as said, user } from "../import/support/claude-records.ts";
import {
  answer,
  call,
  makeDocument,
  type OpenCodeMessage,
  prompt,
  text,
} from "../import/support/opencode-records.ts";
import { briefMessage } from "../import/support/session-view.ts";
import { DATA, type Document, ProgramsDatabase, SCHEMA } from "./support/opencode-database.ts";
import { Places } from "./support/places.ts";

const GOOD = joinLines([user("q", null, "hello"), part("a", "q", "msg_1", said("hi"))]);

const HELLO = [prompt("msg_1", 1, "hello"), answer("msg_2", 2, [text("hi")])];
const MORE = [prompt("msg_3", 3, "more"), answer("msg_4", 4, [text("no")])];
const TASK = call("c1", "task", { metadata: { sessionId: "ses_child" } });
const START = [prompt("msg_5", 5, "delegate"), answer("msg_6", 6, [TASK])];
const CHILD = [prompt("msg_c1", 6, "do it"), answer("msg_c2", 7, [text("done")])];
/** The first messages under other ids, in a session that started later. */
const COPIED = HELLO.map(({ info, parts }) => ({
  info: { ...info, id: `${info.id}f` },
  parts: parts.map((one) => ({ ...one, id: `${String(Object(one).id)}f` })),
}));
const FORK = [...COPIED, prompt("msg_f", 20, "in the fork")];

const LATER = { created: Date.UTC(2026, 10, 22, 5, 0, 15), updated: 0 };
const ORIGINAL = makeDocument([...HELLO, ...START]);
const AGENT = makeDocument(CHILD, {
  id: "ses_child",
  parentID: "ses_one",
  title: "Work",
  time: { created: Date.UTC(2026, 10, 22, 5, 0, 6), updated: 0 },
});
const FORKED = makeDocument(FORK, { id: "ses_two", title: "Side answer (fork #1)", time: LATER });

/** Returns the messages on the path to each session's leaf, by its id in the program. */
function saidIn(found: readonly SessionImport[]): Record<string, string[]> {
  return Object.fromEntries(
    found.map(({ sourceId, path }) => {
      const session = SessionManager.open(path ?? "", { mode: "read-only" });
      return [sourceId, session.buildSessionContext().messages.map(briefMessage)];
    }),
  );
}

function expectLinks(found: readonly SessionImport[]): void {
  const pathOf = (id: string) => found.find(({ sourceId }) => sourceId === id)?.path ?? "";
  const headerOf = (id: string) => SessionManager.open(pathOf(id), { mode: "read-only" }).getHeader();
  expect(headerOf("ses_child")?.parentSession).toBe(pathOf("ses_one"));
  expect(headerOf("ses_two")?.parentSession).toBe(pathOf("ses_one"));
  expect(headerOf("ses_one")?.parentSession).toBeUndefined();
}

const ALL_SAID = {
  ses_one: ["user hello", "assistant hi", "user delegate", "assistant c1", "result c1"],
  ses_child: ["user do it", "assistant done"],
  ses_two: ["user hello", "assistant hi", "user in the fork"],
};

describe("files from before version 1.2", () => {
  function putTree(places: Places, { info, messages }: Document): void {
    const { id, projectID } = info;
    places.put(`${DATA}/storage/session/${projectID}/${id}.json`, JSON.stringify(info));
    for (const message of messages) putMessage(places, id, message);
  }

  function putMessage(places: Places, session: string, { info, parts }: OpenCodeMessage): void {
    places.put(`${DATA}/storage/message/${session}/${info.id}.json`, JSON.stringify(info));
    for (const one of parts) {
      const id = String(Object(one).id);
      places.put(
        `${DATA}/storage/part/${info.id}/${id}.json`,
        JSON.stringify({ ...one, messageID: info.id }),
      );
    }
  }

  test("become sessions, linked to what they were forked from or started by; a second run changes nothing", async () => {
    const places = new Places();
    for (const document of [ORIGINAL, AGENT, FORKED]) putTree(places, document);
    const found = await places.import();
    expect(saidIn(found)).toEqual(ALL_SAID);
    expectLinks(found);
    const before = places.files();
    expect((await places.import()).map(({ status }) => status)).toEqual(Array(3).fill("unchanged"));
    rmSync(places.cacheDir, { recursive: true });
    expect((await places.import()).map(({ status }) => status)).toEqual(Array(3).fill("unchanged"));
    expect(places.files()).toEqual(before);
  });

  test("are imported as far as they are readable, with an issue for each other one", async () => {
    const places = new Places();
    putTree(places, ORIGINAL);
    const torn = `${DATA}/storage/message/ses_one/msg_6.json`;
    places.put(torn, '{"id":"msg_6","role":');
    const [made] = await places.import();
    expect(made?.issues.map(({ code, message }) => [code, message.includes("msg_6.json")])).toEqual([
      ["SOURCE_LEFT_OUT", true],
    ]);
    expect(saidIn(made === undefined ? [] : [made])).toEqual({ ses_one: ALL_SAID.ses_one.slice(0, 3) });
  });

  test("are recognized by name, like an exported document, in any folder", async () => {
    const places = new Places();
    const path = places.put("session.json", JSON.stringify(ORIGINAL, null, 2));
    const [made] = await places.import({ paths: [path] });
    expect(made).toMatchObject({ source: "opencode", sourceId: "ses_one", status: "new", issues: [] });
  });
});

function temporaryIn({ cacheDir }: Places): string[] {
  return readdirSync(cacheDir).filter((name) => name.includes(".tmp"));
}

describe.skipIf(!canReadDatabases())("the database (skipped without node:sqlite)", () => {
  test("is read with its log, and is not modified", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    for (const document of [ORIGINAL, AGENT, FORKED]) database.put(document);
    expect(statSync(`${database.path}-wal`).size).toBeGreaterThan(0);
    const before = database.state();
    const found = await places.import();
    expect(saidIn(found)).toEqual(ALL_SAID);
    expectLinks(found);
    const child = found.find(({ sourceId }) => sourceId === "ses_child");
    const [, link] = SessionManager.open(child?.path ?? "", { mode: "read-only" }).getEntries();
    expect(link).toMatchObject({ data: { agentId: "ses_child", toolCallId: "c1" } });
    expect(database.state()).toEqual(before);
    expect(temporaryIn(places)).toEqual([]);
  });

  test("identifies which session has grown: only that one is re-read, and only what is new is added", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    for (const document of [ORIGINAL, AGENT]) database.put(document);
    await places.import();
    const before = places.files();
    database.putMessage("ses_child", prompt("msg_c3", 30, "and more"));
    const found = await places.import();
    expect(found.map(({ sourceId, status }) => [sourceId, status])).toEqual([
      ["ses_one", "unchanged"],
      ["ses_child", "grown"],
    ]);
    for (const [name, content] of places.files())
      expect(content.startsWith(before.get(name) ?? "-")).toBe(true);
    expect((await places.import()).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });

  test("may contain an unfinished answer, which is imported once and completed in the end", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    const begun = answer("msg_2", 2, [text("I think")], { finish: undefined, tokens: {}, cost: 0 });
    database.put(makeDocument([prompt("msg_1", 1, "hello"), begun]));
    expect(saidIn(await places.import())).toEqual({ ses_one: ["user hello", "assistant I think"] });
    const [first] = begun.parts;
    const whole = answer("msg_2", 2, [{ ...first, text: "I think so" }, call("c1", "read")]);
    database.putMessage("ses_one", whole);
    const [made] = await places.import();
    expect(made?.status).toBe("grown");
    const session = SessionManager.open(made?.path ?? "", { mode: "read-only" });
    const texts = session
      .getEntries()
      .flatMap((entry) => (entry.type === "message" ? briefMessage(entry.message) : []));
    expect(texts).toEqual(["user hello", "assistant I think so+c1", "result c1"]);
  });

  test("still contains reverted and then deleted messages in its events", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    database.put(makeDocument([...HELLO, ...MORE], { revert: { messageID: "msg_3" } }));
    expect(saidIn(await places.import())).toEqual({ ses_one: ["user hello", "assistant hi"] });
    for (const message of MORE) database.deleteMessage("ses_one", message);
    database.put(makeDocument([prompt("msg_9", 9, "instead")]));
    const [made] = await places.import();
    expect(saidIn(made === undefined ? [] : [made])).toEqual({
      ses_one: ["user hello", "assistant hi", "user instead"],
    });
    const session = SessionManager.open(made?.path ?? "", { mode: "read-only" });
    const texts = session
      .getEntries()
      .flatMap((entry) => (entry.type === "message" ? briefMessage(entry.message) : []));
    expect(texts).toEqual(["user hello", "assistant hi", "user more", "assistant no", "user instead"]);
  });

  test("identifies deleted sessions, which are kept here and absent from the source", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    for (const document of [ORIGINAL, AGENT]) database.put(document);
    const made = await places.import();
    for (const [id, expected] of [
      ["ses_child", ["unchanged", "gone"]],
      ["ses_one", ["gone", "gone"]],
    ] as const) {
      database.run("DELETE FROM message WHERE session_id = ?", id);
      database.run("DELETE FROM session WHERE id = ?", id);
      for (const _ of [1, 2]) expect((await places.import()).map(({ status }) => status)).toEqual(expected);
    }
    expect(saidIn(made)).toEqual({ ses_one: ALL_SAID.ses_one, ses_child: ALL_SAID.ses_child });
  });

  test("that cannot be read reports nothing about its sessions", async () => {
    const places = new Places();
    new ProgramsDatabase(places).put(ORIGINAL);
    await places.import();
    for (const suffix of ["-wal", "-shm"]) rmSync(`${places.home}/${DATA}/opencode.db${suffix}`);
    places.put(`${DATA}/opencode.db`, "SQLite format 3\0 and nothing that follows from it");
    const skipped: string[] = [];
    expect(await places.import({ onSkipped: (path) => skipped.push(path) })).toEqual([]);
    expect(skipped).toHaveLength(1);
  });

  test("of Kilo, a fork of the program, is read like its own", async () => {
    const places = new Places();
    const kilo = { ...ORIGINAL, info: { ...ORIGINAL.info, id: "ses_kilo" } };
    new ProgramsDatabase(places).put(ORIGINAL);
    new ProgramsDatabase(places, SCHEMA, "../kilo/kilo.db").put(kilo);
    const found = await places.import();
    expect(saidIn(found)).toEqual({ ses_one: ALL_SAID.ses_one, ses_kilo: ALL_SAID.ses_one });
    new ProgramsDatabase(places, "CREATE TABLE notes (text)", "../kilo/kilo-next.db");
    new ProgramsDatabase(places, "CREATE TABLE notes (text)", "../other/other.db");
    const skipped: string[] = [];
    await places.import({ onSkipped: (path) => skipped.push(path) });
    expect(skipped.map((path) => path.split(/[/\\]/).at(-1))).toEqual(["kilo-next.db"]);
    const mine = { ...ORIGINAL, info: { ...ORIGINAL.info, id: "ses_mine" } };
    new ProgramsDatabase(places, SCHEMA, "../other/mine.db").put(mine);
    const named = { HOME: places.home, KILO_DB: "../other/mine.db" };
    const more = await places.import({ env: named, onSkipped: () => undefined });
    expect(more.filter(({ status }) => status === "new")).toMatchObject([{ sourceId: "ses_mine" }]);
  });

  test("copies left by a killed import are removed by the next import and by a redaction", async () => {
    const places = new Places();
    new ProgramsDatabase(places).put(ORIGINAL);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const left = makeTemporaryPath(places.cacheDir).replace(`-${process.pid}-`, `-${pid}-`);
    const mine = makeTemporaryPath(places.cacheDir);
    mkdirSync(places.cacheDir, { recursive: true });
    const remove = [() => places.import(), () => purgeCache(places.cacheDir, () => true)];
    for (const one of remove) {
      for (const path of [left, `${left}-wal`, mine]) writeFileSync(path, "a secret");
      await one();
      expect(temporaryIn(places)).toEqual([basename(mine)]);
    }
  });

  test("is copied again if it is written to during the copy", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    database.put(makeDocument(HELLO));
    const [message] = MORE;
    let copies = 0;
    fs.copyFileSync = (...args: Parameters<typeof copyFileSync>) => {
      original(...args);
      if (copies++ === 0 && message !== undefined) database.putMessage("ses_one", message);
    };
    syncBuiltinESMExports();
    const found = await places.import();
    expect(copies).toBeGreaterThan(2);
    expect(saidIn(found)).toEqual({ ses_one: ["user hello", "assistant hi", "user more"] });
  });
  const original = fs.copyFileSync;
  afterEach(() => {
    fs.copyFileSync = original;
    syncBuiltinESMExports();
  });

  test("and the older files are one session where both have it", async () => {
    const places = new Places();
    places.put(`${DATA}/storage/session/project/ses_one.json`, JSON.stringify(ORIGINAL.info));
    places.put(`${DATA}/storage/message/ses_one/msg_1.json`, JSON.stringify(HELLO[0]?.info));
    new ProgramsDatabase(places).put(ORIGINAL);
    const found = await places.import();
    expect(saidIn(found)).toEqual({ ses_one: ALL_SAID.ses_one });
    expect(found.flatMap(({ issues }) => issues)).toEqual([]);
  });

  const ENDLESS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS session_id,
    i AS time_created, i AS time_updated, i AS data FROM n`;
  const WITHOUT_MESSAGES = SCHEMA.replace(/CREATE TABLE message .*\n/, "");

  test.each<[string, RegExp, (places: Places) => void]>([
    [
      "that is cut in half",
      /opencode\.db/,
      (places) => {
        const database = new ProgramsDatabase(places);
        database.put(ORIGINAL);
        database.run("PRAGMA wal_checkpoint(TRUNCATE)");
        const bytes = readFileSync(database.path);
        rmSync(database.path);
        writeFileSync(database.path, bytes.subarray(0, bytes.length / 2));
      },
    ],
    [
      "that is none",
      /opencode\.db/,
      (places) => void places.put(`${DATA}/opencode.db`, "SQLite format 3\0 and no more"),
    ],
    [
      "with other tables",
      /does not have the tables/,
      (places) => void new ProgramsDatabase(places, "CREATE TABLE x (y)"),
    ],
    ["of OpenCode 2", /OpenCode 2/, (places) => void new ProgramsDatabase(places, WITHOUT_MESSAGES)],
    [
      "in which OpenCode 2 has begun its own sessions",
      /OpenCode 2/,
      (places) => {
        new ProgramsDatabase(places).run("INSERT INTO session_message VALUES ('m', 's', 1, '{}')");
      },
    ],
    [
      "with a view that never ends",
      /OpenCode 2/,
      (places) => {
        new ProgramsDatabase(places, `${WITHOUT_MESSAGES} CREATE VIEW message AS ${ENDLESS};`);
      },
    ],
    [
      "of more than a gigabyte, unless it is named",
      /name it/,
      (places) => {
        truncateSync(new ProgramsDatabase(places).path, 1_200_000_000);
      },
    ],
  ])("%s is reported, and everything else is imported", async (_what, reason, put) => {
    const places = new Places();
    put(places);
    places.put(`.claude/projects/-code/${SESSION_ID}.jsonl`, GOOD);
    const skipped: string[] = [];
    const onSkipped = (path: string, error: unknown) => skipped.push(`${path}: ${String(error)}`);
    const found = await places.import({ onSkipped });
    expect(found.map(({ source }) => source)).toEqual(["claude-code"]);
    expect(skipped).toEqual([expect.stringMatching(reason)]);
    expect(temporaryIn(places)).toEqual([]);
  });

  test("counts by its cached sessions where it is not read, so that older files do not replace it", async () => {
    const places = new Places();
    places.put(`${DATA}/storage/session/project/ses_one.json`, JSON.stringify(ORIGINAL.info));
    new ProgramsDatabase(places).put(ORIGINAL);
    const query = { env: { HOME: places.home }, cacheDir: places.cacheDir };
    const cache = new ImportCache("test", places.cacheDir);
    const reader = new SourceReader(query);
    onTestFinished(() => reader.close());
    const all = await findSourceSessions(query, cache, reader);
    expect(all.map(({ files }) => files[0]?.path)).toEqual([expect.stringMatching(/opencode\.db$/)]);
    const others = await findSourceSessions(query, cache, reader, (path) => !path.endsWith(".db"));
    expect(others).toEqual(all);
  });

  test("leaves no copy if the search for lost sessions fails", async () => {
    const places = new Places();
    new ProgramsDatabase(places).put(ORIGINAL);
    const paths = [`${places.home}/${DATA}/opencode.db`, places.put("none.jsonl", "{}\n")];
    const found = findLost({ paths, env: { HOME: places.home }, cacheDir: places.cacheDir });
    await expect(found).rejects.toMatchObject({ code: "NOT_A_SESSION" });
    expect(readdirSync(places.cacheDir)).toEqual([]);
  });

  test("is read while another program has locked it", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    database.put(makeDocument(HELLO));
    database.run("BEGIN EXCLUSIVE");
    expect(saidIn(await places.import())).toEqual({ ses_one: ["user hello", "assistant hi"] });
    database.run("ROLLBACK");
  });

  test("may have rows that are not JSON: each is dropped with an issue", async () => {
    const places = new Places();
    const database = new ProgramsDatabase(places);
    database.put(makeDocument(HELLO));
    database.run("UPDATE part SET data = '{' WHERE message_id = 'msg_1'");
    database.run("INSERT INTO message VALUES ('msg_0', 'ses_one', 0, 0, x'00')");
    const [made] = await places.import();
    expect(made?.issues.map(({ code }) => code)).toEqual(["SOURCE_LEFT_OUT", "SOURCE_LEFT_OUT"]);
    expect(saidIn(made === undefined ? [] : [made])).toEqual({ ses_one: ["assistant hi"] });
  });
});

test("reads neither a database nor the folder of databases for an empty variable", async () => {
  const places = new Places();
  places.put(`${DATA}/exported.json`, JSON.stringify(ORIGINAL));
  const env = { HOME: places.home, OPENCODE_DB: "", KILO_DB: "" };
  expect(await places.import({ env })).toEqual([]);
  expect(await places.import({ env: { ...env, OPENCODE_DB: "exported.json" } })).toHaveLength(1);
});

test("without node:sqlite, reports one line that names the export, and imports everything else", async () => {
  const modules = process.getBuiltinModule;
  vi.spyOn(process, "getBuiltinModule").mockImplementation((name: string) =>
    name === "node:sqlite" ? undefined : Reflect.apply(modules, process, [name]),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  const places = new Places();
  places.put(`${DATA}/opencode.db`, "SQLite format 3\0");
  places.put(`.claude/projects/-code/${SESSION_ID}.jsonl`, GOOD);
  const skipped: string[] = [];
  const found = await places.import({ onSkipped: (_path, error) => skipped.push(String(error)) });
  expect(found.map(({ source }) => source)).toEqual(["claude-code"]);
  expect(skipped).toEqual([expect.stringMatching(/Node 22\.13.*opencode export/)]);
});

test("reads the facts of a document with more messages than a call takes arguments", () => {
  const messages = Array.from({ length: 200_000 }, (_, i) => ({ info: { time: { created: i + 1 } } }));
  const { info } = makeDocument([]);
  expect(OPENCODE.readFacts(JSON.stringify({ info, messages }), "a.json")).toMatchObject([
    { sessionId: "ses_one" },
  ]);
});
