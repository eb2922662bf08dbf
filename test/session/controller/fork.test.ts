import { existsSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { names, rejection, seenByModel, stage, talk } from "./support/stage.ts";

function onDisk() {
  const cwd = temporaryFolder();
  const session = SessionManager.create(cwd, join(cwd, "sessions"));
  const ids = talk(session, 3);
  return { ...stage({ session }), cwd, ids, file: session.getSessionFile() ?? "" };
}

describe("fork", () => {
  test("before a user message: copies the path up to it, and returns its text", async () => {
    const { session, controller, seen, ids, file } = onDisk();
    const result = await controller.fork(ids[4] ?? "");
    const fork = controller.session;
    const target = fork.getSessionFile();
    expect(target).not.toBe(file);
    expect(result).toEqual({
      cancelled: false,
      sessionFile: target,
      selectedText: expect.stringMatching(/^2x/),
    });
    expect(fork.getPathIds()).toEqual(ids.slice(0, 4));
    expect(fork.getHeader()).toMatchObject({ parentSession: file });
    expect(fork.getSessionId()).not.toBe(session.getSessionId());
    expect(seen).toEqual([
      ["session_before_fork", { entryId: ids[4], position: "before" }],
      ["session_shutdown", { reason: "fork", targetSessionFile: target }],
      ["session_start", { reason: "fork", previousSessionFile: file }],
    ]);
    fork.appendMessage(user("another way"));
    expect(SessionManager.open(file).getEntryCount()).toBe(6);
    expect(SessionManager.open(target ?? "").getEntryCount()).toBe(5);
  });

  test("at an entry: copies the entry, and returns no text", async () => {
    const { controller, ids } = onDisk();
    const result = await controller.fork(ids[4] ?? "", { position: "at" });
    expect(result).not.toHaveProperty("selectedText");
    expect(controller.session.getPathIds()).toEqual(ids.slice(0, 5));
  });

  test("before the first message: an empty session that names its parent", async () => {
    const { controller, ids, file } = onDisk();
    expect(await controller.fork(ids[0] ?? "")).toMatchObject({ selectedText: expect.stringMatching(/^0x/) });
    expect(controller.session.getEntryCount()).toBe(0);
    expect(controller.session.getHeader()).toMatchObject({ parentSession: file });
    controller.session.appendMessage(user("from the start"));
    const reopened = SessionManager.open(controller.session.getSessionFile() ?? "");
    expect(reopened.getHeader()).toMatchObject({ parentSession: file });
  });

  test("before the first message, after the model: no file before the conversation begins", async () => {
    const cwd = temporaryFolder();
    const session = SessionManager.create(cwd, join(cwd, "sessions"));
    const model = session.appendModelChange("acme", "m1");
    const question = session.appendMessage(user("first"));
    const { controller } = stage({ session });
    const { sessionFile = "" } = await controller.fork(question);
    expect(controller.session.getPathIds()).toEqual([model]);
    expect(existsSync(sessionFile)).toBe(false);
    controller.session.appendMessage(user("first, in other words"));
    expect(SessionManager.open(sessionFile).getPathIds()).toHaveLength(2);
  });

  test("copies the labels of the path", async () => {
    const { session, controller, ids } = onDisk();
    session.appendLabelChange(ids[1] ?? "", "good");
    await controller.fork(ids[4] ?? "");
    expect(controller.session.getLabel(ids[1] ?? "")).toBe("good");
  });

  test("omits other branches, and keeps the context", async () => {
    const { session, controller, ids } = onDisk();
    session.branch(ids[1] ?? "");
    const answer = session.appendMessage(assistant("other"));
    const context = seenByModel(session);
    await controller.fork(answer, { position: "at" });
    expect(seenByModel(controller.session)).toEqual(context);
    expect(controller.session.getEntryCount()).toBe(3);
  });

  test("can be canceled", async () => {
    const { session, controller, seen, ids } = onDisk();
    controller.hooks.on("session_before_fork", () => ({ cancel: true }));
    expect(await controller.fork(ids[2] ?? "")).toEqual({ cancelled: true });
    expect(controller.session).toBe(session);
    expect(names(seen)).toEqual(["session_before_fork"]);
  });

  test("rejects entries that cannot be rewritten, and those that do not exist", async () => {
    const { controller, seen, ids } = onDisk();
    expect(await rejection(controller.fork(ids[1] ?? ""))).toMatchObject({
      code: "ENTRY_INVALID",
      details: { entryId: ids[1] },
    });
    expect(await rejection(controller.fork("nowhere"))).toMatchObject({
      code: "ENTRY_NOT_FOUND",
      message: expect.stringMatching(/^Entry nowhere not found/),
    });
    expect(seen).toEqual([]);
  });

  test("works in memory, too", async () => {
    const { session, controller } = stage();
    const ids = talk(session, 2);
    expect(await controller.fork(ids[2] ?? "")).toEqual({
      cancelled: false,
      selectedText: expect.stringMatching(/^1x/),
    });
    expect(controller.session.getPathIds()).toEqual(ids.slice(0, 2));
    await controller.fork(ids[0] ?? "");
    expect(controller.session.getEntryCount()).toBe(0);
  });
});

describe("clone", () => {
  test("forks the entire active branch", async () => {
    const { controller, seen, ids } = onDisk();
    expect(await controller.clone()).not.toHaveProperty("selectedText");
    expect(controller.session.getPathIds()).toEqual(ids);
    expect(seen[0]).toEqual(["session_before_fork", { entryId: ids[5], position: "at" }]);
  });

  test("also copies a session without a file", async () => {
    const cwd = temporaryFolder();
    const session = SessionManager.create(cwd, cwd);
    session.appendModelChange("acme", "m1");
    const { controller } = stage({ session });
    await controller.clone();
    expect(controller.session.getEntries()).toMatchObject([{ type: "model_change" }]);
  });

  test("rejects an empty session", async () => {
    const { controller } = stage();
    expect(await rejection(controller.clone())).toMatchObject({ code: "ENTRY_NOT_FOUND" });
  });
});
