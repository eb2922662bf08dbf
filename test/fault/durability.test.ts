import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessionError, SessionManager, type SessionOptions } from "sessiontree";
import { expect, test } from "vitest";
import { foreignEntry } from "../support/messages.ts";
import { IS_WINDOWS } from "../support/platform.ts";
import { type FileSystem, watchedFs } from "./support/faulty-fs.ts";
import { names, place, sandbox } from "./support/sandbox.ts";
import { BRANCHED, getTexts, onDisk, user, VERSION_1 } from "./support/sessions.ts";

/** Records opens, writes, and flushes by path. */
class Witness {
  readonly #paths = new Map<unknown, string>();
  events: string[] = [];
  /** Name of the call whose next invocation fails. */
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

  /** Returns the recorded calls below a folder since the last call of `take`. */
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

test("by default, an append is one write without a flush", () => {
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
  "a flush syncs the file, its name once, and nothing if nothing was written",
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

test.skipIf(IS_WINDOWS)("a flush syncs writes through a descriptor that was closed since", async () => {
  const { folder, witness, options } = stage();
  const session = SessionManager.create("/project", options);
  session.appendMessage(user("one"));
  // Enough other files are written to that the descriptor is closed.
  for (let i = 0; i < 70; i++)
    SessionManager.create("/project", join(folder, "others")).appendMessage(user("x"));
  witness.take(folder);
  await session.flush();
  expect(witness.take(folder)).toEqual([
    `sync ${(session.getSessionFile() ?? "").replace(folder, "")}`,
    "sync /sessions",
  ]);
});

test.skipIf(IS_WINDOWS)(
  'with "fsync", each append is synced when it returns, and so is the name of a new file',
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

test.skipIf(IS_WINDOWS)("new folders are synced before anything is written to them", () => {
  const folder = sandbox();
  const witness = new Witness();
  const path = join(folder, "a/b/s.jsonl");
  SessionManager.open(path, { fs: witness.fs }).appendMessage(user("one"));
  expect(witness.take(folder)).toEqual(["sync /a", "sync ", "write /a/b/s.jsonl"]);
});

test.skipIf(IS_WINDOWS).each([
  ["an upgrade", VERSION_1, 1, (session: SessionManager) => session.upgrade()],
  ["a redaction", BRANCHED, 0, (session: SessionManager) => session.redactEntry("00000002")],
])("%s is synced before and after the rename", (_name, content, backups, replace) => {
  const path = place(sandbox(), "s.jsonl", content);
  const witness = new Witness();
  const session = SessionManager.open(path, { fs: witness.fs });
  witness.take("");
  replace(session);
  // The lock comes first, which need not survive a power cut; then the new content, and the backup, if any.
  const written = ["write /(temporary)", "sync /(temporary)"];
  expect(witness.take(dirname(path))).toEqual([
    "write /(temporary)",
    ...Array.from({ length: 1 + backups }, () => written).flat(),
    "sync ",
    "rename /s.jsonl",
    "sync ",
  ]);
});

test.skipIf(IS_WINDOWS)("a flush that fails throws, and the next one syncs the same", async () => {
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

test.skipIf(IS_WINDOWS)("a close that fails throws, and releases everything nevertheless", async () => {
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
    session.append(
      foreignEntry({ type: "message", message: role === "user" ? message : { ...message, ...assistant } }),
    );
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(5);
    expect(onDisk(path).getEntries()).toEqual(session.getEntries());
  }
});

test("a session without entries leaves no file, and one created at once does", async () => {
  const { folder, options } = stage();
  const session = SessionManager.create("/project", options);
  session.appendModelChange("acme", "m1");
  await session.close();
  expect(names(join(folder, "sessions"))).toEqual([]);
  const atOnce = SessionManager.create("/project", { ...options, createAtOnce: true });
  expect(onDisk(atOnce.getSessionFile() ?? "").getSessionId()).toBe(atOnce.getSessionId());
});

test("the first message of a session whose path exists is rejected, and that file is not changed", () => {
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
