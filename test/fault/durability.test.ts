import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { expect, test } from "vitest";
import { IS_WINDOWS } from "../support/platform.ts";
import { type FileSystem, watchedFs } from "./support/faulty-fs.ts";
import { names, place, sandbox } from "./support/sandbox.ts";
import { BRANCHED, getTexts, onDisk, user, VERSION_1 } from "./support/sessions.ts";

/** Notes what is opened, written and waited for, by path. */
class Witness {
  readonly #paths = new Map<unknown, string>();
  events: string[] = [];
  /** The next call of this name fails. */
  failing: string | undefined;
  readonly fs: FileSystem;

  constructor() {
    const real = watchedFs(() => undefined);
    this.fs = watchedFs((name, args) => {
      if (name === this.failing) {
        this.failing = undefined;
        throw Object.assign(new Error("injected"), { code: "EIO" });
      }
      if (name === "openSync") {
        const fd = Reflect.apply(real.openSync, undefined, args);
        this.#paths.set(fd, String(args[0]));
        return fd;
      }
      if (name === "writeSync" || name === "fsyncSync") {
        this.events.push(`${name === "writeSync" ? "write" : "sync"} ${this.#paths.get(args[0])}`);
      }
      if (name === "renameSync") this.events.push(`rename ${args[1]}`);
      return undefined;
    });
  }

  /** What has happened since the last question, below a folder. */
  take(folder: string): string[] {
    const taken = this.events.map((event) =>
      event.replaceAll(folder, "").replace(/\.[0-9a-f]{8}-\d+-\d*-[0-9a-f]{16}\.tmp/, "(temporary)"),
    );
    this.events = [];
    return taken;
  }
}

function stage(options: SessionOptions = {}) {
  const folder = sandbox();
  const witness = new Witness();
  return { folder, witness, options: { ...options, fs: witness.fs, sessionDir: join(folder, "sessions") } };
}

test("by default, an append is one write and waits for nothing", () => {
  const { folder, witness, options } = stage();
  const session = SessionManager.create("/project", options);
  const path = session.getSessionFile() ?? "";
  session.appendModelChange("acme", "m1");
  witness.take(folder);
  session.appendMessage(user("one"));
  session.appendMessage(user("two"));
  const name = path.replace(folder, "");
  expect(witness.take(folder)).toEqual([`write ${name}`, `write ${name}`]);
});

// Windows flushes no folders.
test.skipIf(IS_WINDOWS)(
  "a flush waits for the file, for its name once, and for nothing if nothing was written",
  async () => {
    const { folder, witness, options } = stage();
    const session = SessionManager.create("/project", options);
    session.appendMessage(user("one"));
    witness.take(folder);
    const name = (session.getSessionFile() ?? "").replace(folder, "");
    await session.flush();
    expect(witness.take(folder)).toEqual([`sync ${name}`, "sync /sessions"]);
    await session.flush();
    expect(witness.take(folder)).toEqual([]);
    session.appendMessage(user("two"));
    witness.take(folder);
    await session.flush();
    expect(witness.take(folder)).toEqual([`sync ${name}`]);
    session.appendMessage(user("three"));
    witness.take(folder);
    await session.close();
    expect(witness.take(folder)).toEqual([`sync ${name}`]);
  },
);

test.skipIf(IS_WINDOWS)(
  "a flush waits for what was written through a descriptor that was closed since",
  async () => {
    const { folder, witness, options } = stage();
    const session = SessionManager.create("/project", options);
    session.appendMessage(user("one"));
    // So many others are written to that the descriptor must make room.
    for (let i = 0; i < 70; i++)
      SessionManager.create("/project", join(folder, "others")).appendMessage(user("x"));
    witness.take(folder);
    await session.flush();
    expect(witness.take(folder)).toEqual([
      `sync ${(session.getSessionFile() ?? "").replace(folder, "")}`,
      "sync /sessions",
    ]);
  },
);

test.skipIf(IS_WINDOWS)(
  'with "fsync", each append has been waited for when it returns, and a new file\'s name, too',
  async () => {
    const { folder, witness, options } = stage({ durability: "fsync" });
    mkdirSync(options.sessionDir);
    const session = SessionManager.create("/project", options);
    session.appendMessage(user("one"));
    const name = (session.getSessionFile() ?? "").replace(folder, "");
    expect(witness.take(folder)).toEqual([`write ${name}`, `sync ${name}`, "sync /sessions"]);
    session.appendMessage(user("two"));
    expect(witness.take(folder)).toEqual([`write ${name}`, `sync ${name}`]);
    await session.flush();
    expect(witness.take(folder)).toEqual([]);
  },
);

test.skipIf(IS_WINDOWS)("new folders are made to last before anything is put into them", () => {
  const folder = sandbox();
  const witness = new Witness();
  const path = join(folder, "a/b/s.jsonl");
  SessionManager.open(path, { fs: witness.fs }).appendMessage(user("one"));
  expect(witness.take(folder)).toEqual(["sync /a", "sync ", "write /a/b/s.jsonl"]);
});

test.skipIf(IS_WINDOWS).each([
  ["an upgrade", VERSION_1, 1, (session: SessionManager) => session.upgrade()],
  ["a redaction", BRANCHED, 0, (session: SessionManager) => session.redact("00000002")],
])("%s is waited for before and after it takes the name", (_name, content, backups, replace) => {
  const path = place(sandbox(), "s.jsonl", content);
  const witness = new Witness();
  const session = SessionManager.open(path, { fs: witness.fs });
  witness.take("");
  replace(session);
  // The lock comes first, which need not survive a power cut; then the new content, and the backup if there is one.
  const written = ["write /(temporary)", "sync /(temporary)"];
  expect(witness.take(dirname(path))).toEqual([
    "write /(temporary)",
    ...Array.from({ length: 1 + backups }, () => written).flat(),
    "sync ",
    "rename /s.jsonl",
    "sync ",
  ]);
});

test.skipIf(IS_WINDOWS)("a flush that fails says so, and the next one waits for the same", async () => {
  const { folder, witness, options } = stage();
  const session = SessionManager.create("/project", options);
  session.appendMessage(user("one"));
  for (let i = 0; i < 2; i++) {
    witness.failing = "fsyncSync";
    await expect(session.flush()).rejects.toMatchObject({ code: "WRITE_FAILED", cause: { code: "EIO" } });
  }
  witness.take(folder);
  await session.flush();
  expect(witness.take(folder)).toHaveLength(2);
});

test.skipIf(IS_WINDOWS)("a close that fails says so, and lets go of everything all the same", async () => {
  const { folder, witness, options } = stage({ lease: "fail" });
  const session = SessionManager.create("/project", options);
  session.appendMessage(user("one"));
  const path = session.getSessionFile() ?? "";
  witness.failing = "fsyncSync";
  await expect(session.close()).rejects.toMatchObject({ code: "WRITE_FAILED" });
  expect(names(join(folder, "sessions"))).toEqual([path.replace(`${folder}/sessions/`, "")]);
  await session.close();
  expect(() => session.appendMessage(user("two"))).toThrow(
    expect.objectContaining({ code: "SESSION_CLOSED" }),
  );
  expect(getTexts(onDisk(path).getEntries())).toEqual(["one"]);
});

test("a session is closed at the end of its block", async () => {
  const { options } = stage({ lease: "fail" });
  let closed = 0;
  let path = "";
  {
    await using session = SessionManager.create("/project", options);
    session.on("closed", () => closed++);
    session.appendMessage(user("one"));
    path = session.getSessionFile() ?? "";
    expect(existsSync(`${path}.lease`)).toBe(true);
  }
  expect(closed).toBe(1);
  expect(existsSync(`${path}.lease`)).toBe(false);
});

test("nothing is on disk before the first message, and everything with it", async () => {
  const { options } = stage();
  for (const role of ["user", "assistant"] as const) {
    const session = SessionManager.create("/project", options);
    const path = session.getSessionFile() ?? "";
    session.appendModelChange("acme", "m1");
    session.appendThinkingLevelChange("high");
    session.appendCustomEntry("x", 1);
    await session.flush();
    expect(existsSync(path)).toBe(false);
    const message = { role, content: "one", timestamp: 0 };
    const assistant = { api: "a", provider: "acme", model: "m1", stopReason: "stop" };
    session.append({ type: "message", message: role === "user" ? message : { ...message, ...assistant } });
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(5);
    expect(onDisk(path).getEntries()).toEqual(session.getEntries());
  }
});

test("a session that never said anything leaves no file, and one that is to be there at once does", async () => {
  const { folder, options } = stage();
  const session = SessionManager.create("/project", options);
  session.appendModelChange("acme", "m1");
  await session.close();
  expect(names(join(folder, "sessions"))).toEqual([]);
  const atOnce = SessionManager.create("/project", { ...options, createAtOnce: true });
  expect(onDisk(atOnce.getSessionFile() ?? "").getSessionId()).toBe(atOnce.getSessionId());
});

test("the first message of a session whose place is taken is refused, and what stands there is left alone", () => {
  const { options } = stage();
  const session = SessionManager.create("/project", options);
  const path = session.getSessionFile() ?? "";
  place(dirname(path), path.slice(dirname(path).length + 1), BRANCHED);
  let error: unknown;
  try {
    session.appendMessage(user("one"));
  } catch (caught) {
    error = caught;
  }
  expect(isSessionError(error, "SESSION_EXISTS")).toBe(true);
  expect(readFileSync(path, "utf8")).toBe(BRANCHED);
  rmSync(path);
  session.appendMessage(user("two"));
  expect(getTexts(onDisk(path).getEntries())).toEqual(["two"]);
});
