import { existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { getDefaultSessionDir, SessionManager, type SessionOptions } from "sessiontree";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  findNamedSessionPath,
  getProjectFolder,
  getProjectKey,
  getSessionsRoot,
  isRemotePath,
  makeSessionFileName,
  toAbsolutePath,
} from "../../../src/session/log/session-paths.ts";
import { REMOTE_PATHS } from "../../support/paths-looked-at.ts";
import { IS_WINDOWS } from "../../support/platform.ts";
import { removeFolder } from "../../support/remove-folder.ts";

let home = "";

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "sessiontree-paths-")));
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
  vi.stubEnv("PI_SESSIONS_DIR", undefined);
  vi.stubEnv("PI_CODING_AGENT_DIR", undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  removeFolder(home);
});

/** Returns the folder of a new session, as a host gets it. */
function folderOf(options?: SessionOptions): string {
  const session = SessionManager.create("/projects/project", options);
  session.close();
  return session.getSessionDir();
}

// On Windows a thread's variables do not reach the call that returns the home folder.
describe.skipIf(IS_WINDOWS)("the sessions root", () => {
  test("the order of precedence is sessionDir, agentDir, the two variables, the home folder", () => {
    const options = { sessionDir: join(home, "flat"), agentDir: join(home, "agent") };
    vi.stubEnv("PI_SESSIONS_DIR", join(home, "sessions-of-variable"));
    vi.stubEnv("PI_CODING_AGENT_DIR", join(home, "agent-of-variable"));
    const project = "--projects-project--";
    expect(folderOf(options)).toBe(join(home, "flat"));
    expect(folderOf({ agentDir: options.agentDir })).toBe(join(home, "agent", "sessions", project));
    expect(folderOf()).toBe(join(home, "sessions-of-variable", project));
    vi.stubEnv("PI_SESSIONS_DIR", undefined);
    expect(folderOf()).toBe(join(home, "agent-of-variable", "sessions", project));
    vi.stubEnv("PI_CODING_AGENT_DIR", undefined);
    expect(folderOf()).toBe(join(home, ".pi", "agent", "sessions", project));
  });

  test("an empty variable is ignored", () => {
    vi.stubEnv("PI_SESSIONS_DIR", "");
    vi.stubEnv("PI_CODING_AGENT_DIR", "");
    expect(getSessionsRoot()).toBe(join(home, ".pi", "agent", "sessions"));
  });

  test("a tilde is the home folder, in variables and in options", () => {
    vi.stubEnv("PI_CODING_AGENT_DIR", "~/agent");
    expect(getSessionsRoot()).toBe(join(home, "agent", "sessions"));
    vi.stubEnv("PI_SESSIONS_DIR", "~/all");
    expect(getSessionsRoot()).toBe(join(home, "all"));
    vi.stubEnv("PI_SESSIONS_DIR", "~");
    expect(getSessionsRoot()).toBe(home);
    expect(getSessionsRoot({ agentDir: "~/mine" })).toBe(join(home, "mine", "sessions"));
    expect(folderOf({ sessionDir: "~/flat" })).toBe(join(home, "flat"));
  });

  test("the variables may have other names, and then the usual ones are ignored", () => {
    vi.stubEnv("PI_SESSIONS_DIR", join(home, "pi-sessions"));
    vi.stubEnv("PI_CODING_AGENT_DIR", join(home, "pi-agent"));
    vi.stubEnv("SESSIONTREE_TEST_AGENT", join(home, "own-agent"));
    const names = {
      agentDirVariable: "SESSIONTREE_TEST_AGENT",
      sessionsDirVariable: "SESSIONTREE_TEST_SESSIONS",
    };
    expect(getSessionsRoot(names)).toBe(join(home, "own-agent", "sessions"));
    vi.stubEnv("SESSIONTREE_TEST_SESSIONS", join(home, "own-sessions"));
    expect(getSessionsRoot(names)).toBe(join(home, "own-sessions"));
    expect(getSessionsRoot({ ...names, agentDir: home })).toBe(join(home, "sessions"));
    expect(getSessionsRoot()).toBe(join(home, "pi-sessions"));
    vi.stubEnv("SESSIONTREE_TEST_SESSIONS", undefined);
    vi.stubEnv("SESSIONTREE_TEST_AGENT", undefined);
    expect(getSessionsRoot(names)).toBe(join(home, ".pi", "agent", "sessions"));
  });

  test("only the default folder of a project is created by a look-up", () => {
    const agentDir = join(home, "agent");
    const folder = getProjectFolder("/projects/project", { agentDir });
    expect(existsSync(agentDir)).toBe(false);
    expect(getDefaultSessionDir("/projects/project", agentDir)).toBe(folder);
    expect(existsSync(folder)).toBe(true);
    vi.stubEnv("PI_SESSIONS_DIR", join(home, "all"));
    expect(getDefaultSessionDir("/projects/project")).toBe(join(home, "all", "--projects-project--"));
  });
});

test.runIf(IS_WINDOWS).each([
  ["C:\\projects\\my project", "--C--projects-my project--"],
  ["c:/projects/x/", "--c--projects-x--"],
  ["\\\\?\\C:\\projects\\x", "--C--projects-x--"],
  ["\\\\host\\share\\x", "---host-share-x--"],
  ["\\\\?\\UNC\\host\\share\\x", "---host-share-x--"],
])("the project %s has the folder %s, as in other programs", (cwd, name) => {
  expect(basename(getProjectFolder(cwd, { agentDir: home }))).toBe(name);
});

test.skipIf(IS_WINDOWS).each([
  ["/projects/project", "--projects-project--"],
  ["/projects/project/", "--projects-project--"],
  ["/projects/./x/../project", "--projects-project--"],
  ["/", "----"],
  ["/projects/my:project", "--projects-my-project--"],
  ["/projects/a\\b", "--projects-a-b--"],
  ["/projects/a b.c_d-é", "--projects-a b.c_d-é--"],
  ["/-", "-----"],
])("the project %s has the folder %s", (cwd, name) => {
  expect(getProjectFolder(cwd, { agentDir: "/agent" })).toBe(`/agent/sessions/${name}`);
});

// Paths have a drive on Windows, and so more characters.
describe.skipIf(IS_WINDOWS)("a project whose path is too long for a folder's name", () => {
  const long = (length: number) => `/${"deep/".repeat(length)}`.slice(0, length);
  const nameOf = (cwd: string) => basename(getProjectFolder(cwd, { agentDir: "/agent" }));

  test("has one of its beginning and a digest; a path that fits is unchanged", () => {
    expect(nameOf(long(252))).toBe(`-${long(252).replaceAll("/", "-")}--`);
    expect(nameOf(long(252))).toHaveLength(255);
    expect(nameOf(long(253))).toMatch(/^--deep-deep-.*-[0-9a-f]{32}--$/);
    expect(nameOf(long(253))).not.toBe(nameOf(long(254)));
    expect(nameOf(long(253))).toBe(nameOf(`${long(253)}/`));
    for (const cwd of [`/${"é".repeat(200)}`, `/${"x🙂".repeat(100)}`, `/${"é🙂".repeat(500)}`]) {
      expect(Buffer.byteLength(nameOf(cwd))).toBeLessThanOrEqual(255);
      expect(nameOf(cwd)).not.toContain("\ufffd");
    }
  });

  test.each([251, 255, 300, 4000])("finds its sessions again, with %i characters", async (length) => {
    const [cwd, other] = [long(length), `${long(length).slice(0, -1)}X`];
    const session = SessionManager.create(cwd);
    session.appendMessage({ role: "user", content: "one", timestamp: 1 });
    SessionManager.create(other).appendMessage({ role: "user", content: "other", timestamp: 1 });
    const path = session.getSessionFile();
    expect(session.usesDefaultSessionDir()).toBe(true);
    expect((await SessionManager.list(cwd)).map((info) => info.path)).toEqual([path]);
    expect(await SessionManager.listAll()).toHaveLength(2);
    expect(SessionManager.findById(cwd, session.getSessionId())).toBe(path);
    expect(SessionManager.continueRecent(cwd).getSessionFile()).toBe(path);
    expect(getDefaultSessionDir(cwd)).toBe(session.getSessionDir());
    // A header without a folder belongs to the folder of its file.
    writeFileSync(join(session.getSessionDir(), "x.jsonl"), '{"type":"session","version":3,"id":"x"}\n');
    expect(await SessionManager.list(cwd)).toHaveLength(2);
  });
});

test.skipIf(IS_WINDOWS)(
  "a project is also named relative to the home folder, by a URL, or relative to the current folder",
  () => {
    const folder = (cwd: string) => getProjectFolder(cwd, { agentDir: "/agent" });
    expect(folder("~/work")).toBe(folder(join(home, "work")));
    expect(folder(pathToFileURL("/projects/a b").href)).toBe(folder("/projects/a b"));
    expect(folder("work")).toBe(folder(resolve("work")));
  },
);

test.skipIf(IS_WINDOWS)("a path becomes absolute; a tilde counts only as its first part", () => {
  expect(toAbsolutePath("~")).toBe(home);
  expect(toAbsolutePath("~/a/../b")).toBe(join(home, "b"));
  expect(toAbsolutePath("~a")).toBe(resolve("~a"));
  expect(toAbsolutePath("/a/~/b")).toBe("/a/~/b");
  expect(toAbsolutePath("")).toBe(process.cwd());
});

test("a file's name holds the time without colons and points, and only a valid id", () => {
  expect(makeSessionFileName("2025-01-02T03:04:05.678Z", "my-id")).toBe(
    "2025-01-02T03-04-05-678Z_my-id.jsonl",
  );
  for (const id of ["../x", "x".repeat(201)]) {
    expect(() => makeSessionFileName("2025-01-02T03:04:05.678Z", id)).toThrow(
      expect.objectContaining({ code: "INVALID_SESSION_ID" }),
    );
  }
  const session = SessionManager.create("/project", home, { id: "x".repeat(200) });
  session.appendMessage({ role: "user", content: "one", timestamp: 1 });
  expect(existsSync(session.getSessionFile() ?? "")).toBe(true);
});

test("a path to another machine is recognized before Windows resolves it", () => {
  const remote = [
    "\\\\host\\share\\x",
    "//host/share/x",
    "\\\\?\\UNC\\host\\share",
    "\\\\.\\pipe\\x",
    "\\\\?\\GLOBALROOT\\x",
  ];
  for (const path of remote) {
    expect(isRemotePath(path, "win32"), path).toBe(true);
    expect(isRemotePath(path, "linux"), path).toBe(false);
  }
  for (const path of ["C:\\x", "\\x", "\\\\?\\C:\\x", "\\\\.\\C:\\x", "x\\\\y"])
    expect(isRemotePath(path, "win32"), path).toBe(false);
});

test("a path in a session refers to no other machine than the session's own", () => {
  const onWindows = (name: string, from?: string) => findNamedSessionPath(name, from, "win32");
  for (const name of REMOTE_PATHS) {
    expect(onWindows(name, join(home, "a.jsonl")), name).toBeUndefined();
    expect(onWindows(name), name).toBeUndefined();
  }
  expect(onWindows("//host/share/b", "//HOST/share/sessions/a")).toContain("host");
  expect(onWindows("//host/other/b", "//host/share/sessions/a")).toBeUndefined();
  expect(onWindows("b.jsonl", join(home, "a.jsonl"))).toBe(join(home, "b.jsonl"));
  for (const name of ["a\0b", "file://host/x", "file:///%00"]) expect(onWindows(name), name).toBeUndefined();
  expect(findNamedSessionPath("~/b", undefined)).toBe(join(homedir(), "b"));
});

describe("the key of a project", () => {
  test.skipIf(IS_WINDOWS)("is the real path, through any links", () => {
    const real = join(home, "real");
    mkdirSync(join(real, "inside"), { recursive: true });
    symlinkSync(real, join(home, "link"));
    symlinkSync(join(home, "link"), join(home, "link-to-link"));
    expect(getProjectKey(real)).toBe(real);
    expect(getProjectKey(join(home, "link"))).toBe(real);
    expect(getProjectKey(join(home, "link-to-link", "inside"))).toBe(join(real, "inside"));
  });

  test.skipIf(IS_WINDOWS)("has no trailing separator and no dot segments", () => {
    const key = getProjectKey(home);
    expect(getProjectKey(`${home}/`)).toBe(key);
    expect(getProjectKey(`${home}///`)).toBe(key);
    expect(getProjectKey(join(home, "x", ".."))).toBe(key);
    expect(getProjectKey("~")).toBe(key);
    expect(getProjectKey(`\\\\?\\${home}`)).toBe(key);
  });

  test("is the resolved path of a project that is missing", () => {
    const missing = join(home, "missing");
    expect(getProjectKey(missing)).toBe(missing);
    expect(getProjectKey(`${missing}/a/../`)).toBe(missing);
    symlinkSync(join(home, "nowhere"), join(home, "dangling"));
    expect(getProjectKey(join(home, "dangling"))).toBe(join(home, "dangling"));
    expect(getProjectKey(missing)).not.toBe(getProjectKey(join(home, "other")));
  });
});
