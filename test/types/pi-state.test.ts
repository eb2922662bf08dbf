import { pathToFileURL } from "node:url";
import { defineEntryType } from "sessiontree";
import { expect, test } from "vitest";
import { z } from "zod";
import { piSessionManager } from "../bench/pi.ts";
import { user } from "../support/messages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An extension inside pi reads its state from pi's own session. */
test("reads state from a session of pi's own class", async (context) => {
  const found = await piSessionManager(temporaryFolder());
  if ("reason" in found) {
    // Continuous integration must not pass because the check was skipped.
    if (process.env["SESSIONTREE_WITH_REGISTRY"]) throw new Error(found.reason);
    return context.skip(found.reason);
  }
  const pi = await import(pathToFileURL(found.path).href);
  const session = pi.SessionManager.inMemory("/work");
  const tasks = defineEntryType("tasks", z.object({ open: z.number() }));
  const start = session.appendMessage(user("hello"));
  expect(tasks.latest(session)).toBeUndefined();
  tasks.append(session, { open: 2 });
  tasks.append(session, { open: 1 });
  const bad = session.appendCustomEntry("tasks", { open: "none" });
  const issues: unknown[] = [];
  expect(tasks.latest(session, { onIssue: (issue) => issues.push(issue) })).toEqual({ open: 1 });
  expect(issues).toMatchObject([{ code: "STATE_INVALID", entryId: bad }]);
  expect(tasks.all(session)).toEqual([{ open: 2 }, { open: 1 }]);
  session.branch(start);
  expect(tasks.latest(session)).toBeUndefined();
});
