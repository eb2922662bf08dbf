import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { expect, test } from "vitest";
import { assistant, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { records } from "./support/workshop.ts";

const line = (record: object) => `${JSON.stringify(record)}\n`;
const at = "2026-01-01T00:00:00.000Z";
const header = { type: "session", version: 3, id: "s", timestamp: at, cwd: "/projects/project" };
const message = (id: string, parentId: string | null) => ({
  type: "message",
  id,
  parentId,
  timestamp: at,
  message: user(id),
});

function file(...entries: object[]): string {
  const path = join(temporaryFolder(), "s.jsonl");
  writeFileSync(path, [header, ...entries].map(line).join(""));
  return path;
}

test("a parent that another process appends late is in the path, the context, and the entries immediately", () => {
  const path = file(message("bbbbbbbb", "aaaaaaaa"));
  const session = SessionManager.open(path);
  const before = session.getEntry("bbbbbbbb");
  expect(session.buildSessionContext().messages).toHaveLength(1);
  expect(before?.parentId).toBeNull();
  appendFileSync(path, line(message("aaaaaaaa", null)));
  session.refresh();
  expect(session.getPathIds("bbbbbbbb")).toEqual(["aaaaaaaa", "bbbbbbbb"]);
  expect(session.getEntry("bbbbbbbb")?.parentId).toBe("aaaaaaaa");
  expect(session.buildSessionContext().messages).toMatchObject([
    { content: "aaaaaaaa" },
    { content: "bbbbbbbb" },
  ]);
  const after = session.getEntry("bbbbbbbb");
  expect(after?.type === "message" && after.message).toBe(before?.type === "message" && before.message);
});

test("a file that was replaced by one of a newer version is not written to", () => {
  const path = file(message("aaaaaaaa", null));
  const session = SessionManager.open(path);
  const newer = readFileSync(path, "utf8").replace('"version":3', '"version":4');
  writeFileSync(`${path}.new`, newer);
  renameSync(`${path}.new`, path);
  expect(() => session.appendMessage(user("x"))).toThrow(
    expect.objectContaining({ code: "VERSION_TOO_NEW" }),
  );
  expect(readFileSync(path, "utf8")).toBe(newer);
});

test("a session of a newer version is not copied under an older one", () => {
  const folder = temporaryFolder();
  const path = join(folder, "v4.jsonl");
  writeFileSync(path, line({ ...header, version: 4 }) + line(message("aaaaaaaa", null)));
  const tooNew = expect.objectContaining({ code: "VERSION_TOO_NEW" });
  expect(() => SessionManager.forkFrom(path, "/projects/other", folder)).toThrow(tooNew);
  expect(() => SessionManager.open(path).createBranchedSession("aaaaaaaa")).toThrow(tooNew);
});

test("rewriting keeps the order of the file, and therefore labels and names", () => {
  const own = SessionManager.open(file(message("aaaaaaaa", null), message("bbbbbbbb", "aaaaaaaa")));
  const other = SessionManager.open(own.getSessionFile() ?? "");
  own.appendMessage(assistant("so that nobody looks for a millisecond"));
  other.appendLabelChange("aaaaaaaa", "theirs");
  own.appendLabelChange("aaaaaaaa", "own");
  own.refresh();
  const order = records(own).map(({ id }) => id);
  own.redactEntry("bbbbbbbb");
  expect(
    records(own)
      .slice(0, order.length)
      .map(({ id }) => id),
  ).toEqual(order);
  expect(own.getLabel("aaaaaaaa")).toBe("own");
  expect(SessionManager.open(own.getSessionFile() ?? "").getLabel("aaaaaaaa")).toBe("own");
});

test("a file with a line skipped for its length is not rewritten", () => {
  const path = file(message("aaaaaaaa", null), {
    ...message("bbbbbbbb", "aaaaaaaa"),
    pad: "x".repeat(5_000),
  });
  const before = readFileSync(path, "utf8");
  const session = SessionManager.open(path, { maxLineBytes: 1_000 });
  expect(() => session.redactEntry("aaaaaaaa")).toThrow(expect.objectContaining({ code: "WRITE_FAILED" }));
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("the text of a damaged entry is removed when it is redacted", () => {
  const path = file(message("aaaaaaaa", null));
  appendFileSync(
    path,
    `{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"${at}","message":{"content":"SECRET\n`,
  );
  const session = SessionManager.open(path);
  session.redactEntry("bbbbbbbb");
  expect(readFileSync(path, "utf8")).not.toContain("SECRET");
  expect(session.getEntryCount()).toBe(3);
});

test("roots and siblings are in the order of the file, by any writer", () => {
  const path = file(message("aaaaaaaa", null));
  const session = SessionManager.open(path);
  session.appendMessage(user("so that nobody looks for a millisecond"));
  appendFileSync(path, line(message("cccccccc", null)));
  session.resetLeaf();
  session.appendMessage(user("own root"));
  session.refresh();
  const order = SessionManager.open(path)
    .getChildren(null)
    .map(({ id }) => id);
  expect(order).toContain("cccccccc");
  expect(session.getChildren(null).map(({ id }) => id)).toEqual(order);
  expect(session.getTree().map(({ entry }) => entry.id)).toEqual(order);
  expect([...session.walk()].filter(({ parentId }) => parentId === null).map(({ id }) => id)).toEqual(order);
});

test("a session that cannot persist its leaf is closed nevertheless", async () => {
  const path = file(message("aaaaaaaa", null), message("bbbbbbbb", "aaaaaaaa"));
  const fs = await import("node:fs");
  let isFull = false;
  const full = {
    ...fs,
    writeSync: ((...args: Parameters<typeof fs.writeSync>) => {
      if (isFull) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      return fs.writeSync(...args);
    }) as typeof fs.writeSync,
  };
  const session = SessionManager.open(path, { fs: full, persistLeafOnClose: true, lease: "fail" });
  session.branch("aaaaaaaa");
  isFull = true;
  await expect(session.close()).rejects.toMatchObject({ code: "WRITE_FAILED" });
  isFull = false;
  expect(() => session.appendMessage(user("x"))).toThrow(expect.objectContaining({ code: "SESSION_CLOSED" }));
  await SessionManager.open(path, { lease: "fail" }).close();
});

test("an opener whose lease is held creates no file", () => {
  const path = join(temporaryFolder(), "s.jsonl");
  const owner = SessionManager.open(path, { lease: "fail" });
  const other = SessionManager.open(path, { lease: "read-only", createAtOnce: true });
  expect(() => other.appendMessage(user("x"))).toThrow(expect.objectContaining({ code: "READ_ONLY" }));
  owner.appendMessage(user("mine"));
  expect(records(owner)).toHaveLength(2);
  return owner.close();
});
