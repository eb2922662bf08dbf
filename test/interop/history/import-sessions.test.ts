import { existsSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { expect, test } from "vitest";
import { isSessionError } from "../../../src/core/format/errors.ts";
import { previewImport, type SessionImport } from "../../../src/interop/history/import-sessions.ts";
import { makeClaudeFolderName } from "../../../src/interop/history/sources/claude-code.ts";
import { collectStats } from "../../../src/session/controller/stats.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import type { SessionStore } from "../../../src/stores/contract/session-store.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { memoryStore } from "../../../src/stores/remote/remote-store.ts";
import { overwrite } from "../../support/opened-files.ts";
import {
  type ClaudeRecord,
  call,
  joinLines,
  part,
  record,
  result,
  SESSION_ID,
  text,
  user,
  uuid,
} from "../import/support/claude-records.ts";
import {
  call as codexCall,
  compacted,
  event,
  meta,
  numbered,
  output,
  said,
  THREAD_ID,
  turn,
  usage,
} from "../import/support/codex-records.ts";
import { Places } from "./support/places.ts";

const CLAUDE_PATH = `.claude/projects/-code-project/${SESSION_ID}.jsonl`;
const CODEX_PATH = `.codex/sessions/2026/11/22/rollout-2026-11-22T05-00-00-${THREAD_ID}.jsonl`;

/** A conversation with everything that changes earlier records: parallel results, a rewind, a compaction, names, notes. */
function conversation(): ClaudeRecord[] {
  return [
    { type: "mode", mode: "normal", sessionId: SESSION_ID },
    user("q", null, "hello"),
    record("attachment", "x1", "q", { attachment: { type: "date" } }),
    part("a1", "x1", "msg_1", text("two at once"), { output: 1 }),
    part("a2", "a1", "msg_1", call("t1"), { output: 5 }),
    part("a3", "a2", "msg_1", call("t2"), { output: 9, stop: "tool_use" }),
    result("r1", "a2", "t1", "1"),
    record("attachment", "x2", "r1", { attachment: { type: "hook" } }),
    result("r2", "a3", "t2", "2"),
    part("a4", "r2", "msg_2", text("both")),
    { type: "ai-title", aiTitle: "Two at once", sessionId: SESSION_ID },
    user("p2", "a4", "abandoned"),
    part("b1", "p2", "msg_3", text("gone")),
    user("p3", "a4", "instead"),
    part("c1", "p3", "msg_4", text("kept")),
    user("b", "c1", "<bash-input>ls</bash-input>"),
    user("bo", "b", "<bash-stdout>a</bash-stdout>"),
    record("system", "k", null, {
      subtype: "compact_boundary",
      logicalParentUuid: uuid("bo"),
      compactMetadata: { preTokens: 9, preservedMessages: { anchorUuid: uuid("s"), uuids: [uuid("c1")] } },
    }),
    user("s", "k", "summary", { isCompactSummary: true }),
    user("p4", "s", "go on"),
    part("d1", "p4", "msg_5", text("done")),
  ];
}

function thread() {
  return numbered([
    meta({ history_mode: "paginated" }),
    ...turn("one", codexCall("c1"), output("c1", "x"), usage("r1", { total_tokens: 5, output_tokens: 5 })),
    event("task_started"),
    said("assistant", "in short"),
    usage("r3", { total_tokens: 5, output_tokens: 5 }),
    compacted("They said: in short", [said("user", "They said: in short").payload].map(Object)),
    ...turn("two", said("assistant", "2"), usage("r2", { total_tokens: 5, output_tokens: 5 })),
  ]);
}

/** Returns a session's lines without the count that only the first import recorded. */
function withoutCounts(file: string | undefined): string {
  return (file ?? "").replace(/"counts":\{[^}]*\}/, "");
}

test("reports a source without a message on every run, and creates a session from its first message", async () => {
  const places = new Places();
  const notice = record("system", "n", null, { content: "Welcome back." });
  places.put(CLAUDE_PATH, joinLines([notice]));
  for (const _run of ["new", "known"]) {
    const [one, ...others] = await places.import();
    expect(one).toMatchObject({ source: "claude-code", status: "empty", path: null, counts: { records: 0 } });
    expect(others).toEqual([]);
    expect(existsSync(places.sessions)).toBe(false);
  }
  places.put(CLAUDE_PATH, joinLines([notice, user("q", "n", "hello")]));
  expect(await places.import()).toMatchObject([{ status: "new" }]);
});

test.each([
  ["Claude Code", CLAUDE_PATH, joinLines(conversation())],
  ["Codex", CODEX_PATH, joinLines(thread())],
])("makes the same bytes in three steps as in one, wherever a file of %s is cut", async (_, path, whole) => {
  const atOnce = new Places();
  const source = atOnce.put(path, whole);
  await atOnce.import();
  const [[name, expected] = ["", ""]] = atOnce.files();
  const bytes = Buffer.from(whole);
  const ends = [...whole.matchAll(/\n/g)].map(({ index }) => Buffer.byteLength(whole.slice(0, index + 1)));
  for (const [i, end] of ends.entries()) {
    // Between two records, and in the middle of one.
    for (const cut of [end, end - 20]) {
      rmSync(atOnce.sessions, { recursive: true });
      const later = ends[Math.min(i + 3, ends.length - 1)] ?? end;
      for (const size of [cut, later, bytes.length]) {
        writeFileSync(source, bytes.subarray(0, size));
        await atOnce.import();
      }
      expect(withoutCounts(atOnce.files().get(name)), `cut at ${cut}`).toBe(withoutCounts(expected));
    }
  }
});

test("only appends to a session that grows by whole turns", async () => {
  const places = new Places();
  const records = conversation();
  let before = "";
  for (const count of [10, 13, 15, 17, records.length]) {
    places.put(CLAUDE_PATH, joinLines(records.slice(0, count)));
    const [one] = await places.import();
    expect(one?.status).toBe(before === "" ? "new" : "grown");
    const [file = ""] = places.files().values();
    expect(file.startsWith(before)).toBe(true);
    before = file;
  }
});

test("writes and reads nothing on a second run, and writes nothing without the cache", async () => {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(conversation()));
  places.put(CODEX_PATH, joinLines(thread()));
  const first = await places.import();
  const state = () => [...places.files().keys()].map((name) => statSync(join(places.sessions, name)));
  const marks = state().map(({ ino, mtimeMs, size }) => ({ ino, mtimeMs, size }));
  const second = await places.import();
  expect(second).toEqual(first.map((one) => ({ ...one, status: "unchanged" })));
  rmSync(places.cacheDir, { recursive: true });
  expect((await places.import({ now: () => Date.UTC(2028, 0, 1) })).map(({ status }) => status)).toEqual([
    "unchanged",
    "unchanged",
  ]);
  expect(state()).toMatchObject(marks);
});

test("re-reads a source that was rewritten in place with the same size and a restored modification time", async () => {
  const places = new Places();
  const path = places.put(CLAUDE_PATH, joinLines([user("q", null, "the key is hunter2")]));
  // A time that can be restored exactly.
  utimesSync(path, 1, 1);
  await places.import();
  overwrite(path, "hunter2", "_______");
  await places.import();
  expect([...places.files().values()].join("")).toContain("the key is _______");
});

test("keeps what was added here as the leaf of a continued session, and adds what is new as another branch", async () => {
  const places = new Places();
  const records = conversation();
  places.put(CLAUDE_PATH, joinLines(records.slice(0, 5)));
  const [one] = await places.import();
  const path = one?.path ?? "";
  const session = SessionManager.open(path);
  const mine = session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  const continued = readFileSync(path, "utf8");
  for (const count of [12, records.length]) {
    places.put(CLAUDE_PATH, joinLines(records.slice(0, count)));
    expect((await places.import())[0]?.status).toBe("grown");
  }
  expect(readFileSync(path, "utf8").startsWith(continued)).toBe(true);
  const after = SessionManager.open(path, { mode: "read-only" });
  expect(after.issues).toEqual([]);
  expect(after.getBranch().map(({ id }) => id)).toContain(mine);
  const texts = after.getEntries().map((entry) => JSON.stringify(entry));
  // The message had one call when it was continued and has two now: both exist, with all that followed.
  expect(texts.filter((line) => line.includes('"responseId":"msg_1"'))).toHaveLength(2);
  for (const id of ["msg_2", "msg_3", "msg_4", "msg_5"]) {
    expect(texts.filter((line) => line.includes(`"responseId":"${id}"`))).toHaveLength(1);
  }
  await after.close();
  rmSync(places.cacheDir, { recursive: true });
  expect((await places.import())[0]?.status).toBe("unchanged");
});

test("finds and completes a session whose file was moved or whose import was interrupted", async () => {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(conversation().slice(0, 10)));
  const [one] = await places.import();
  const path = one?.path ?? "";
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.length - 30));
  rmSync(places.cacheDir, { recursive: true });
  await places.import();
  expect(readFileSync(path)).toEqual(whole);
  const moved = join(places.sessions, `renamed_${SESSION_ID}.jsonl`);
  renameSync(path, moved);
  places.put(CLAUDE_PATH, joinLines(conversation()));
  expect((await places.import())[0]).toMatchObject({ status: "grown", path: moved });
});

test("reports what would be done, and does nothing, in a dry run", async () => {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(conversation()));
  const [one] = await places.import({ dryRun: true });
  expect(one).toMatchObject({
    status: "new",
    path: null,
    id: SESSION_ID,
    sourceId: SESSION_ID,
    source: "claude-code",
  });
  expect(() => places.files()).toThrow("ENOENT");
  const preview = {
    store: fileStore({ sessionDir: places.sessions }),
    env: { HOME: places.home },
    cacheDir: places.cacheDir,
  };
  const row = { source: "claude-code", cwd: "/code/project", sessions: 1 };
  expect(await previewImport(preview)).toEqual([{ ...row, changed: 1 }]);
  await places.import();
  expect(await previewImport(preview)).toEqual([{ ...row, changed: 0 }]);
});

test("imports into `sessionDir` as into a file store of that folder, and rejects two targets", async () => {
  const places = new Places();
  const transcript = places.put(CLAUDE_PATH, joinLines(conversation()));
  const sessionDir = places.sessions;
  const [one] = await places.import({ sessionDir, paths: [transcript] });
  expect(one?.status).toBe("new");
  expect([...places.files().keys()].map((name) => join(sessionDir, name))).toEqual([one?.path]);
  expect(await places.import()).toMatchObject([{ status: "unchanged", path: one?.path }]);
  await expect(places.import({ sessionDir, store: memoryStore() })).rejects.toThrow(
    "sessionDir or store, but not both",
  );
});

test("filters sessions by program, project, and time, and finds them in the folders of variables", async () => {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(conversation()));
  places.put(CODEX_PATH, joinLines(thread()));
  const sourcesOf = async (more: Parameters<Places["import"]>[0]) =>
    (await places.import({ dryRun: true, ...more })).map(({ source }) => source);
  expect(await sourcesOf({})).toEqual(["codex", "claude-code"]);
  expect(await sourcesOf({ sources: ["codex"] })).toEqual(["codex"]);
  expect(await sourcesOf({ project: "/code/elsewhere" })).toEqual([]);
  expect(await sourcesOf({ project: "/code/project" })).toEqual(["codex", "claude-code"]);
  expect(await sourcesOf({ sinceMs: Date.now() + 60_000 })).toEqual([]);
  expect(await sourcesOf({ env: { HOME: "/nowhere", CODEX_HOME: join(places.home, ".codex") } })).toEqual([
    "codex",
  ]);
  const claude = `${join(places.home, "none")}, ${join(places.home, ".claude")}`;
  expect(await sourcesOf({ env: { HOME: "/nowhere", CLAUDE_CONFIG_DIR: claude } })).toEqual(["claude-code"]);
  expect(await sourcesOf({ paths: [join(places.home, CODEX_PATH)] })).toEqual(["codex"]);
});

test("names a fork's parent file, and counts there what the fork copied", async () => {
  const places = new Places();
  const records = conversation().slice(0, 10);
  const forkId = "99999999-2222-4333-8444-555555555555";
  const copied = records.map((one) => (one["sessionId"] === undefined ? one : { ...one, sessionId: forkId }));
  const begun = { type: "queue-operation", timestamp: "2026-11-22T09:00:00.000Z", sessionId: forkId };
  places.put(CLAUDE_PATH, joinLines(records));
  const own = [
    user("f", "a4", "in the fork", { sessionId: forkId }),
    part("g", "f", "msg_f", text("yes"), { output: 77, sessionId: forkId }),
  ];
  places.put(`.claude/projects/-code-project/${forkId}.jsonl`, joinLines([begun, ...copied, ...own]));
  const found = await places.import();
  const [parent, fork] = found.map(({ path }) => SessionManager.open(path ?? "", { mode: "read-only" }));
  expect(fork?.getHeader()?.parentSession).toBe(parent?.getSessionFile());
  if (fork === undefined) throw new Error("no fork");
  const stats = collectStats({ session: fork, counter: undefined, nowMs: 0, isInherited: undefined }, {});
  expect(stats.usage.output).toBe(77);
  expect(stats.inherited.usage.output).toBe(9 + 10);
});

test("names a fork's parent even if it starts with a compaction or nothing before it has a time", async () => {
  const places = new Places();
  const [q, ...rest] = conversation().slice(1);
  const original = [q, ...rest].map(Object);
  const put = (id: string, records: readonly object[]) =>
    places.put(
      `.claude/projects/-code-project/${id}.jsonl`,
      joinLines(records.map((one) => ({ ...one, sessionId: id }))),
    );
  const snapshot = (messageId: string) => ({ type: "file-history-snapshot", messageId, snapshot: {} });
  put(SESSION_ID, [snapshot(uuid("q")), ...original]);
  const compacted = original.slice(original.findIndex(({ uuid: id }) => id === uuid("k")));
  const one = "99999999-2222-4333-8444-555555555555";
  const two = "99999999-2222-4333-8444-666666666666";
  put(one, [{ type: "mode" }, ...compacted, user("f1", "d1", "in one fork")]);
  put(two, [snapshot(uuid("f2")), ...original, user("f2", "d1", "in another")]);
  // A fork of a fork, started after it.
  const three = "99999999-2222-4333-8444-777777777777";
  const later = { timestamp: "2026-11-22T23:00:00.000Z" };
  const own = user("f2", "d1", "in another");
  put(three, [
    { ...snapshot(uuid("f3")), snapshot: later },
    ...original,
    own,
    user("f3", "f2", "in a third"),
  ]);
  const found = await places.import();
  const pathOf = (id: string) => found.find((session) => session.id === id)?.path ?? "";
  for (const [id, parent] of [
    [one, SESSION_ID],
    [two, SESSION_ID],
    [three, two],
  ] as const) {
    const [header = ""] = readFileSync(pathOf(id), "utf8").split("\n");
    expect(JSON.parse(header)).toMatchObject({ parentSession: pathOf(parent) });
  }
  expect(readFileSync(pathOf(SESSION_ID), "utf8")).not.toContain("parentSession");
});

test("writes subagents to separate files, wherever the program keeps theirs", async () => {
  const places = new Places();
  const side = { isSidechain: true, agentId: "abc" };
  const agent = joinLines([user("u1", null, "look", side), part("v1", "u1", "msg_s", text("seen"), side)]);
  places.put(CLAUDE_PATH, joinLines(conversation()));
  const folder = CLAUDE_PATH.replace(/\.jsonl$/, "");
  places.put(`${folder}/subagents/deep/agent-abc.jsonl`, agent);
  places.put(
    `${folder}/subagents/deep/agent-abc.meta.json`,
    JSON.stringify({ toolUseId: "t1", agentType: "Explore" }),
  );
  places.put(`${folder}/subagents/journal.jsonl`, "{}\n");
  places.put(".claude/projects/-code-project/agent-old.jsonl", agent.replaceAll('"abc"', '"old"'));
  const [main, ...agents] = await places.import();
  expect(agents.map(({ id }) => id).sort()).toEqual([`agent-abc.${SESSION_ID}`, `agent-old.${SESSION_ID}`]);
  const session = SessionManager.open(agents.find(({ id }) => id.startsWith("agent-abc"))?.path ?? "", {
    mode: "read-only",
  });
  expect(session.getHeader()?.parentSession).toBe(main?.path);
  expect(session.getEntries()[1]).toMatchObject({
    data: { agentId: "abc", toolCallId: "t1", agentType: "Explore" },
  });
});

test("names the parent subagent's file as the parent of a nested subagent, at the first import, too", async () => {
  const places = new Places();
  const folder = `${CLAUDE_PATH.replace(/\.jsonl$/, "")}/subagents`;
  const records = (agentId: string, block: object) => {
    const side = { isSidechain: true, agentId };
    return joinLines([
      user(`u${agentId}`, null, "look", side),
      part(`v${agentId}`, `u${agentId}`, agentId, block, side),
    ]);
  };
  places.put(CLAUDE_PATH, joinLines(conversation()));
  places.put(`${folder}/agent-z.jsonl`, records("z", call("t9", "Agent")));
  places.put(`${folder}/agent-a.jsonl`, records("a", text("seen")));
  places.put(`${folder}/agent-a.meta.json`, JSON.stringify({ toolUseId: "t9" }));
  const found = await places.import();
  const pathOf = (id: string) => found.find((one) => one.id.startsWith(id))?.path ?? "";
  const parentOf = (path: string) =>
    SessionManager.open(path, { mode: "read-only" }).getHeader()?.parentSession;
  expect(parentOf(pathOf("agent-a."))).toBe(pathOf("agent-z."));
  expect(parentOf(pathOf("agent-z."))).toBe(pathOf(SESSION_ID));
});

test("appends what is new to a store, too, and keeps what was continued there", async () => {
  const places = new Places();
  const store = memoryStore();
  const into = { store, storeName: "memory" };
  const records = conversation();
  places.put(CLAUDE_PATH, joinLines(records.slice(0, 10)));
  expect(await places.import(into)).toMatchObject([{ status: "new", path: SESSION_ID }]);
  expect(await places.import(into)).toMatchObject([{ status: "unchanged" }]);
  places.put(CLAUDE_PATH, joinLines(records.slice(0, 13)));
  expect(await places.import(into)).toMatchObject([{ status: "grown" }]);
  const session = await store.open(SESSION_ID);
  const mine = session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  places.put(CLAUDE_PATH, joinLines(records));
  expect(await places.import(into)).toMatchObject([{ status: "grown" }]);
  const after = await store.open(SESSION_ID);
  expect(after.issues).toEqual([]);
  expect(after.getBranch().map(({ id }) => id)).toContain(mine);
  expect(JSON.stringify(after.getEntries())).toContain("msg_5");
  await store.close();
});

test("reads Codex's list of names, its archive, and compressed files", async (context) => {
  const places = new Places();
  const archived = CODEX_PATH.replace("sessions/2026/11/22", "archived_sessions");
  places.put(archived, joinLines(thread()));
  places.put(
    ".codex/session_index.jsonl",
    joinLines([
      { id: THREAD_ID, thread_name: "Old" },
      { id: THREAD_ID, thread_name: "New" },
    ]),
  );
  const [one] = await places.import();
  expect(readFileSync(one?.path ?? "", "utf8")).toContain('"name":"New"');
  // The same file under both folders is one session.
  places.put(CODEX_PATH, joinLines(thread()));
  expect(await places.import()).toHaveLength(1);
  rmSync(join(places.home, ".codex"), { recursive: true });
  const { zstdCompressSync } = Object(zlib);
  if (typeof zstdCompressSync !== "function") {
    places.put(`${CODEX_PATH}.zst`, "packed");
    const skipped: unknown[] = [];
    expect(await places.import({ onSkipped: (_, error) => skipped.push(error) })).toEqual([]);
    expect(skipped).toHaveLength(1);
    expect(isSessionError(skipped[0], "NOT_A_SESSION")).toBe(true);
    context.skip("this version of Node cannot pack with zstd: only the refusal was tested");
    return;
  }
  places.put(`${CODEX_PATH}.zst`, zstdCompressSync(Buffer.from(joinLines(thread()))));
  expect(await places.import()).toMatchObject([{ source: "codex", sourceId: THREAD_ID }]);
});

test("reads the single JSON object of the first Codex versions, in any spelling", async () => {
  const places = new Places();
  const items = thread().flatMap(({ type, payload }) => (type === "response_item" ? [payload] : []));
  const document = {
    session: { id: THREAD_ID, timestamp: "2025-04-20T05:00:00.000Z", instructions: "" },
    items,
  };
  const path = ".codex/sessions/rollout-2025-04-20-x.json";
  places.put(path, JSON.stringify(document));
  const [one] = await places.import();
  expect(one).toMatchObject({ source: "codex", sourceId: THREAD_ID, issues: [], counts: { toolResults: 1 } });
  places.put(path, JSON.stringify(document, null, 2));
  expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
});

test("imports a named file of messages as it grows, and keeps the time of its first import", async () => {
  const places = new Places();
  const messages = [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ];
  const path = places.put("chats/my chat.json", JSON.stringify(messages, null, 2));
  places.put(".gemini/tmp/p/checkpoint-a.json", JSON.stringify([{ role: "model", parts: [{ text: "x" }] }]));
  expect(await places.import()).toEqual([]);
  const [one] = await places.import({ paths: [path] });
  expect(one).toMatchObject({ source: "messages", status: "new", counts: { entries: 3 }, issues: [] });
  const before = readFileSync(one?.path ?? "", "utf8");
  utimesSync(places.put("chats/my chat.json", JSON.stringify([...messages, messages[0]])), 1, 1);
  expect(await places.import({ paths: [path] })).toMatchObject([{ status: "grown", path: one?.path }]);
  const after = readFileSync(one?.path ?? "", "utf8");
  expect(after.startsWith(before)).toBe(true);
  expect(after.split("\n")).toHaveLength(6);
  const skipped: unknown[] = [];
  writeFileSync(path, JSON.stringify([{ role: "wizard", content: "x" }]));
  expect(await places.import({ paths: [path], onSkipped: (_, error) => skipped.push(error) })).toEqual([]);
  expect(isSessionError(skipped[0], "NOT_A_SESSION")).toBe(true);
});

/** Returns the messages on the path to the leaf. */
async function saidAt(store: SessionStore, one: SessionImport | undefined) {
  const session = await store.open(one?.id ?? "", { mode: "read-only" });
  expect(session.issues).toEqual([]);
  const said = session.buildSessionContext().messages.map((message) => String(Object(message).content));
  const count = session.getEntries().length;
  await session.close();
  return { said, count };
}

test.each(["files", "a store"])(
  "moves the leaf to the new end of a changed message array in %s, and keeps the old messages",
  async (kind) => {
    const places = new Places();
    const store = kind === "files" ? fileStore({ sessionDir: places.sessions }) : memoryStore();
    const into = { store, storeName: "memory" };
    const changes = [
      "a b c d e f",
      "a b X d e f",
      "a b c d e f",
      "a b",
      "a b X d e f g",
      "a b c d e f",
      "a b c d e f h",
    ];
    const counts: number[] = [];
    for (const words of changes) {
      const said = words.split(" ");
      const messages = said.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
      const path = places.put("chat.json", JSON.stringify({ id: "chat", messages }));
      const [one] = await places.import({ paths: [path], ...into });
      const found = await saidAt(store, one);
      // An assistant's content is blocks, of which only the presence is checked here.
      expect(found.said.filter((_, i) => i % 2 === 0)).toEqual(said.filter((_, i) => i % 2 === 0));
      expect(found.said).toHaveLength(said.length);
      counts.push(found.count);
      rmSync(places.cacheDir, { recursive: true });
      const again = await places.import({ paths: [path], ...into });
      expect(again).toMatchObject([{ status: "unchanged" }]);
    }
    // The entry of the import, then messages, and markers where a leaf moves back.
    expect(counts).toEqual([7, 7 + 4, 12, 13, 14, 15, 16]);
  },
);

test("leaves the leaf unchanged where a session of a changed message array was continued here", async () => {
  const places = new Places();
  const put = (...said: string[]) =>
    places.put(
      "chat.json",
      JSON.stringify({ id: "chat", messages: said.map((content) => ({ role: "user", content })) }),
    );
  const paths = [put("a", "b", "c")];
  const [one] = await places.import({ paths });
  const session = SessionManager.open(one?.path ?? "");
  session.appendMessage({ role: "user", content: "mine", timestamp: 0 });
  await session.close();
  for (const changed of [["a", "X", "c"], ["a"], ["a", "X", "c", "d"]]) {
    put(...changed);
    await places.import({ paths });
    const { said } = await saidAt(fileStore({ sessionDir: places.sessions }), one);
    expect(said).toEqual(["a", "b", "c", "mine"]);
  }
});

test("uses the folder's working directory if no record names one", async () => {
  const places = new Places();
  const bare = conversation().map(({ cwd: _, ...one }) => one);
  places.put(CLAUDE_PATH, joinLines(bare));
  places.put(".claude.json", JSON.stringify({ projects: { "/code.project": {} } }));
  const [one] = await places.import();
  expect(readFileSync(one?.path ?? "", "utf8").split("\n")[0]).toContain('"cwd":"/code.project"');
  expect(makeClaudeFolderName("/code.project")).toBe("-code-project");
  expect(makeClaudeFolderName(`/${"x".repeat(250)}`)).toMatch(/^-x{199}-[0-9a-z]+$/);
});

test("throws when aborted, and the next import continues", async () => {
  const places = new Places();
  places.put(CLAUDE_PATH, joinLines(conversation()));
  const controller = new AbortController();
  controller.abort();
  await expect(places.import({ signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
  expect(await places.import()).toMatchObject([{ status: "new" }]);
});

const geminiMessage = (id: string, type = "user") => ({
  id,
  type,
  content: id,
  timestamp: `2026-11-22T05:00:0${id.slice(1)}.000Z`,
});

test("merges both files of a session that Gemini CLI resumed in its new format, and keeps its ids", async () => {
  const places = new Places();
  const head = { sessionId: "g1", projectHash: "hash", startTime: "2026-11-22T05:00:00.000Z" };
  const old = [geminiMessage("m1"), geminiMessage("m2", "gemini")];
  const chats = ".gemini/tmp/hash/chats";
  places.put(`${chats}/session-x.json`, JSON.stringify({ ...head, messages: old }));
  const [first] = await places.import();
  const before = readFileSync(first?.path ?? "", "utf8");
  const added = [geminiMessage("m3"), geminiMessage("m4", "gemini")];
  for (const resumed of [[...old, ...added], added, [old[1], ...added]]) {
    places.put(`${chats}/session-x.jsonl`, joinLines([head, ...resumed]));
    rmSync(places.sessions, { recursive: true });
    const [one] = await places.import();
    const text = readFileSync(one?.path ?? "", "utf8");
    const ids = (of: string) => [...of.matchAll(/"id":"([^"]+)","parentId"/g)].map(([, id]) => id);
    expect(ids(text).slice(0, 3)).toEqual(ids(before));
    const session = SessionManager.open(one?.path ?? "", { mode: "read-only" });
    expect(session.buildSessionContext().messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(one).toMatchObject({ issues: [], counts: { entries: 5 } });
    const { records = 0, mapped, kept, dropped } = one?.counts ?? {};
    expect((mapped ?? 0) + (kept ?? 0) + (dropped ?? 0)).toBe(records);
  }
  // Differences after a shared message are branches, and the newer end is the leaf.
  places.put(`${chats}/session-x.json`, JSON.stringify({ ...head, messages: [...old, geminiMessage("m9")] }));
  places.put(`${chats}/session-x.jsonl`, joinLines([head, ...old, ...added]));
  rmSync(places.sessions, { recursive: true });
  const [one] = await places.import();
  const session = SessionManager.open(one?.path ?? "", { mode: "read-only" });
  expect(session.buildSessionContext().messages).toHaveLength(3);
  expect(one?.counts.userMessages).toBe(3);
});

test("imports the larger of two files with one id in two project folders, and reports the other's extra content", async () => {
  const places = new Places();
  const records = conversation();
  const other = CLAUDE_PATH.replace("-code-project", "-code-other");
  places.put(CLAUDE_PATH, joinLines(records));
  const copy = places.put(other, joinLines(records.slice(0, 4)));
  expect(await places.import()).toMatchObject([{ status: "new", issues: [] }]);
  places.put(other, joinLines([...records.slice(0, 4), user("z", "a1", "elsewhere")]));
  const [one] = await places.import();
  expect(one?.issues).toMatchObject([{ code: "SOURCE_LEFT_OUT" }]);
  expect(one?.issues[0]?.message).toContain(`1 record of ${copy}`);
});

test("imports the larger of two message files with one id, and reports the other", async () => {
  const places = new Places();
  const chat = (...said: string[]) =>
    JSON.stringify({ id: "chat", messages: said.map((content) => ({ role: "user", content })) });
  const paths = [places.put("a.json", chat("a")), places.put("b.json", chat("a", "b"))];
  const [one, ...others] = await places.import({ paths });
  expect(others).toEqual([]);
  expect(one).toMatchObject({ counts: { userMessages: 2 }, issues: [{ code: "SOURCE_LEFT_OUT" }] });
  expect(one?.issues[0]?.message).toContain(paths[0]);
});

test("imports the longest of several copies of a rollout, wherever it is", async () => {
  const places = new Places();
  const records = thread();
  const longer = [...records, said("assistant", "only in the archive")];
  places.put(CODEX_PATH, joinLines(records));
  places.put(CODEX_PATH.replace("sessions/2026/11/22", "archived_sessions"), joinLines(longer));
  const [one, ...others] = await places.import();
  expect(others).toEqual([]);
  expect(readFileSync(one?.path ?? "", "utf8")).toContain("only in the archive");
});
