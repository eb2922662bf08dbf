import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "sessiontree";
import { describe, expect, test } from "vitest";
import { exportFor } from "../../../src/interop/continue/export-for.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ID, NOW, openStoredMessages } from "./support/copied-sessions.ts";
import { readLines } from "./support/exported-requests.ts";

const options = { id: ID, now: NOW };

function createSession() {
  const session = SessionManager.create("/project", join(temporaryFolder(), "sessions"));
  const prompt = session.appendMessage(user("Go"));
  session.appendMessage(assistant("First", {}, call("c1")));
  session.appendMessage(toolResult("c1", "a"));
  session.appendMessage(assistant("Done"));
  return { session, prompt };
}

describe("a session whose file ends at the leaf", () => {
  test("continues itself", () => {
    const { session } = createSession();
    expect(exportFor("pi", session, options)).toEqual({
      id: session.getSessionId(),
      files: [],
      commands: [["pi", "--session", session.getSessionFile()]],
      issues: [],
    });
  });
});

describe("a separate file", () => {
  test("is a fork of the path if the leaf is not at the end", () => {
    const { session, prompt } = createSession();
    session.branch(prompt);
    const exported = exportFor("pi", session, options);
    expect(exported.files.map(({ path }) => path)).toEqual([
      `sessions/--project--/2026-11-28T05-00-00-000Z_${ID}.jsonl`,
    ]);
    expect(exported.commands).toEqual([["pi", "--session", "{}"]]);
    expect(exported.issues.map(({ code }) => code)).toEqual(["BRANCHES_LEFT_OUT"]);
    expect(readLines(exported)).toEqual([
      {
        type: "session",
        version: 3,
        id: ID,
        timestamp: "2026-11-28T05:00:00.000Z",
        cwd: "/project",
        parentSession: session.getSessionFile(),
      },
      session.getEntry(prompt),
    ]);
  });

  test("has another working directory", () => {
    const { session } = createSession();
    const [header, ...entries] = readLines(exportFor("pi", session, { ...options, cwd: "/other" }));
    expect(header).toMatchObject({ cwd: "/other" });
    expect(entries).toEqual(session.getEntries());
  });

  test("holds a session in memory, whose path has no parent", () => {
    const session = SessionManager.inMemory("/project");
    session.appendMessage(user("Go"));
    session.appendMessage(assistant("Done"));
    const [header, ...entries] = readLines(exportFor("pi", session, options));
    expect(header).not.toHaveProperty("parentSession");
    expect(entries).toEqual(session.getEntries());
  });

  test("adds what other writers omit and pi needs", () => {
    // In the form that other writers store.
    const stored: readonly object[] = [
      user("Go"),
      { role: "assistant", content: "First", timestamp: 1 },
      { role: "toolResult", content: [], timestamp: 1 },
      { role: "assistant", content: [{ type: "toolCall", name: "read" }, call("c1")], timestamp: 1 },
      { role: "toolResult", toolCallId: "c1", toolName: "bash", content: "a", timestamp: 1 },
    ];
    const session = openStoredMessages(stored);
    const before = readFileSync(session.getSessionFile() ?? "", "utf8");
    const entries = readLines(exportFor("pi", session, options)).slice(1);
    const usage = expect.objectContaining({ totalTokens: 0 });
    expect(entries.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["e0", null],
      ["e1", "e0"],
      ["e3", "e1"],
      ["e4", "e3"],
    ]);
    expect(entries.map(({ message }) => message)).toEqual([
      stored[0],
      { role: "assistant", content: [{ type: "text", text: "First" }], timestamp: 1, usage },
      { role: "assistant", content: [call("c1")], timestamp: 1, usage },
      { ...stored[4], content: [{ type: "text", text: "a" }] },
    ]);
    expect(readFileSync(session.getSessionFile() ?? "", "utf8")).toBe(before);
  });

  test("expands messages that a compaction stores inline, which pi skips", () => {
    const { session } = createSession();
    const own = session.getSessionFile() ?? "";
    const compaction = {
      type: "compaction",
      id: "c0c0c0c0",
      parentId: session.getLeafId(),
      timestamp: "2026-11-01T00:00:00.000Z",
      summary: "They went.",
      firstKeptEntryId: "c0c0c0c0",
      tokensBefore: 100,
      retainedTail: [user("Kept"), assistant("Also kept")],
    };
    appendFileSync(own, `${JSON.stringify(compaction)}\n`);
    const opened = SessionManager.open(own, { mode: "read-only" });
    const exported = exportFor("pi", opened, options);
    const path = join(temporaryFolder(), "fork.jsonl");
    writeFileSync(path, exported.files[0]?.bytes ?? "");
    const fork = SessionManager.open(path, { mode: "read-only" });
    expect(fork.buildSessionContext().messages).toEqual(opened.buildSessionContext().messages);
    expect(new TextDecoder().decode(exported.files[0]?.bytes)).not.toContain("retainedTail");
    expect(exportFor("pi", opened, options).files[0]?.bytes).toEqual(exported.files[0]?.bytes);
  });
});
