import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { repairSession, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { fileStore } from "sessiontree/stores";
import { expect, test } from "vitest";
import { user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** File of another agent: only its first record could be a session header. */
const FOREIGN = [
  { type: "session", id: "abc", cwd: "/work" },
  { type: "user", text: "Why is the build red?" },
  { type: "assistant", text: "A test fails." },
  { type: "message", role: "user", content: "Mend it." },
  { type: "usage", tokens: 12 },
];

function fileOf(records: readonly object[]): string {
  const path = join(temporaryFolder(), "session.jsonl");
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

const readOnly = expect.objectContaining({ code: "READ_ONLY", message: expect.stringContaining("forkFrom") });

test("a file with only its first record in the session format is read and never written", async () => {
  const path = fileOf(FOREIGN);
  const before = readFileSync(path, "utf8");
  const session = SessionManager.open(path);
  expect(session.issues).toMatchObject([
    { code: "FOREIGN_FORMAT", line: 1, offset: 0, message: expect.stringContaining("another program wrote") },
  ]);
  expect(session.getEntryCount()).toBe(4);
  expect(() => session.appendMessage(user("x"))).toThrow(readOnly);
  expect(() => session.upgrade()).toThrow(readOnly);
  expect(() => repairSession(path)).toThrow(readOnly);
  const other = fileOf([...FOREIGN, { type: "user", text: "And now?" }]);
  expect(() => mergeSessions(path, other, { inPlace: true })).toThrow(readOnly);
  await session.close();
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(readdirSync(dirname(path))).toEqual(["session.jsonl"]);
});

test("nor is it written through a store or an import", async () => {
  const path = fileOf(FOREIGN);
  const before = readFileSync(path, "utf8");
  const store = fileStore({ sessionDir: dirname(path) });
  const entries = [
    {
      type: "message",
      id: "00000001",
      parentId: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: user("x"),
    },
  ];
  await expect(store.appendEntries("abc", entries)).rejects.toThrow(readOnly);
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("it can be continued in a copy", () => {
  const folder = temporaryFolder();
  const copy = SessionManager.forkFrom(fileOf(FOREIGN), "/elsewhere", folder);
  copy.appendMessage(user("x"));
  expect(copy.issues).toEqual([]);
  expect(copy.getEntryCount()).toBe(5);
});

test.each([
  ["an id", { type: "user", id: "a", text: "x" }],
  ["a time", { type: "user", timestamp: "2026-01-01T00:00:00.000Z" }],
  ["a time in milliseconds", { type: "user", timestamp: 1 }],
  ["a type of the format", { type: "message", message: { role: "user", content: "x" } }],
])("one record with %s is enough for it to count as a session", (_what, record) => {
  const path = fileOf([...FOREIGN, record]);
  const session = SessionManager.open(path);
  expect(session.issues.map(({ code }) => code)).not.toContain("FOREIGN_FORMAT");
  session.appendMessage(user("x"));
  expect(SessionManager.open(path).getEntryCount()).toBe(6);
});

test("a session with only the header and another program's records left can grow", () => {
  const [header, ...rest] = FOREIGN;
  const path = fileOf([{ ...header, timestamp: "2026-01-01T00:00:00.000Z" }, ...rest]);
  const session = SessionManager.open(path);
  expect(session.issues.map(({ code }) => code)).not.toContain("FOREIGN_FORMAT");
  session.appendMessage(user("x"));
  expect(SessionManager.open(path).getEntryCount()).toBe(5);
});

test("a header alone is a session, and so is what a session becomes with its first entry", () => {
  const path = fileOf(FOREIGN.slice(0, 1));
  SessionManager.open(path).appendMessage(user("x"));
  const grown = fileOf(FOREIGN);
  const session = SessionManager.open(grown);
  const message = { type: "message", message: { role: "user", content: "x", timestamp: 1 } };
  appendFileSync(grown, `${JSON.stringify(message)}\n`);
  session.refresh();
  expect(session.issues).toEqual([]);
  session.appendMessage(user("y"));
  expect(SessionManager.open(grown).getEntryCount()).toBe(6);
});
