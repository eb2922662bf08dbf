import { tmpdir } from "node:os";
import { SessionController } from "sessiontree/controller";
import { memoryStore } from "sessiontree/stores";
import { expect, test } from "vitest";

test("session commands work in a store, where sessions have ids instead of paths", async () => {
  const store = memoryStore();
  const session = store.create({ cwd: tmpdir() });
  const first = session.appendMessage({ role: "user", content: "one", timestamp: 1 });
  session.appendMessage({ role: "user", content: "two", timestamp: 2 });
  const controller = new SessionController({ session });
  await controller.fork(first, { position: "at" });
  const forked = controller.session.getSessionId();
  expect(controller.session.getPathIds()).toEqual([first]);
  await controller.newSession();
  controller.session.appendMessage({ role: "user", content: "in a new one", timestamp: 3 });
  await controller.switchSession(session.getSessionId());
  expect(controller.session.getSessionId()).toBe(session.getSessionId());
  expect(controller.session.getEntryCount()).toBe(2);
  await controller.switchSession(forked);
  expect(controller.session.getPathIds()).toEqual([first]);
  await expect(controller.switchSession("unknown")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  const ids: string[] = [];
  for await (const { id } of store.list()) ids.push(id);
  expect(ids).toHaveLength(3);
});
