import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import {
  getDefaultSessionDir,
  isSessionError,
  loadEntriesFromFile,
  repairSession,
  SessionManager,
  type SessionOptions,
} from "sessiontree";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { watchedFs } from "../../fault/support/faulty-fs.ts";
import { names, place, sandbox, snapshot } from "../../fault/support/sandbox.ts";
import {
  BRANCHED,
  DAMAGED,
  getTexts,
  header,
  lines,
  message,
  onDisk,
  user,
  VERSION_1,
} from "../../fault/support/sessions.ts";
import { IS_WINDOWS } from "../../support/platform.ts";

function codeOf(call: () => unknown): string {
  try {
    call();
    return "no error";
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return error.code;
  }
}

/** Returns the modes of a folder and everything below it, as octal strings by relative path. */
function modes(folder: string): Record<string, string> {
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  return Object.fromEntries(
    paths.map((path) => [path, (statSync(join(folder, path)).mode & 0o777).toString(8)]),
  );
}

// Windows ignores modes: see SECURITY.md.
describe.skipIf(IS_WINDOWS).each(["000", "022", "077", "777"])("with the mask %s", (mask) => {
  let before: number;
  let root: string;
  beforeEach(() => {
    root = sandbox();
    before = process.umask(Number.parseInt(mask, 8));
  });
  afterEach(() => {
    process.umask(before);
  });

  test("folders and files are accessible to their owner only", () => {
    const session = SessionManager.create("/project", join(root, "a/b/c"));
    session.appendMessage(user("one"));
    session.createBranchedSession(session.getLeafId() ?? "");
    SessionManager.forkFrom(session.getSessionFile() ?? "", "/other", join(root, "d"));
    const { "": _root, ...made } = modes(root);
    const files = Object.entries(made).filter(([path]) => path.endsWith(".jsonl"));
    const folders = Object.entries(made).filter(([path]) => !path.endsWith(".jsonl"));
    expect(files.map(([, mode]) => mode)).toEqual(["600", "600", "600"]);
    expect(Object.fromEntries(folders)).toEqual({ a: "700", "a/b": "700", "a/b/c": "700", d: "700" });
  });

  test("the default folder of a project is, too", () => {
    const folder = getDefaultSessionDir("/some/project", join(root, "agent"));
    expect(Object.values(modes(join(root, "agent")))).toEqual(["700", "700", "700"]);
    expect(existsSync(folder)).toBe(true);
  });

  test("temporary files are from the start, and so are backups and side files", () => {
    const seen: string[] = [];
    const fs = watchedFs((name, [fd]) => {
      if (name === "writeSync" && typeof fd === "number")
        seen.push((statSync(`/proc/self/fd/${fd}`).mode & 0o777).toString(8));
    });
    const old = place(root, "old.jsonl", VERSION_1);
    SessionManager.open(old, { fs, lease: "fail" }).appendMessage(user("one"));
    const damaged = place(root, "damaged.jsonl", DAMAGED);
    repairSession(damaged, { fs });
    SessionManager.open(damaged, { fs }).redactEntry("0000000a");
    expect(names(root)).toEqual([
      "damaged.jsonl",
      "damaged.jsonl.bak",
      "damaged.jsonl.damaged",
      "old.jsonl",
      "old.jsonl.lease",
      "old.jsonl.v1.bak",
    ]);
    const {
      "damaged.jsonl.bak": backup,
      "damaged.jsonl.damaged": side,
      "old.jsonl.v1.bak": old1,
      "old.jsonl.lease": lease,
    } = modes(root);
    expect([backup, side, old1, lease]).toEqual(["600", "600", "600", "600"]);
    expect(new Set(seen.slice(0, 2))).toEqual(new Set(["600"]));
  });
});

test.skipIf(IS_WINDOWS)("a file keeps its permissions", () => {
  const path = place(sandbox(), "s.jsonl", VERSION_1);
  execFileSync("chmod", ["640", path]);
  SessionManager.open(path).appendMessage(user("one"));
  expect(statSync(path).mode & 0o777).toBe(0o640);
  SessionManager.open(path).redactEntry(onDisk(path).getLeafId() ?? "");
  expect(statSync(path).mode & 0o777).toBe(0o640);
});

// Links require a privilege on Windows.
describe.skipIf(IS_WINDOWS)("a link at the path of a session", () => {
  const writes: readonly (readonly [string, string, (path: string) => void])[] = [
    ["an append", BRANCHED, (path) => SessionManager.open(path).appendMessage(user("one"))],
    ["an append that upgrades", VERSION_1, (path) => SessionManager.open(path).appendMessage(user("one"))],
    ["an upgrade", VERSION_1, (path) => SessionManager.open(path).upgrade()],
    ["a redaction", BRANCHED, (path) => SessionManager.open(path).redactEntry("00000002")],
    ["a repair", DAMAGED, (path) => repairSession(path)],
  ];

  test.each(writes)("is followed by no %s", (_name, content, write) => {
    const target = place(sandbox(), "target.jsonl", content);
    const link = join(dirname(target), "link.jsonl");
    symlinkSync(target, link);
    const before = snapshot(target);
    expect(["WRITE_FAILED", "UPGRADE_FAILED"]).toContain(codeOf(() => write(link)));
    expect(snapshot(target)).toEqual(before);
    expect(names(dirname(target))).toEqual(["link.jsonl", "target.jsonl"]);
    expect(onDisk(link).getEntryCount()).toBe(onDisk(target).getEntryCount());
  });

  test("that is dangling is rejected as the path of a new session", () => {
    const folder = sandbox();
    const link = join(folder, "link.jsonl");
    symlinkSync(join(folder, "elsewhere.jsonl"), link);
    const session = SessionManager.open(link);
    expect(codeOf(() => session.appendMessage(user("one")))).toBe("SESSION_EXISTS");
    expect(names(folder)).toEqual(["link.jsonl"]);
  });

  test("that is created while the session is open is not followed", () => {
    const path = place(sandbox(), "s.jsonl", BRANCHED);
    const target = place(dirname(path), "target.jsonl", BRANCHED);
    const session = SessionManager.open(path);
    rmSync(path);
    symlinkSync(target, path);
    const before = snapshot(target);
    expect(codeOf(() => session.appendMessage(user("one")))).toBe("WRITE_FAILED");
    expect(snapshot(target)).toEqual(before);
  });
});

// Windows has no such files.
describe.skipIf(IS_WINDOWS)("a file that is not a regular file", () => {
  const kinds: readonly (readonly [string, (path: string) => void | Promise<void>])[] = [
    ["a folder", (path) => mkdirSync(path)],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a socket", listen],
    ["a device", (path) => symlinkSync("/dev/zero", path)],
  ];

  async function listen(path: string): Promise<void> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => {
      server.close();
    });
  }

  test.each(kinds)("such as %s is neither opened nor awaited", async (_name, make) => {
    const folder = sandbox();
    const path = join(folder, "x.jsonl");
    await make(path);
    const opened: unknown[] = [];
    const fs = watchedFs((name, args) => {
      if (name === "openSync") opened.push(args[0]);
    });
    expect(codeOf(() => SessionManager.open(path, { fs }))).toBe("NOT_A_SESSION");
    expect(codeOf(() => SessionManager.open(path, { fs, mode: "read-only" }))).toBe("NOT_A_SESSION");
    expect(codeOf(() => SessionManager.forkFrom(path, "/other", { sessionDir: folder, fs }))).toBe(
      "NOT_A_SESSION",
    );
    expect(codeOf(() => repairSession(path, { fs }))).toMatch(/^(SESSION_NOT_FOUND|WRITE_FAILED)$/);
    expect(opened).toEqual([]);
    expect(loadEntriesFromFile(path)).toEqual([]);
    expect(await SessionManager.listAll(folder)).toEqual([]);
    expect(SessionManager.findById("/project", "x", folder)).toBeUndefined();
    expect(SessionManager.continueRecent("/project", folder).getEntryCount()).toBe(0);
    expect(names(folder)).toEqual(["x.jsonl"]);
  });
});

describe("an unsafe session id", () => {
  const ids = [
    "../escape",
    "a/b",
    "a\\b",
    "..",
    ".",
    "",
    "-a",
    "a-",
    ".a",
    "a.",
    "a\0b",
    "a b",
    "ä",
    "a\n",
    "x/../../y",
  ];

  test.each(ids)("%j is rejected before it becomes part of a path", (id) => {
    const root = sandbox();
    const folder = join(root, "sessions");
    const source = place(root, "source.jsonl", BRANCHED);
    const before = names(root);
    expect(codeOf(() => SessionManager.create("/project", folder, { id }))).toBe("INVALID_SESSION_ID");
    expect(codeOf(() => SessionManager.forkFrom(source, "/project", folder, { id }))).toBe(
      "INVALID_SESSION_ID",
    );
    expect(codeOf(() => SessionManager.inMemory("/project", { id }))).toBe("INVALID_SESSION_ID");
    expect(names(root)).toEqual(before);
  });

  test("in a file is data: no file made from the session leaves its folder", () => {
    const root = sandbox();
    const folder = join(root, "sessions");
    mkdirSync(folder);
    const path = place(
      folder,
      "s.jsonl",
      lines(header({ id: "../../escape" }), message("0000000a", null, "a")),
    );
    const session = SessionManager.open(path, { lease: "fail" });
    session.appendSessionInfo("../../name");
    session.createBranchedSession("0000000a");
    SessionManager.forkFrom(path, "/other", folder);
    expect(names(root)).toEqual(["sessions"]);
    expect(names(folder).filter((name) => name.includes("escape") || name.includes("name"))).toEqual([]);
  });

  test("may be as long as the names of its side files allow, and the file can still be replaced", () => {
    const folder = sandbox();
    const id = "x".repeat(200);
    const session = SessionManager.create("/project", folder, { id });
    session.appendMessage(user("secret"));
    session.redactEntry(session.getLeafId() ?? "");
    expect(getTexts(onDisk(session.getSessionFile() ?? "").getEntries())).toEqual(["[redacted]"]);
  });
});

describe("a limit on the length of lines", () => {
  const long = message("0000000b", "0000000a", "x".repeat(5000));
  const options: SessionOptions = { maxLineBytes: 2000 };

  test("makes a longer line an issue, and the others are read", () => {
    const path = place(
      sandbox(),
      "s.jsonl",
      lines(header(), message("0000000a", null, "a"), long, message("0000000c", "0000000b", "c")),
    );
    const session = SessionManager.open(path, options);
    expect(session.issues.map(({ code, line }) => [code, line])).toEqual([
      ["LINE_TOO_LONG", 3],
      ["PARENT_BRIDGED", 4],
    ]);
    expect(getTexts(session.getEntries())).toEqual(["a", "c"]);
    session.appendMessage(user("d"));
    expect(SessionManager.open(path).getEntryCount()).toBe(4);
    expect(readFileSync(path, "utf8")).toContain("x".repeat(5000));
  });

  test("rejects an entry that no reader would accept", () => {
    const path = place(sandbox(), "s.jsonl", lines(header(), message("0000000a", null, "a")));
    const session = SessionManager.open(path, options);
    const states: string[] = [];
    session.on("persistence_state", ({ state }) => states.push(state));
    const before = snapshot(path);
    expect(codeOf(() => session.appendMessage(user("x".repeat(2000))))).toBe("ENTRY_INVALID");
    // 700 characters of three bytes each.
    expect(codeOf(() => session.appendMessage(user("€".repeat(700))))).toBe("ENTRY_INVALID");
    expect(snapshot(path)).toEqual(before);
    expect(states).toEqual([]);
    session.appendMessage(user("€".repeat(500)));
    expect(SessionManager.open(path, options).issues).toEqual([]);
  });

  test("applies to a header, too", () => {
    const path = place(sandbox(), "s.jsonl", lines(header({ cwd: "x".repeat(3000) })));
    expect(codeOf(() => SessionManager.open(path, options))).toBe("NOT_A_SESSION");
  });
});

describe("names of prototypes in data", () => {
  const hostile = [
    `{"type":"session","version":3,"id":"one","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/p","__proto__":{"polluted":1}}`,
    `{"type":"message","id":"__proto__","parentId":null,"timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"a","timestamp":1,"__proto__":{"polluted":1}}}`,
    `{"type":"message","id":"constructor","parentId":"__proto__","timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":"b","timestamp":1},"constructor":{"prototype":{"polluted":1}}}`,
    `{"type":"label","id":"0000000c","parentId":"constructor","timestamp":"2026-03-01T12:00:00.000Z","targetId":"__proto__","label":"toString"}`,
    `{"type":"__proto__","id":"toString","parentId":"0000000c","timestamp":"2026-03-01T12:00:00.000Z"}`,
    `{"type":"custom","customType":"__proto__","data":{"__proto__":{"polluted":1}},"id":"hasOwnProperty","parentId":"toString","timestamp":"2026-03-01T12:00:00.000Z"}`,
  ];

  function assertClean(): void {
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(Reflect.get([], "polluted")).toBeUndefined();
  }

  test("are data, at any position", () => {
    const path = place(sandbox(), "s.jsonl", lines(...hostile));
    const session = SessionManager.open(path);
    const ids = ["__proto__", "constructor", "0000000c", "toString", "hasOwnProperty"];
    expect(session.getEntries().map(({ id }) => id)).toEqual(ids);
    expect(session.getBranch().map(({ id }) => id)).toEqual(ids);
    expect(session.getLabel("__proto__")).toBe("toString");
    expect(session.getLabel("constructor")).toBeUndefined();
    expect(session.getEntry("valueOf")).toBeUndefined();
    expect(session.getTree()).toHaveLength(1);
    expect(session.buildSessionContext().messages).toHaveLength(2);
    assertClean();
    session.appendCustomEntry("__proto__", JSON.parse('{"__proto__":{"polluted":1}}'));
    session.redactEntry("constructor", { replacement: "__proto__" });
    session.createBranchedSession("hasOwnProperty");
    repairSession(path);
    loadEntriesFromFile(path);
    assertClean();
  });

  test("survive an upgrade as data", () => {
    const old = hostile.map((line) => line.replace('"version":3', '"version":2'));
    const path = place(sandbox(), "s.jsonl", lines(...old));
    SessionManager.open(path).upgrade();
    const text = readFileSync(path, "utf8");
    expect(text.match(/"__proto__":\{"polluted":1\}/g)).toHaveLength(3);
    assertClean();
  });
});

test("only documented files are written next to a session", () => {
  const folder = sandbox();
  const path = place(folder, "s.jsonl", BRANCHED);
  linkSync(path, join(folder, "hard.jsonl"));
  const session = SessionManager.open(path);
  session.appendMessage(user("one"));
  writeFileSync(join(folder, "other.txt"), "mine");
  session.redactEntry("00000002");
  expect(names(folder)).toEqual(["hard.jsonl", "other.txt", "s.jsonl"]);
});
