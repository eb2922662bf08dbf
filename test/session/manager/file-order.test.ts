import { SessionManager } from "sessiontree";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

test("labels and names follow the order of the file, even if another process wrote between own entries", () => {
  const own = SessionManager.create("/projects/project", folder);
  const target = own.appendMessage({ role: "user", content: "first", timestamp: 1 });
  const path = own.getSessionFile() ?? "";
  const other = SessionManager.open(path);

  // Within the millisecond in which the file is not checked again, the other's lines precede the own ones.
  other.appendLabelChange(target, "theirs");
  other.appendSessionInfo("theirs");
  own.appendLabelChange(target, "own");
  own.appendSessionInfo("own");
  own.refresh();

  const reopened = SessionManager.open(path, { mode: "read-only" });
  expect(own.getEntryCount()).toBe(reopened.getEntryCount());
  expect([own.getLabel(target), own.getSessionName()]).toEqual(["own", "own"]);
  expect([reopened.getLabel(target), reopened.getSessionName()]).toEqual(["own", "own"]);
  expect(own.getEntries().map(({ id }) => id)).toEqual(reopened.getEntries().map(({ id }) => id));
});
