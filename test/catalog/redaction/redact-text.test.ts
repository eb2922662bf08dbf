import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { SessionManager } from "sessiontree";
import { deleteSession, listTrashed } from "sessiontree/catalog";
import { memoryStore, redactEverywhere } from "sessiontree/stores";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { makeHtmlPage } from "../../../src/apps/cli/page/html-page.ts";
import { listSessions } from "../../../src/catalog/list/list-sessions.ts";
import { REDACTION_CUSTOM_TYPE } from "../../../src/core/format/redaction.ts";
import { importSessions } from "../../../src/interop/history/import-sessions.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { makeTemporaryPath } from "../../../src/session/fs/temporary-files.ts";
import { repairSession } from "../../../src/session/log/repair-session.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { OPENCODE_SCHEMA, writableDatabase } from "../../interop/history/support/writable-database.ts";
import { beforeCall } from "../../support/before-call.ts";
import { failing } from "../../support/failing-calls.ts";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SECRET = "hunter2-😀";

let folder = "";
let home = "";

beforeEach(() => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  folder = temporaryFolder();
  home = temporaryFolder();
  vi.stubEnv("XDG_DATA_HOME", join(home, "data"));
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
  vi.stubEnv("TMPDIR", join(home, "tmp"));
  mkdirSync(join(home, "tmp"));
});

/** Returns every file in a folder, by path. */
function filesBelow(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const path = join(root, name);
    if (statSync(path).isFile()) found.set(path, readFileSync(path, "utf8"));
  }
  return found;
}

/** Returns the files that contain the secret, plain or escaped. */
function holders(...roots: string[]): string[] {
  const spelled = [SECRET, JSON.stringify(SECRET).slice(1, -1), "\\u0068unter2"];
  return roots
    .flatMap((root) => [...filesBelow(root)])
    .filter(([, text]) => spelled.some((one) => text.includes(one)))
    .map(([path]) => path);
}

/** Writes a session that contains the secret. */
function withSecret(text = `It is ${SECRET}.`): SessionManager {
  const session = SessionManager.create("/project", { sessionDir: folder });
  session.appendMessage(user("Hello"));
  session.appendMessage(user(text));
  return session;
}

/** Writes a page as `view` does. */
function pageOf(bytes: Uint8Array): string {
  return makeHtmlPage({ fileName: "x", bytes }, { script: "", style: "" });
}

const pathOf = (session: SessionManager) => session.getSessionFile() ?? "";

test("redacts partial answers of a session and of one that no longer exists", async () => {
  const saying = async (text: string) => {
    const session = SessionManager.create("/project", { sessionDir: folder });
    session.appendMessage(user("Hello"));
    await session.savePartialAnswer(assistant(text, { stopReason: "pending" }));
    return session.getSessionFile() ?? "";
  };
  await saying(`It is ${SECRET}.`);
  const other = await saying("It is a secret.");
  rmSync(await saying(`It was ${SECRET}.`));
  const { changed, standing } = await redactEverywhere(SECRET, { sessionDir: folder });
  expect(changed.map(({ kind }) => kind)).toEqual(["backup", "backup"]);
  expect(standing).toEqual([]);
  expect(holders(folder, home)).toEqual([]);
  expect(await SessionManager.open(other).recoverPartialAnswer()).toMatchObject({ stopReason: "aborted" });
});

test("redacts sessions, forks, backups, the trash, caches, pages, and leftovers; a second run finds nothing", async () => {
  const session = withSecret();
  session.appendSessionInfo(`About ${SECRET}`);
  const path = pathOf(session);
  const fork = pathOf(SessionManager.forkFrom(path, "/elsewhere", folder));
  copyFileSync(path, `${path}.v1.bak`);
  writeFileSync(`${path}.damaged`, `{"type":"message","text":"\\u0068unter2-\\ud83d\\ude00`);
  copyFileSync(path, join(folder, ".00000000-1-1-0000000000000000.tmp"));
  utimesSync(join(folder, ".00000000-1-1-0000000000000000.tmp"), 0, 0);
  const gone = pathOf(withSecret());
  await deleteSession(gone);
  await listSessions({ sessionDir: folder });
  const pages = mkdtempSync(join(tmpdir(), "sessiontree-"));
  writeFileSync(join(pages, "x.html"), pageOf(readFileSync(path)));

  const dry = await redactEverywhere(SECRET, { sessionDir: folder, dryRun: true });
  expect(dry.changed.map(({ kind }) => kind).sort()).toEqual(
    ["session", "session", "backup", "backup", "temporary", "trash", "cache", "page"].sort(),
  );
  expect(holders(folder, home)).toHaveLength(7);

  const { changed, standing } = await redactEverywhere(SECRET, { sessionDir: folder });
  expect([changed.length, standing]).toEqual([8, []]);
  expect(holders(folder, home)).toEqual([]);
  expect(readFileSync(fork, "utf8")).toContain("It is [redacted].");
  expect(existsSync(join(pages, "x.html"))).toBe(false);
  const [trashed] = await listTrashed({ folders: [folder] });
  expect(readFileSync(trashed?.trashPath ?? "", "utf8")).toContain(REDACTION_CUSTOM_TYPE);
  expect(await redactEverywhere(SECRET, { sessionDir: folder })).toEqual({ changed: [], standing: [] });
});

test("redacts leftovers of killed processes in any form of a text, and a dry run reports them", async () => {
  const session = withSecret("nothing");
  const cache = join(home, "cache", "sessiontree");
  mkdirSync(cache, { recursive: true });
  const left = (parent: string, suffix = "") =>
    join(parent, `${makeTemporaryPath("").replace(`-${process.pid}-`, "-4194305-")}${suffix}`);
  const half = Math.floor(SECRET.length / 2);
  // A text in a database is where its pages have room.
  const copy = left(cache);
  writeFileSync(copy, `SQLite format 3\0${SECRET.slice(0, half)}\0\0\0\x05${SECRET.slice(half)}`);
  const pages = mkdtempSync(join(tmpdir(), "sessiontree-"));
  const paths = [copy, left(cache, "-wal"), left(cache, "-journal"), left(cache, "-shm"), left(pages)];
  for (const path of paths.slice(1)) writeFileSync(path, `\0${SECRET}`);
  const unfinished = join(cache, `imports-${"0".repeat(32)}.json.4711`);
  writeFileSync(unfinished, `{"digest":"","data":{"a":"${SECRET}`);
  const harmless = left(folder);
  writeFileSync(harmless, '{"type":"session"}\n');
  const stray = join(folder, `.${basename(pathOf(session))}.old.1`);
  writeFileSync(stray, readFileSync(pathOf(session), "utf8").replace("nothing", SECRET));

  const dry = await redactEverywhere(SECRET, { sessionDir: folder, dryRun: true });
  const expected = [
    ...paths.map((path) => ({ kind: "temporary", path })),
    { kind: "cache", path: unfinished },
  ];
  const found = dry.changed.map(({ kind, path }) => ({ kind, path }));
  expect(found).toHaveLength(expected.length + 1);
  expect(found).toEqual(expect.arrayContaining([...expected, { kind: "backup", path: stray }]));
  expect((await redactEverywhere(SECRET, { sessionDir: folder })).standing).toEqual([]);
  expect([...paths, unfinished].filter((path) => existsSync(path))).toEqual([]);
  expect(holders(folder, home)).toEqual([]);
});

test("names the file that a running process is writing until it is finished", async () => {
  withSecret("nothing");
  const path = makeTemporaryPath(join(home, "cache", "sessiontree"));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "SQLite format 3\0");
  const { changed, standing } = await redactEverywhere(SECRET, { sessionDir: folder });
  expect(changed).toEqual([]);
  expect(standing).toMatchObject([
    { kind: "temporary", path, reason: expect.stringMatching(/a process may be writing it/) },
  ]);
  rmSync(path);
  expect(await redactEverywhere(SECRET, { sessionDir: folder })).toEqual({ changed: [], standing: [] });
});

test.each<[string, (session: SessionManager) => unknown]>([
  ["an entry is redacted", (session) => session.redactEntry(session.getLeafId() ?? "")],
  ["it is deleted", (session) => deleteSession(pathOf(session), { permanent: true })],
])("removes the pages of a session when %s, and keeps those of others", async (_, change) => {
  const session = withSecret();
  const pathFor = () => join(mkdtempSync(join(tmpdir(), "sessiontree-")), "");
  const page = join(pathFor(), `${basename(pathOf(session), ".jsonl")}.html`);
  const other = join(pathFor(), "other.html");
  for (const path of [page, other]) writeFileSync(path, pageOf(readFileSync(pathOf(session))));
  await change(session);
  expect([existsSync(page), existsSync(other)]).toEqual([false, true]);
});

test("skips another user's folder among the temporary ones", async () => {
  withSecret();
  const theirs = mkdtempSync(join(tmpdir(), "sessiontree-"));
  const uid = vi.spyOn(process, "getuid").mockReturnValue(statSync(theirs).uid + 1);
  onTestFinished(() => uid.mockRestore());
  const works = failing(
    "readdirSync",
    Object.assign(new Error("injected"), { code: "EACCES" }),
    (path) => path === theirs,
  );
  onTestFinished(works);
  expect((await redactEverywhere(SECRET, { sessionDir: folder })).standing).toEqual([]);
});

test("includes for one session its family: what it was forked from, and all forks of those", async () => {
  const parent = withSecret();
  const child = SessionManager.forkFrom(pathOf(parent), "/project", folder);
  const sibling = SessionManager.forkFrom(pathOf(parent), "/project", folder);
  const stranger = withSecret();
  await redactEverywhere(SECRET, { sessionDir: folder, paths: [pathOf(child)] });
  expect(holders(folder)).toEqual([pathOf(stranger)]);
  expect(readFileSync(pathOf(sibling), "utf8")).toContain("[redacted]");
});

test("redacts backups and leftovers of sessions that no longer exist", async () => {
  const path = pathOf(withSecret());
  copyFileSync(path, join(folder, "gone.jsonl.bak.2"));
  copyFileSync(path, join(folder, ".gone.jsonl.old"));
  await redactEverywhere(SECRET, { sessionDir: folder });
  expect(holders(folder)).toEqual([]);
  expect(readFileSync(join(folder, "gone.jsonl.bak.2"), "utf8")).toContain("[redacted]");
});

test("finishes an old file that an interrupted replacement left, without a trace of the text", async () => {
  const session = withSecret("nothing");
  const path = pathOf(session);
  const hidden = join(folder, `.${basename(path)}.old`);
  const last = {
    type: "message",
    id: "0000000f",
    parentId: null,
    timestamp: "2026-02-03T22:00:00.000Z",
    message: user(SECRET),
  };
  writeFileSync(hidden, `${readFileSync(path, "utf8")}${JSON.stringify(last)}\n`);
  const { standing } = await redactEverywhere(SECRET, { sessionDir: folder });
  expect(standing).toEqual([]);
  expect(holders(folder)).toEqual([]);
  expect(existsSync(hidden)).toBe(false);
  expect(SessionManager.open(path).getEntry("0000000f")).toMatchObject({
    message: { content: "[redacted]" },
  });
});

test("keeps the version and every other byte of a backup", async () => {
  const lines = [
    '{"type":"session","id":"s","cwd":"/p" }',
    "",
    "not JSON\r",
    `{"type":"message", "message":{"role":"user","content":"${SECRET}"}}`,
    '{ "x" : 1e400 }',
  ];
  const path = join(folder, "s.jsonl.v1.bak");
  writeFileSync(path, `\uFEFF${lines.join("\n")}`, { mode: 0o640 });
  const { mode } = statSync(path);
  await redactEverywhere(SECRET, { sessionDir: folder });
  const changed = '{"type":"message","message":{"role":"user","content":"[redacted]"}}';
  expect(readFileSync(path, "utf8")).toBe(`\uFEFF${[...lines.slice(0, 3), changed, lines[4]].join("\n")}`);
  expect(statSync(path).mode).toBe(mode);
});

test("records every changed entry once, without the text and the expression", async () => {
  const session = withSecret();
  const id = session.getLeafId();
  const again = session.appendCustomEntry("x", { [SECRET]: [`{"a":"${SECRET}"}`] });
  await redactEverywhere(/hunter\d-./u, { sessionDir: folder });
  session.refresh();
  const records = session
    .getEntries()
    .filter((entry) => "customType" in entry && entry.customType === REDACTION_CUSTOM_TYPE);
  expect(records).toMatchObject([{ data: { targetIds: [id, again] } }]);
  expect(readFileSync(pathOf(session), "utf8")).not.toContain("hunter");
});

test("updates a session that is open elsewhere, which does not restore the text", async () => {
  const session = withSecret();
  await redactEverywhere(SECRET, { sessionDir: folder });
  session.appendMessage(user("more"));
  await session.flush();
  expect(JSON.stringify(session.getEntries())).not.toContain(SECRET);
  expect(holders(folder)).toEqual([]);
});

describe("kept occurrences are named and counted:", () => {
  test("ids, types, the working directory, and the files of other programs", async () => {
    const session = SessionManager.create("/home/hunter2", { sessionDir: folder });
    session.appendMessage({
      role: "toolResult",
      toolCallId: "hunter2",
      toolName: "t",
      content: [],
      isError: false,
      timestamp: 1,
    });
    session.appendMessage(user("hunter2"));
    writeFileSync(join(folder, `${basename(pathOf(session))}.reset.2026`), "hunter2");
    const { standing } = await redactEverywhere("hunter2", { sessionDir: folder });
    expect(standing).toMatchObject([
      { kind: "session", path: pathOf(session), reason: expect.stringMatching(/part of cwd, toolCallId,/) },
      { kind: "other", reason: expect.stringMatching(/belongs to another program/) },
    ]);
    expect(session.buildSessionContext().messages).toHaveLength(2);
  });

  test("the transcript that a session was imported from", async () => {
    const source = join(home, "0198aaaa-0000-7000-8000-000000000001.jsonl");
    const record = {
      type: "user",
      uuid: "u1",
      parentUuid: null,
      sessionId: "s",
      cwd: "/p",
      timestamp: "2026-02-03T22:00:00.000Z",
      message: { role: "user", content: SECRET },
    };
    writeFileSync(source, `${JSON.stringify(record)}\n`);
    for await (const _ of importSessions({
      store: fileStore({ sessionDir: folder }),
      paths: [source],
      cacheDir: join(home, "cache"),
    }));
    expect(holders(folder)).toHaveLength(1);
    const { standing } = await redactEverywhere(SECRET, { sessionDir: folder });
    expect(standing).toMatchObject([{ kind: "other", path: source }]);
    expect(holders(folder)).toEqual([]);
    expect(readFileSync(source, "utf8")).toContain(SECRET);
    expect((await redactEverywhere(SECRET, { sessionDir: folder })).standing).toHaveLength(1);
  });

  test.skipIf(!canReadDatabases())("a database that a session was imported from, and its log", async () => {
    const source = join(temporaryFolder(), "opencode.db");
    const database = writableDatabase(source, OPENCODE_SCHEMA);
    const time = Date.UTC(2026, 10, 22, 5);
    const put = (table: string, ...values: unknown[]) =>
      database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => "?").join(", ")})`).run(...values);
    put("session", "ses_one", "p", null, "/code", "title", "1", "build", null, time, time);
    put("message", "msg_1", "ses_one", time, time, '{"role":"user"}');
    put("part", "prt_1", "msg_1", "ses_one", time, JSON.stringify({ type: "text", text: SECRET }));
    const store = fileStore({ sessionDir: folder });
    for await (const _ of importSessions({ store, paths: [source], cacheDir: join(home, "cache") }));
    expect(holders(folder)).toHaveLength(1);
    const { standing } = await redactEverywhere(SECRET, { sessionDir: folder });
    expect(standing).toMatchObject([
      { kind: "other", path: `${source}-wal`, reason: expect.stringMatching(/belongs to another program/) },
    ]);
    expect(holders(folder)).toEqual([]);
    // If a search of its bytes does not find a text that a session had from there, the text may be split.
    const [session] = await listSessions({ sessionDir: folder });
    SessionManager.open(session?.path ?? "").appendMessage(user("xyzzy"));
    expect((await redactEverywhere("xyzzy", { sessionDir: folder })).standing).toMatchObject([
      { kind: "other", path: source, reason: expect.stringMatching(/It may contain the text.*database/) },
    ]);
    expect((await redactEverywhere("plugh", { sessionDir: folder })).standing).toEqual([]);
  });

  test("a place that cannot be changed does not stop the others", async () => {
    const path = pathOf(withSecret());
    const newer = join(folder, "newer.jsonl");
    writeFileSync(
      newer,
      `{"type":"session","version":9,"id":"n","timestamp":"2026-02-03T22:00:00.000Z","cwd":"/p"}\n{"type":"x","id":"1","parentId":null,"timestamp":"2026-02-03T22:00:00.000Z","a":"${SECRET}"}\n`,
    );
    const { changed, standing } = await redactEverywhere(SECRET, { sessionDir: folder });
    expect(changed.map((one) => one.path)).toContain(path);
    expect(standing).toMatchObject([
      { path: newer, reason: expect.stringMatching(/could not be changed: .*version/) },
    ]);
  });
});

describe("damage", () => {
  test("removes a damaged line that contains the text; an entry whose body is damaged keeps its place", async () => {
    const path = pathOf(withSecret("nothing"));
    const head = '{"type":"message","id":"0000000d","parentId":null,"timestamp":"2026-02-03T22:00:00.000Z"';
    writeFileSync(
      path,
      `${readFileSync(path, "utf8")}${head},"message":{"role":"user","content":"${SECRET}\n]]${SECRET}[[\n`,
    );
    await redactEverywhere(SECRET, { sessionDir: folder });
    expect(holders(folder)).toEqual([]);
    expect(SessionManager.open(path).getEntry("0000000d")).toBeDefined();
  });

  test("redacts what a repair moved to a side file, too", async () => {
    const path = pathOf(withSecret("nothing"));
    writeFileSync(path, `${readFileSync(path, "utf8")}]]${SECRET}[[\n{"x":"${SECRET}`);
    repairSession(path);
    expect(holders(folder).length).toBeGreaterThan(1);
    expect((await redactEverywhere(SECRET, { sessionDir: folder })).standing).toEqual([]);
    expect(holders(folder)).toEqual([]);
  });
});

test("redacts sessions of a store in the same way, by id", async () => {
  const store = memoryStore();
  onTestFinished(() => store.close());
  const session = store.create({ cwd: "/p" });
  const first = session.appendMessage(user(SECRET));
  await session.flush();
  const other = store.create({ cwd: "/q" });
  other.appendMessage(user(SECRET));
  await other.flush();
  const dry = await redactEverywhere(SECRET, { store, dryRun: true, cwd: "/p" });
  expect(dry.changed).toEqual([{ kind: "stored", path: session.getSessionId(), entryIds: [first] }]);
  expect((await redactEverywhere(SECRET, { store })).standing).toEqual([]);
  await session.refreshAsync();
  expect(JSON.stringify(session.getEntries())).not.toContain(SECRET);
  for await (const row of store.list()) expect(row.firstMessage).toBe("[redacted]");
  const bytes: Uint8Array[] = [];
  for await (const piece of store.exportBytes(session.getSessionId())) bytes.push(piece.slice());
  expect(Buffer.concat(bytes).toString()).not.toContain(SECRET);
});

describe("an invalid pattern", () => {
  test.each([
    ["an empty text", "", undefined],
    ["an expression that matches the empty text", /x*/, undefined],
    ["a replacement that holds the text", "red", undefined],
    ["a replacement that matches the expression", /\*+/, "***"],
  ])("%s is refused, and nothing is read or written", async (_, matching, replacement) => {
    const path = pathOf(withSecret());
    const before = readFileSync(path, "utf8");
    const options = { sessionDir: folder, ...(replacement !== undefined && { replacement }) };
    await expect(async () => redactEverywhere(matching, options)).rejects.toThrow(TypeError);
    await expect(
      SessionManager.open(path).redactText(matching, {
        ...(replacement !== undefined && { replacement }),
      }),
    ).rejects.toThrow(TypeError);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("aborts an expression that takes exponential time, and changes nothing", async () => {
    const path = pathOf(withSecret(`${"a".repeat(40)}!`));
    const before = readFileSync(path, "utf8");
    await expect(redactEverywhere(/(a+)+$/, { sessionDir: folder })).rejects.toThrow(/takes too long/);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

test("redacts a session in memory", async () => {
  const session = SessionManager.inMemory("/p");
  const id = session.appendMessage(user(`say ${SECRET}`));
  expect(await session.redactText(SECRET, { dryRun: true })).toEqual({
    isFound: true,
    entryIds: [id],
    standing: [],
  });
  expect(await session.redactText(SECRET)).toMatchObject({
    entryIds: [id],
    recordId: session.getLeafId(),
  });
  expect(JSON.stringify(session.getEntries())).not.toContain(SECRET);
  const entries = session.getEntryCount();
  expect(await session.redactText(SECRET)).toEqual({ isFound: false, entryIds: [], standing: [] });
  expect(session.getEntryCount()).toBe(entries);
  rmSync(folder, { recursive: true, force: true });
});

test("checks a backup again that another redaction changes at the same time", async () => {
  const path = pathOf(withSecret("nothing"));
  const backup = `${path}.bak`;
  const old = `{"type":"message","text":"${SECRET} and another"}\n`;
  writeFileSync(backup, old);
  writeFileSync(join(home, "other"), old.replace("another", "[gone]"));
  beforeCall(
    "lstatSync",
    (file, options) => file === backup && Object(options).bigint === true,
    () => renameSync(join(home, "other"), backup),
  );
  expect((await redactEverywhere(SECRET, { sessionDir: folder })).standing).toEqual([]);
  expect(readFileSync(backup, "utf8")).toBe('{"type":"message","text":"[redacted] and [gone]"}\n');
});
