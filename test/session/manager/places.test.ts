import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  findMostRecentSession,
  getDefaultSessionDir,
  loadEntriesFromFile,
  SessionManager,
} from "sessiontree";
import { expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { records } from "./support/workshop.ts";

// Paths have a drive on Windows, links require a privilege, and the name of an open file stays.
test.skipIf(IS_WINDOWS)("create makes the folder; the file's name holds the time and the id", () => {
  const agentDir = temporaryFolder();
  const session = SessionManager.create("/projects/my:project", { agentDir }, { id: "my-id" });
  const folder = join(agentDir, "sessions", "--projects-my-project--");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(session.getSessionDir()).toBe(folder);
  expect(session.usesDefaultSessionDir()).toBe(true);
  expect(session.getSessionFile()).toMatch(/\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_my-id\.jsonl$/);
  session.appendMessage(user("hello"));
  expect(statSync(session.getSessionFile() ?? "").mode & 0o777).toBe(0o600);
  expect(getDefaultSessionDir("/projects/my:project", agentDir)).toBe(folder);
});

test.each(["../evil", "a/b", ".hidden", "", "a b", "trailing-"])(
  "the id %j is rejected before it becomes part of a path",
  (id) => {
    const folder = join(temporaryFolder(), "sessions");
    expect(() => SessionManager.create("/projects/project", folder, { id })).toThrow(
      expect.objectContaining({ code: "INVALID_SESSION_ID" }),
    );
    expect(existsSync(folder)).toBe(false);
  },
);

test("a missing file is a new session at that path, and an empty one gets its header at once", () => {
  const folder = temporaryFolder();
  const missing = SessionManager.open(join(folder, "new.jsonl"), undefined, "/projects/elsewhere");
  expect(missing.getCwd()).toBe("/projects/elsewhere");
  missing.appendMessage(user("hello"));
  expect(records(missing)[0]).toMatchObject({ type: "session", version: 3, cwd: "/projects/elsewhere" });

  const path = join(folder, "empty.jsonl");
  writeFileSync(path, "");
  const empty = SessionManager.open(path);
  expect(records(empty)).toHaveLength(1);
  empty.appendMessage(user("hello"));
  expect(records(empty)).toHaveLength(2);
});

test("read-only rejects a missing file and writes to no file", () => {
  const folder = temporaryFolder();
  const path = join(folder, "a.jsonl");
  expect(() => SessionManager.open(path, { mode: "read-only" })).toThrow(
    expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
  );
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "");
  const empty = SessionManager.open(path, { mode: "read-only" });
  expect(() => empty.appendMessage(user("x"))).toThrow(expect.objectContaining({ code: "READ_ONLY" }));
  expect(readFileSync(path, "utf8")).toBe("");
});

test("a file that is not a session is rejected and not changed", () => {
  const folder = temporaryFolder();
  const path = join(folder, "notes.jsonl");
  for (const text of [
    "not json\n",
    '{"type":"header","id":"x"}\n',
    '{"type":"session","id":7}\n',
    "\n\n",
    "\0\0\0",
  ]) {
    writeFileSync(path, text);
    utimesSync(path, 1, 1);
    expect(() => SessionManager.open(path), text).toThrow(expect.objectContaining({ code: "NOT_A_SESSION" }));
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(statSync(path).mtimeMs).toBe(1000);
    expect(loadEntriesFromFile(path)).toEqual([]);
  }
  expect(loadEntriesFromFile(join(folder, "missing.jsonl"))).toEqual([]);
  expect(() => SessionManager.open(folder)).toThrow(expect.objectContaining({ code: "NOT_A_SESSION" }));
});

test("paths may be URLs, and the header names the project", async () => {
  const folder = temporaryFolder();
  const session = SessionManager.create("/projects/project", folder);
  session.appendMessage(user("hello"));
  const path = session.getSessionFile() ?? "";
  const opened = SessionManager.open(pathToFileURL(path).href);
  expect([opened.getSessionFile(), opened.getCwd(), opened.getSessionDir()]).toEqual([
    path,
    "/projects/project",
    folder,
  ]);
  const loaded = await SessionManager.openAsync(path);
  expect(loaded.getEntries()).toEqual(session.getEntries());
});

test("load reports progress and can be aborted", async () => {
  const session = SessionManager.create("/projects/project", temporaryFolder());
  for (let i = 0; i < 50; i++) session.appendMessage(user("x".repeat(100_000)));
  const path = session.getSessionFile() ?? "";
  const seen: number[] = [];
  await SessionManager.openAsync(path, { onProgress: (loaded, total) => seen.push(loaded / total) });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(1);
  const abort = new AbortController();
  const loading = SessionManager.openAsync(path, { signal: abort.signal, onProgress: () => abort.abort() });
  await expect(loading).rejects.toMatchObject({ code: "ABORTED" });
});

test("sessions of other projects in the same folder are not this project's", async () => {
  const folder = temporaryFolder();
  const mine = SessionManager.create("/projects/mine", folder);
  mine.appendMessage(user("mine"));
  const theirs = SessionManager.create("/projects/theirs", folder);
  theirs.appendMessage(user("theirs"));
  const [minePath, theirPath] = [mine.getSessionFile() ?? "", theirs.getSessionFile() ?? ""];
  utimesSync(minePath, 10, 10);
  utimesSync(theirPath, 20, 20);

  expect(SessionManager.continueRecent("/projects/mine", folder).getSessionFile()).toBe(minePath);
  expect(SessionManager.continueRecent("/projects/nobody", folder).getEntryCount()).toBe(0);
  expect(findMostRecentSession(folder)).toBe(theirPath);
  expect(findMostRecentSession(folder, "/projects/mine")).toBe(minePath);
  expect(findMostRecentSession(join(folder, "missing"))).toBeNull();
  expect(SessionManager.findById("/projects/mine", mine.getSessionId(), folder)).toBe(minePath);
  expect(SessionManager.findById("/projects/mine", theirs.getSessionId(), folder)).toBeUndefined();
  expect((await SessionManager.list("/projects/mine", folder)).map(({ path }) => path)).toEqual([minePath]);
  expect((await SessionManager.listAll(folder)).map(({ cwd }) => cwd).sort()).toEqual([
    "/projects/mine",
    "/projects/theirs",
  ]);
});

test("all projects below an agent's folder are listed by its options", async () => {
  const agentDir = temporaryFolder();
  for (const cwd of ["/projects/a", "/projects/b"])
    SessionManager.create(cwd, { agentDir }).appendMessage(user(cwd));
  const listed = await SessionManager.listAll({ agentDir });
  expect(listed.map(({ cwd }) => cwd).sort()).toEqual(["/projects/a", "/projects/b"]);
  expect(await SessionManager.listAll({ sessionDir: agentDir })).toEqual([]);
});

// Paths have a drive on Windows, links require a privilege, and the name of an open file stays.
test.skipIf(IS_WINDOWS)("a session whose file was removed reports it when it must read the file", () => {
  const session = SessionManager.create("/projects/project", temporaryFolder());
  // Opening reads a smaller one entirely.
  const id = session.appendMessage(user("hello".repeat(1024 * 1024)));
  const path = session.getSessionFile() ?? "";
  const other = SessionManager.open(path, { mode: "read-only" });
  rmSync(path);
  expect(() => other.getEntry(id)).toThrow(expect.objectContaining({ code: "SESSION_NOT_FOUND" }));
});

// Paths have a drive on Windows, links require a privilege, and the name of an open file stays.
test.skipIf(IS_WINDOWS)("a file that was emptied and then removed is not created again", () => {
  for (const left of ["", "garbage\n"]) {
    const session = SessionManager.create("/projects/project", temporaryFolder());
    session.appendMessage(user("hello"));
    const path = session.getSessionFile() ?? "";
    writeFileSync(path, left);
    rmSync(path);
    expect(() => session.appendMessage(user("more"))).toThrow(
      expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
    );
    expect(existsSync(path)).toBe(false);
    expect(session.getEntryCount()).toBe(1);
  }
});

// Paths have a drive on Windows, links require a privilege, and the name of an open file stays.
test.skipIf(IS_WINDOWS)("a project is its real folder", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "link"));
  const session = SessionManager.create(join(folder, "real"), join(folder, "sessions"));
  session.appendMessage(user("hello"));
  const found = SessionManager.findById(
    `${join(folder, "link")}/`,
    session.getSessionId(),
    join(folder, "sessions"),
  );
  expect(found).toBe(session.getSessionFile());
});

// Paths have a drive on Windows, links require a privilege, and the name of an open file stays.
test.skipIf(IS_WINDOWS)("a project is found under both its names in the usual sessions folder", async () => {
  const folder = temporaryFolder();
  const [real, link] = [join(folder, "real"), join(folder, "link")];
  mkdirSync(real);
  symlinkSync(real, link);
  const places = { agentDir: join(folder, "agent") };
  const session = SessionManager.create(real, places);
  session.appendMessage(user("hello"));
  const [path, id] = [session.getSessionFile(), session.getSessionId()];
  expect((await SessionManager.list(link, places)).map((one) => one.path)).toEqual([path]);
  expect(SessionManager.findById(link, id, places)).toBe(path);
  const found = SessionManager.continueRecent(link, places);
  expect([found.getSessionFile(), found.getSessionDir()]).toEqual([path, session.getSessionDir()]);
});

test("a fork has a new id and everything else, upgraded, except for the settings in a header of version 1", () => {
  const folder = temporaryFolder();
  const source = join(folder, "old.jsonl");
  const lines = [
    {
      type: "session",
      id: "old",
      timestamp: "2025-01-01T00:00:00.000Z",
      cwd: "/projects/a",
      provider: "acme",
      modelId: "m",
    },
    { type: "message", timestamp: "2025-01-01T00:00:01.000Z", message: user("hello") },
  ];
  writeFileSync(source, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const fork = SessionManager.forkFrom(source, "/projects/b", folder);
  expect(fork.getHeader()).toMatchObject({ version: 3, cwd: "/projects/b", parentSession: source });
  expect(fork.getSessionId()).not.toBe("old");
  const { messages, model } = SessionManager.open(source).buildSessionContext();
  expect(model).toEqual({ provider: "acme", modelId: "m" });
  expect(fork.buildSessionContext()).toMatchObject({ messages, model: null });
  expect(() => SessionManager.forkFrom(join(folder, "none.jsonl"), "/projects/b", folder)).toThrow(
    expect.objectContaining({ code: "SESSION_NOT_FOUND" }),
  );
});

test("newSession and setSessionFile continue in the same object", () => {
  const folder = temporaryFolder();
  const session = SessionManager.create("/projects/project", folder);
  session.appendMessage(user("first"));
  const first = session.getSessionFile() ?? "";
  const second = session.newSession({ parentSession: first });
  expect(second).toBe(session.getSessionFile());
  expect(session.getEntryCount()).toBe(0);
  expect(session.getHeader()).toMatchObject({ parentSession: first });
  session.appendMessage(assistant("second"));
  session.setSessionFile(first);
  expect([session.getEntryCount(), session.getCwd()]).toEqual([1, "/projects/project"]);
  expect(SessionManager.inMemory().newSession()).toBeUndefined();
});

test("a session in memory may begin with entries; a header among them overrides the id", () => {
  const source = SessionManager.inMemory("/projects/project", { id: "source" });
  source.appendMessage(user("hello"));
  const header = source.getHeader();
  const entries = source.getEntries();
  const copy = SessionManager.inMemory(
    "/projects/other",
    { id: "mine" },
    header === null ? entries : [header, ...entries],
  );
  expect(copy.getSessionId()).toBe("source");
  expect(copy.getEntries()).toEqual(entries);
  expect(SessionManager.inMemory("/projects/other", { id: "mine" }, entries).getSessionId()).toBe("mine");
  expect(() => SessionManager.inMemory("/projects/other", { id: "../x" })).toThrow();
});

test("a session of a newer version is read and never written", () => {
  const path = join(temporaryFolder(), "v4.jsonl");
  const text = `${JSON.stringify({ type: "session", version: 4, id: "x", timestamp: "", cwd: "" })}\n`;
  writeFileSync(path, text);
  const session = SessionManager.open(path);
  expect(session.issues.map(({ code }) => code)).toEqual(["VERSION_TOO_NEW"]);
  expect(() => session.appendMessage(user("x"))).toThrow(
    expect.objectContaining({ code: "VERSION_TOO_NEW" }),
  );
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a folder that cannot be created is a typed error", () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  expect(() => SessionManager.create("/projects/project", join(file, "below"))).toThrow(
    expect.objectContaining({ code: "WRITE_FAILED" }),
  );
});

test("a missing working directory is rejected by name, before anything is created", async () => {
  const folder = temporaryFolder();
  const calls = {
    create: [undefined, folder],
    continueRecent: [undefined, folder],
    findById: [undefined, "id", folder],
    list: [null, folder],
    forkFrom: ["source.jsonl", undefined, folder],
  };
  for (const [name, args] of Object.entries(calls)) {
    const method: unknown = Reflect.get(SessionManager, name);
    if (typeof method !== "function") throw new TypeError(`${name} is no function`);
    await expect(async () => Reflect.apply(method, SessionManager, args)).rejects.toThrow(
      new RegExp(`^SessionManager\\.${name} needs cwd, the working directory`),
    );
  }
  expect(readdirSync(folder)).toEqual([]);
});
