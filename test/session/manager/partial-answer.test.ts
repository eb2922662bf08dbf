import { spawn } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSessionError, SessionManager } from "sessiontree";
import { mergeSessions } from "sessiontree/catalog";
import { toAnthropic } from "sessiontree/convert";
import { describe, expect, onTestFinished, test } from "vitest";
import { assistant, call, usage, user } from "../../support/messages.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SECRET = "hunter2";

function begin(options: object = {}) {
  const folder = temporaryFolder();
  const session = SessionManager.create(folder, { sessionDir: folder, ...options });
  const question = session.appendMessage(user("Why is the build red?"));
  const path = session.getSessionFile() ?? "";
  return { folder, session, question, path, again: () => SessionManager.open(path) };
}

const half = (text: string) => assistant(text, { stopReason: "pending", usage: usage(7) });

const partials = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".partial"));

describe("a partial answer", () => {
  test("is restored as aborted, with its usage, after the session is opened again", async () => {
    const { folder, session, question, path, again } = begin();
    const before = readFileSync(path, "utf8");
    await session.savePartialAnswer({
      ...half("The lock"),
      content: [...half("The lock").content, call("c1")],
    });
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(partials(folder)).toHaveLength(1);
    // Windows keeps no modes.
    if (process.platform !== "win32")
      expect(statSync(join(folder, partials(folder)[0] ?? "")).mode & 0o777).toBe(0o600);
    const opened = again();
    const answer = await opened.recoverPartialAnswer();
    expect(answer).toMatchObject({ role: "assistant", stopReason: "aborted", usage: { totalTokens: 7 } });
    expect(opened.getEntryCount()).toBe(1);
    if (answer === undefined) return;
    const id = opened.appendMessage(answer);
    expect(opened.getEntry(id)?.parentId).toBe(question);
    expect(toAnthropic(opened.buildSessionContext().messages).messages).toHaveLength(1);
    expect(partials(folder)).toEqual([]);
    expect(await opened.recoverPartialAnswer()).toBeUndefined();
  });

  test("can be recovered again until it is appended or discarded", async () => {
    const { folder, session, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    const opened = again();
    await opened.recoverPartialAnswer();
    const third = again();
    expect(await third.recoverPartialAnswer()).toMatchObject({ content: [{ text: "The lock" }] });
    await third.discardPartialAnswer();
    expect(partials(folder)).toEqual([]);
    expect(await again().recoverPartialAnswer()).toBeUndefined();
  });

  test("is removed once the complete answer is appended", async () => {
    const { folder, session, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    const late = session.savePartialAnswer(half("The lockfile"), { everyMs: 1 });
    session.appendMessage(assistant("The lockfile is old."));
    await late;
    await sleep(20);
    expect(partials(folder)).toEqual([]);
    expect(await again().recoverPartialAnswer()).toBeUndefined();
  });

  test("is saved at most as often as requested, and in the latest state at the end of the interval", async () => {
    const { session, again } = begin();
    const message = half("");
    const text = async () => {
      const [block] = (await again().recoverPartialAnswer())?.content ?? [];
      return block?.type === "text" ? block.text : undefined;
    };
    for (let piece = 0; piece < 50; piece++) {
      message.content = [{ type: "text", text: `Piece ${piece}` }];
      await session.savePartialAnswer(message, { everyMs: 200 });
    }
    expect(await text()).toBe("Piece 0");
    await expect.poll(text, { timeout: 5000 }).toBe("Piece 49");
  });

  test("is saved when the session is closed", async () => {
    const { session, again } = begin();
    await session.savePartialAnswer(half("One"));
    await session.savePartialAnswer(half("Two"), { everyMs: 60_000 });
    await session.close();
    expect(await again().recoverPartialAnswer()).toMatchObject({ content: [{ text: "Two" }] });
  });

  test("belongs to its leaf; elsewhere it is reported", async () => {
    const { session, question, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    const opened = again();
    opened.appendMessage(user("Hello?"));
    expect(await opened.recoverPartialAnswer()).toBeUndefined();
    expect(opened.issues).toMatchObject([{ code: "PARTIAL_ANSWER_LEFT", entryId: question }]);
    expect(await opened.recoverPartialAnswer(question)).toMatchObject({ stopReason: "aborted" });
  });

  test("belongs to the leaf even after a label, a name, or a leaf marker", async () => {
    const { session, question, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    session.appendLabelChange(question, "red");
    session.appendSessionInfo("Build");
    session.persistLeaf();
    expect(await again().recoverPartialAnswer()).toMatchObject({ stopReason: "aborted" });
  });

  test("belongs to its writer: each saves its own, and that of a running process is kept", async () => {
    const { folder, session, again } = begin();
    const other = again();
    await session.savePartialAnswer(half("Ours"));
    await other.savePartialAnswer(half("Theirs"));
    expect(partials(folder)).toHaveLength(2);
    other.appendMessage(assistant("Theirs is done."));
    expect(partials(folder)).toHaveLength(1);
    const [name = ""] = partials(folder);
    const running = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], {
      stdio: "ignore",
    });
    onTestFinished(() => {
      running.kill("SIGKILL");
    });
    renameSync(
      join(folder, name),
      join(
        folder,
        name.replace(`-${process.pid}-`, `-${running.pid}-`).replace(/-\d+-(\d+)\.partial/, "--$1.partial"),
      ),
    );
    const opened = SessionManager.open(session.getSessionFile() ?? "");
    opened.branch(session.getLeafId() ?? "");
    expect(await opened.recoverPartialAnswer()).toBeUndefined();
    expect(opened.issues).toEqual([]);
  });

  test("is kept in memory by a session in memory", async () => {
    const session = SessionManager.inMemory();
    session.appendMessage(user("Hi"));
    await session.savePartialAnswer(half("Hel"));
    expect(await session.recoverPartialAnswer()).toMatchObject({
      content: [{ text: "Hel" }],
      stopReason: "aborted",
    });
    session.appendMessage(assistant("Hello."));
    expect(await session.recoverPartialAnswer()).toBeUndefined();
  });

  test("passes the host's hook first", async () => {
    const { folder, session } = begin({
      beforePersist: (entry: object) => JSON.parse(JSON.stringify(entry).replaceAll(SECRET, "***")),
    });
    await session.savePartialAnswer(half(`It is ${SECRET}.`));
    const [name = ""] = partials(folder);
    expect(readFileSync(join(folder, name), "utf8")).toContain("It is ***.");
  });

  test.each([
    ["torn", (text: string) => text.slice(0, text.length / 2)],
    ["empty", () => ""],
    ["of another version", (text: string) => text.replace('"version":1', '"version":2')],
    ["no message", (text: string) => text.replace('"role":"assistant"', '"role":"user"')],
    ["damaged inside", (text: string) => text.replace(/"content":\[.*?\]/, '"content":7')],
  ])("that is %s is reported, and blocks nothing", async (_what, damage) => {
    const { folder, session, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    const file = join(folder, partials(folder)[0] ?? "");
    writeFileSync(file, damage(readFileSync(file, "utf8")));
    const opened = again();
    expect(await opened.recoverPartialAnswer()).toBeUndefined();
    expect(opened.issues).toMatchObject([{ code: "PARTIAL_ANSWER_LEFT" }]);
    expect(opened.issues[0]?.message).toContain(file);
    opened.appendMessage(assistant("The lockfile."));
    await opened.discardPartialAnswer();
    expect(partials(folder)).toEqual([]);
  });

  test("that is a folder is reported, too", async () => {
    const { folder, session, again } = begin();
    await session.savePartialAnswer(half("The lock"));
    const [name = ""] = partials(folder);
    mkdirSync(join(folder, name.replace(/\d+\.partial/, "99.partial")));
    const opened = again();
    expect(await opened.recoverPartialAnswer()).toMatchObject({ stopReason: "aborted" });
  });

  test("rejects a value that is not an answer, and a read-only session", async () => {
    const { session, path } = begin();
    await expect(session.savePartialAnswer(JSON.parse('{"role":"user","content":"x"}'))).rejects.toThrow(
      TypeError,
    );
    const reader = SessionManager.open(path, { mode: "read-only" });
    await expect(reader.savePartialAnswer(half("x"))).rejects.toSatisfy((error) =>
      isSessionError(error, "READ_ONLY"),
    );
    expect(await reader.recoverPartialAnswer()).toBeUndefined();
  });
});

describe("a partial answer is moved", () => {
  test("with a session whose file gets another name", async () => {
    const { folder, session, path } = begin();
    await session.savePartialAnswer(half("The lock"));
    const renamed = join(folder, "renamed.jsonl");
    renameSync(path, renamed);
    const opened = SessionManager.open(renamed);
    expect(await opened.recoverPartialAnswer()).toMatchObject({ stopReason: "aborted" });
    expect(partials(folder)[0]?.startsWith("renamed.jsonl.")).toBe(true);
  });

  test.each(["redact", "redactText"] as const)("with a redaction (%s)", async (how) => {
    const { folder, session, question, again } = begin();
    await session.savePartialAnswer(half(`It is ${SECRET}.`));
    const opened = again();
    if (how === "redact") opened.redactEntry(question);
    else expect(await opened.redactText(SECRET)).toMatchObject({ isFound: true });
    const left = partials(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(left.join()).not.toContain(SECRET);
  });

  test("not with a fork, and not with a merge", async () => {
    const { folder, session, path } = begin();
    await session.savePartialAnswer(half("The lock"));
    const fork = SessionManager.forkFrom(path, folder, { sessionDir: folder });
    expect(await fork.recoverPartialAnswer()).toBeUndefined();
    expect(fork.issues).toEqual([]);
    const copy = join(temporaryFolder(), "copy.jsonl");
    copyFileSync(path, copy);
    const to = join(folder, "merged.jsonl");
    mergeSessions(path, copy, { to });
    const merged = SessionManager.open(to);
    expect(merged.getSessionId()).toBe(session.getSessionId());
    expect(await merged.recoverPartialAnswer()).toBeUndefined();
    expect(partials(folder)).toHaveLength(1);
  });
});
