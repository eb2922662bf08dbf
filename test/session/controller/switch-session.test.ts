import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager, type SessionOptions } from "sessiontree";
import { describe, expect, test, vi } from "vitest";
import { user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { deferred, names, rejection, stage, talk } from "./support/stage.ts";

/** Creates a controller over a session in a file, with one turn. */
function onDisk(options: SessionOptions = {}) {
  const root = temporaryFolder();
  const cwd = join(root, "project");
  const sessionDir = join(root, "sessions");
  mkdirSync(cwd);
  const session = SessionManager.create(cwd, { sessionDir, ...options });
  talk(session, 1);
  return { ...stage({ session }), root, cwd, sessionDir, file: session.getSessionFile() ?? "" };
}

/** Writes another session next to that of the stage, and returns the path of its file. */
async function another({ cwd, sessionDir }: { cwd: string; sessionDir: string }): Promise<string> {
  const other = SessionManager.create(cwd, sessionDir);
  talk(other, 2);
  await other.close();
  return other.getSessionFile() ?? "";
}

describe("start, reload, and close", () => {
  test("call the handlers", async () => {
    const { controller, seen } = stage();
    await controller.start();
    await controller.reload();
    await controller.close();
    expect(seen).toEqual([
      ["session_start", { reason: "startup" }],
      ["session_shutdown", { reason: "reload" }],
      ["session_start", { reason: "reload" }],
      ["session_shutdown", { reason: "quit" }],
    ]);
  });

  test("close closes the session after the handlers have finished, once", async () => {
    const { session, controller, seen } = stage();
    controller.hooks.on("session_shutdown", async () => {
      await Promise.resolve();
      session.appendCustomEntry("last words");
    });
    await controller.close();
    await controller.close();
    expect(names(seen)).toEqual(["session_shutdown"]);
    expect(session.getEntryCount()).toBe(1);
    expect(() => session.appendCustomEntry("more")).toThrow(
      expect.objectContaining({ code: "SESSION_CLOSED" }),
    );
  });

  test("every command is rejected after close", async () => {
    const { session, controller, file, seen } = onDisk();
    const leafId = session.getLeafId() ?? "";
    await controller.close();
    seen.length = 0;
    const closed = { code: "SESSION_CLOSED" };
    expect(await rejection(controller.newSession())).toMatchObject(closed);
    expect(await rejection(controller.switchSession(file))).toMatchObject(closed);
    expect(await rejection(controller.fork(leafId, { position: "at" }))).toMatchObject(closed);
    expect(await rejection(controller.compact())).toMatchObject(closed);
    expect(await rejection(controller.setName("n"))).toMatchObject(closed);
    expect(seen).toEqual([]);
  });

  test("a controller closes at the end of its scope", async () => {
    const { session, controller } = stage();
    {
      await using scoped = controller;
      expect(scoped.session).toBe(session);
    }
    expect(() => session.resetLeaf() ?? session.appendCustomEntry("x")).toThrow();
  });
});

describe("newSession", () => {
  test("asks, shuts down, begins, starts: in this order", async () => {
    const { session, controller, seen, file, sessionDir, cwd } = onDisk();
    controller.hooks.on("session_shutdown", () => {
      expect(controller.session).toBe(session);
      session.appendCustomEntry("last words");
    });
    controller.hooks.on("session_start", () => {
      expect(controller.session).not.toBe(session);
    });
    const result = await controller.newSession();
    const target = controller.session.getSessionFile();
    expect(result).toEqual({ cancelled: false, sessionFile: target });
    expect(seen).toEqual([
      ["session_before_switch", { reason: "new" }],
      ["session_shutdown", { reason: "new", targetSessionFile: target }],
      ["session_start", { reason: "new", previousSessionFile: file }],
    ]);
    expect(controller.session.getSessionDir()).toBe(sessionDir);
    expect(controller.session.getCwd()).toBe(cwd);
    expect(controller.session.getEntryCount()).toBe(0);
    expect(controller.session.getHeader()).not.toHaveProperty("parentSession");
    expect(SessionManager.open(file).getLeafEntry()).toMatchObject({ customType: "last words" });
  });

  test("accepts an id and a parent", async () => {
    const { controller, file } = onDisk();
    await controller.newSession({ id: "mine", parentSession: file });
    expect(controller.session.getHeader()).toMatchObject({ id: "mine", parentSession: file });
    expect(await rejection(controller.newSession({ id: "../x" }))).toMatchObject({
      code: "INVALID_SESSION_ID",
    });
    expect(controller.session.getSessionId()).toBe("mine");
  });

  test("works in memory, too", async () => {
    const { session, controller, seen } = stage();
    talk(session, 1);
    expect(await controller.newSession()).toEqual({ cancelled: false });
    expect(controller.session.isPersisted()).toBe(false);
    expect(controller.session.getCwd()).toBe("/project");
    expect(controller.session.getSessionId()).not.toBe(session.getSessionId());
    expect(seen.slice(1)).toEqual([
      ["session_shutdown", { reason: "new" }],
      ["session_start", { reason: "new" }],
    ]);
  });

  test("can be canceled without any effect", async () => {
    const { session, controller, seen } = stage();
    controller.hooks.on("session_before_switch", () => ({ cancel: true }));
    expect(await controller.newSession()).toEqual({ cancelled: true });
    expect(controller.session).toBe(session);
    expect(names(seen)).toEqual(["session_before_switch"]);
    session.appendMessage(user("still here"));
  });

  test("keeps running commands from writing to the new session", async () => {
    const { session, controller } = onDisk();
    await controller.newSession();
    expect(() => session.appendMessage(user("late"))).toThrow(
      expect.objectContaining({ code: "SESSION_CLOSED" }),
    );
    expect(controller.session.getEntryCount()).toBe(0);
  });

  test("continues with the options of the previous session", async () => {
    const { session, controller, file } = onDisk({ lease: "fail", persistLeafOnClose: true });
    const [first = ""] = session.getPathIds();
    session.branch(first);
    expect(existsSync(`${file}.lease`)).toBe(true);
    await controller.newSession();
    expect(existsSync(`${file}.lease`)).toBe(false);
    expect(existsSync(`${controller.session.getSessionFile()}.lease`)).toBe(true);
    expect(SessionManager.open(file).getLeafEntry()).toMatchObject({ type: "custom", parentId: first });
    await controller.close();
  });

  test("of two at the same time, the second is stale, and the session is shut down once", async () => {
    const { controller, seen } = stage();
    const wait = deferred<undefined>();
    controller.hooks.on("session_shutdown", () => wait.promise);
    const first = controller.newSession();
    const second = rejection(controller.newSession());
    wait.resolve(undefined);
    await first;
    expect(await second).toMatchObject({ code: "STALE_LEAF" });
    expect(names(seen).filter((name) => name === "session_shutdown")).toHaveLength(1);
  });

  test("can be called by a start handler", async () => {
    const { controller, seen } = stage();
    const remove = controller.hooks.on("session_start", async () => {
      remove();
      await controller.newSession({ id: "second" });
    });
    await controller.newSession({ id: "first" });
    expect(controller.session.getSessionId()).toBe("second");
    expect(names(seen)).toEqual([
      "session_before_switch",
      "session_shutdown",
      "session_start",
      "session_before_switch",
      "session_shutdown",
      "session_start",
    ]);
  });

  test("is superseded by close: the new session is closed as well, and nothing starts", async () => {
    const { controller, seen } = stage();
    controller.hooks.on("session_shutdown", () => controller.close());
    expect(await rejection(controller.newSession())).toMatchObject({ code: "SESSION_CLOSED" });
    expect(names(seen)).toEqual(["session_before_switch", "session_shutdown"]);
    expect(() => controller.session.appendCustomEntry("x")).toThrow();
  });

  test("starts the new session even if closing the old one fails, and then reports it", async () => {
    const { session, controller, seen } = stage();
    const failure = new Error("EIO");
    vi.spyOn(session, "close").mockRejectedValue(failure);
    expect(await rejection(controller.newSession())).toBe(failure);
    expect(names(seen).at(-1)).toBe("session_start");
    expect(controller.session).not.toBe(session);
  });
});

describe("switchSession", () => {
  test("asks, shuts down, opens, starts: in this order", async () => {
    const on = onDisk();
    const { controller, seen, file } = on;
    const target = await another(on);
    expect(await controller.switchSession(target)).toEqual({ cancelled: false, sessionFile: target });
    expect(seen).toEqual([
      ["session_before_switch", { reason: "resume", targetSessionFile: target }],
      ["session_shutdown", { reason: "resume", targetSessionFile: target }],
      ["session_start", { reason: "resume", previousSessionFile: file }],
    ]);
    expect(controller.session.getEntryCount()).toBe(4);
    expect(controller.session.getCwd()).toBe(on.cwd);
    controller.session.appendMessage(user("on"));
  });

  test("switches from memory to a file, and between projects", async () => {
    const on = onDisk();
    const { controller } = stage();
    await controller.switchSession(on.file);
    expect(controller.session.getCwd()).toBe(on.cwd);
    expect(controller.session.getSessionDir()).toBe(on.sessionDir);
  });

  test("can be canceled", async () => {
    const on = onDisk();
    const target = await another(on);
    on.controller.hooks.on("session_before_switch", () => ({ cancel: true }));
    expect(await on.controller.switchSession(target)).toEqual({ cancelled: true });
    expect(on.controller.session).toBe(on.session);
    on.session.appendMessage(user("still here"));
  });

  test("reports a missing working directory, and accepts another one", async () => {
    const on = onDisk();
    const gone = join(on.root, "gone");
    const target = await another({ cwd: gone, sessionDir: on.sessionDir });
    const error = await rejection(on.controller.switchSession(target));
    expect(error).toMatchObject({
      code: "CWD_MISSING",
      details: { sessionFile: target, sessionCwd: gone, fallbackCwd: on.cwd },
    });
    expect(names(on.seen)).toEqual(["session_before_switch"]);
    expect(on.controller.session).toBe(on.session);
    on.session.appendMessage(user("still here"));
    const result = await on.controller.switchSession(target, { cwd: on.cwd });
    expect(result).toEqual({ cancelled: false, sessionFile: target });
    expect(on.controller.session.getCwd()).toBe(on.cwd);
    expect(on.controller.session.getHeader()?.cwd).toBe(gone);
    const next = on.controller.switchSession(target, { cwd: join(on.root, "nowhere") });
    expect(await rejection(next)).toMatchObject({ code: "CWD_MISSING" });
  });

  test("keeps the current session if the target is not a session", async () => {
    const on = onDisk();
    const noSession = join(on.root, "notes.jsonl");
    writeFileSync(noSession, '{"a":1}\n');
    for (const [path, code] of [
      [join(on.root, "missing.jsonl"), "SESSION_NOT_FOUND"],
      [noSession, "NOT_A_SESSION"],
    ] as const) {
      expect(await rejection(on.controller.switchSession(path))).toMatchObject({ code });
      expect(existsSync(join(on.root, "missing.jsonl"))).toBe(false);
    }
    expect(names(on.seen)).toEqual(["session_before_switch"]);
    on.session.appendMessage(user("still here"));
  });

  test("to the open file reads it again", async () => {
    const on = onDisk({ lease: "fail" });
    const alias = join(on.root, "alias.jsonl");
    symlinkSync(on.file, alias);
    const remove = on.controller.hooks.on("session_shutdown", () => {
      remove();
      on.session.appendCustomEntry("last words");
    });
    for (const path of [on.file, alias]) {
      await on.controller.switchSession(path);
      expect(realpathSync(on.controller.session.getSessionFile() ?? "")).toBe(realpathSync(on.file));
    }
    expect(on.controller.session.getEntries()).toMatchObject([{}, {}, { customType: "last words" }]);
    expect(names(on.seen).slice(0, 3)).toEqual([
      "session_before_switch",
      "session_shutdown",
      "session_start",
    ]);
    await on.controller.close();
  });

  test("with an aborted signal keeps the current session", async () => {
    const on = onDisk();
    const target = await another(on);
    const switching = on.controller.switchSession(target, { signal: AbortSignal.abort() });
    expect(await rejection(switching)).toMatchObject({ code: "ABORTED" });
    expect(on.controller.session).toBe(on.session);
  });

  test("ignores the signal that loaded the current session", async () => {
    const on = onDisk();
    const target = await another(on);
    const abort = new AbortController();
    const session = await SessionManager.openAsync(on.file, { signal: abort.signal });
    const { controller } = stage({ session });
    abort.abort();
    await controller.switchSession(target);
    expect(controller.session.getSessionFile()).toBe(target);
  });

  test("that lost to a faster command closes the session it opened", async () => {
    const on = onDisk({ lease: "fail" });
    const target = await another(on);
    const slow = rejection(on.controller.switchSession(target));
    await on.controller.newSession();
    expect(await slow).toMatchObject({ code: "STALE_LEAF" });
    expect(existsSync(`${target}.lease`)).toBe(false);
    await on.controller.close();
  });

  test("to a file removed in the meantime keeps the current session open", async () => {
    const on = onDisk();
    const target = await another(on);
    on.controller.hooks.on("session_before_switch", () => rmSync(target));
    expect(await rejection(on.controller.switchSession(target))).toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect(existsSync(target)).toBe(false);
    on.session.appendMessage(user("still here"));
  });
});

describe("setName", () => {
  test("stores the name in one line and emits the event", async () => {
    const { session, controller, seen } = stage();
    expect(await controller.setName("  My\nsession ")).toBe("My session");
    expect(session.getSessionName()).toBe("My session");
    expect(await controller.setName("")).toBeUndefined();
    expect(session.getSessionName()).toBeUndefined();
    expect(seen).toEqual([
      ["session_info_changed", { name: "My session" }],
      ["session_info_changed", { name: undefined }],
    ]);
  });
});
