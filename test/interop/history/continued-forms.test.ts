import { readFileSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { deleteSession } from "../../../src/catalog/trash/trash.ts";
import { getTexts } from "../../../src/core/context/content-text.ts";
import { getMessageFields } from "../../../src/core/context/entry-fields.ts";
import { importSessions, previewImport } from "../../../src/interop/history/import-sessions.ts";
import { findLost } from "../../../src/interop/history/lost-sessions.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { fileStore } from "../../../src/stores/file/file-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { call, joinLines, part, result, text, user } from "../import/support/claude-records.ts";
import { type Continuation, exportFrom, importAll, makeOriginal } from "./support/continuations.ts";
import { DATA, ProgramsDatabase, SCHEMA } from "./support/opencode-database.ts";
import { Places } from "./support/places.ts";
import { forget } from "./support/transcript.ts";

beforeEach(() => {
  vi.stubEnv("XDG_DATA_HOME", temporaryFolder());
});

const ORIGINAL = ["Where is the leak?", "I look.", "a tap", "It is the tap."];
const OTHER_ID = "0199d8e6-ffff-4000-8000-00000000ffff";

function open(path: string): SessionManager {
  return SessionManager.open(path, { mode: "read-only" });
}

function saidOn(session: SessionManager, leafId?: string): string[] {
  return session.getBranch(leafId).flatMap((entry) => {
    const { content } = getMessageFields(entry);
    return content === undefined ? [] : [getTexts(content).join("")];
  });
}

function saidAt(path: string): string[] {
  return saidOn(open(path));
}

/** Returns the texts on the path to the entry that contains a text. */
function saidUntil(path: string, text: string): string[] {
  const session = open(path);
  const entry = session.getEntries().find((one) => getTexts(getMessageFields(one).content).join("") === text);
  return saidOn(session, entry?.id);
}

function readRecords({ path }: Pick<Continuation, "path">): { [field: string]: unknown }[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Writes a file next to a continuation's, as a program does when it forks the session. */
function putBeside(places: Places, { path }: Continuation, name: string, records: readonly object[]): void {
  places.put(`${dirname(path).slice(places.home.length + 1)}/${name}`, joinLines(records));
}

test("joins a Claude Code fork, which copies no record of the original, as another branch", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "claude-code", path);
  continuation.addTurn("There.");
  const copied = readRecords(continuation).filter(({ uuid }) => uuid !== undefined);
  const mode = { type: "mode", mode: "normal", sessionId: OTHER_ID, timestamp: "2026-11-23T20:00:00.000Z" };
  putBeside(places, continuation, `${OTHER_ID}.jsonl`, [
    mode,
    ...copied.map((one) => ({ ...one, sessionId: OTHER_ID })),
    ...[{ ...copied.at(-2), uuid: "11111111-0000-4000-8000-000000000000" }].map((one) => ({
      ...one,
      sessionId: OTHER_ID,
      parentUuid: copied.at(-1)?.["uuid"],
      message: { role: "user", content: "In the fork." },
    })),
  ]);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["grown", "grown"]);
  expect(places.files().size).toBe(1);
  expect(saidUntil(path, "In the fork.")).toEqual([...ORIGINAL, "There.", "done: There.", "In the fork."]);
  const said = open(path)
    .getEntries()
    .filter((entry) => getTexts(getMessageFields(entry).content).join("") === "done: There.");
  expect(said).toHaveLength(1);
  forget(places);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
});

test("joins a Claude Code answer once all its parts exist", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "claude-code", path);
  const last = readRecords(continuation).findLast(({ uuid }) => uuid !== undefined)?.["uuid"];
  const parts = [
    user("nq", null, "Next.", { parentUuid: last }),
    part("na", "nq", "msg_n", { type: "thinking", thinking: "Hm.", signature: "s" }, { stop: "tool_use" }),
    part("nb", "na", "msg_n", text("I see."), { stop: "tool_use" }),
    part("nc", "nb", "msg_n", call("t9"), { stop: "tool_use" }),
    result("nr", "nc", "t9", "wet"),
  ];
  const statuses: unknown[] = [];
  for (const one of parts) {
    continuation.append([{ ...one, sessionId: continuation.id }]);
    for (const { status } of await importAll(places)) statuses.push(status);
  }
  expect(statuses).toEqual(["grown", "unchanged", "unchanged", "grown", "grown"]);
  expect(saidAt(path)).toEqual([...ORIGINAL, "Next.", "I see.", "wet"]);
  const said = open(path)
    .getEntries()
    .filter(({ type }) => type === "message");
  expect(said).toHaveLength(ORIGINAL.length + 3);
});

test("assigns a continuation's subagent to the original session", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "claude-code", path);
  continuation.addTurn("There.");
  const agent = user("sq", null, "Look.", { agentId: "b1", isSidechain: true, sessionId: continuation.id });
  putBeside(places, continuation, `${continuation.id}/subagents/agent-b1.jsonl`, [agent]);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["grown", "new"]);
  const [, other] = await importAll(places);
  expect(open(other?.path ?? "").getHeader()).toMatchObject({ parentSession: path });
  await deleteSession(path, { permanent: true });
  await deleteSession(other?.path ?? "", { permanent: true });
  forget(places);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["deleted", "deleted"]);
});

test("keeps prompts of a continuation whose transcript was deleted", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "claude-code", path);
  continuation.addTurn("There.");
  const typed = { display: "There.", timestamp: 1, project: "/code/project" };
  places.put(".claude/history.jsonl", joinLines([{ ...typed, sessionId: continuation.id }]));
  await importAll(places);
  rmSync(continuation.path);
  const options = {
    store: fileStore({ sessionDir: places.sessions }),
    env: { HOME: places.home },
    cacheDir: places.cacheDir,
  };
  expect(await findLost(options)).toEqual([]);
  forget(places);
  expect(await findLost(options)).toHaveLength(1);
});

test("joins a Codex fork, which copies all lines with new times, as another branch", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "codex", path);
  continuation.addTurn("There.");
  await importAll(places);
  const timestamp = "2026-11-23T20:00:00.000Z";
  const [meta, ...rest] = readRecords(continuation).map((one) => ({ ...one, timestamp }));
  const own = { ...Object(meta).payload, id: OTHER_ID, forked_from_id: continuation.id, timestamp };
  const later = "2026-11-23T21:00:00.000Z";
  const content = [{ type: "input_text", text: "In the fork." }];
  const name = basename(continuation.path).replace(continuation.id, OTHER_ID);
  putBeside(places, continuation, name, [
    { timestamp, type: "session_meta", payload: own },
    { ...meta },
    ...rest,
    { timestamp: later, type: "session_meta", payload: own },
    { timestamp: later, type: "response_item", payload: { type: "message", role: "user", content } },
  ]);
  expect((await importAll(places)).map(({ status }) => status).sort()).toEqual(["grown", "unchanged"]);
  expect(places.files().size).toBe(1);
  expect(saidUntil(path, "In the fork.")).toEqual([...ORIGINAL, "There.", "done: There.", "In the fork."]);
  const texts = open(path)
    .getEntries()
    .map((entry) => getTexts(getMessageFields(entry).content).join(""));
  expect(texts.filter((text) => text === "done: There.")).toHaveLength(1);
  forget(places);
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
});

test("stores what follows a rollback of copied turns as a branch from before them", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const session = SessionManager.open(path);
  session.appendMessage({ role: "user", content: "Thanks.", timestamp: Date.UTC(2026, 10, 22, 6) });
  await session.close();
  const continuation = exportFrom(places, "codex", path);
  const payload = { type: "thread_rolled_back", num_turns: 1 };
  continuation.append([{ timestamp: "2026-11-23T12:00:00.000Z", type: "event_msg", payload }]);
  continuation.addTurn("There.");
  await importAll(places);
  expect(saidAt(path)).toEqual([...ORIGINAL, "There.", "done: There."]);
});

test("does not attribute tokens that Codex reports on resume to a copied answer", async () => {
  const places = new Places();
  const continuation = exportFrom(places, "codex", await makeOriginal(new Places()));
  const totals = { total_tokens: 30, input_tokens: 20, output_tokens: 10 };
  const payload = { type: "token_count", info: { total_token_usage: totals, last_token_usage: totals } };
  continuation.append([{ timestamp: "2026-11-23T12:00:00.000Z", type: "event_msg", payload }]);
  const [own] = await importAll(places);
  const entries = open(own?.path ?? "").getEntries();
  const used = entries.flatMap((entry) => Object(getMessageFields(entry)["usage"]).totalTokens ?? []);
  expect(used).toEqual([0, 0]);
  expect(entries.filter(({ type }) => type === "usage")).toMatchObject([{ usage: { totalTokens: 30 } }]);
});

test("does not restore redacted content through a compaction in the program", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  const continuation = exportFrom(places, "codex", path);
  const session = SessionManager.open(path);
  session.redactEntry(session.getEntries()[0]?.id ?? "");
  await session.close();
  continuation.addTurn("There.");
  const say = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
  const history = ["Where is the leak?", "There.", "In short: a tap."].map(say);
  const payload = { message: "In short: a tap.", replacement_history: history };
  continuation.append([{ timestamp: "2026-11-23T22:00:00.000Z", type: "compacted", payload }]);
  await importAll(places);
  const text = readFileSync(path, "utf8");
  expect(text).toContain("In short: a tap.");
  expect(text).not.toContain("Where is the leak?");
  expect(JSON.stringify(open(path).getEntries().at(-1))).toContain("There.");
});

describe("a compaction of Codex does not restore a redacted prompt", () => {
  const LONG = `hello hunter2pw ${"and so on ".repeat(20)}`;
  const SHORT_SECRET = "pw1";

  /** Redacts a prompt of some parts after its export, and returns the last entry after a compaction kept texts. */
  async function compactAfterRedaction(
    parts: readonly string[],
    kept: readonly string[],
    redact = async (session: SessionManager, id: string): Promise<unknown> => session.redactEntry(id),
  ): Promise<string> {
    const places = new Places();
    const path = await makeOriginal(places);
    const session = SessionManager.open(path);
    const content = parts.map((one) => ({ type: "text" as const, text: one }));
    const id = session.appendMessage({ role: "user", content, timestamp: Date.UTC(2026, 10, 22, 6) });
    session.appendMessage({ role: "user", content: "and hello again", timestamp: Date.UTC(2026, 10, 22, 7) });
    await session.close();
    const continuation = exportFrom(places, "codex", path);
    const again = SessionManager.open(path);
    await redact(again, id);
    await again.close();
    continuation.addTurn("There.");
    const history = [...kept, "In short: a tap."].map((one) => ({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: one }],
    }));
    const payload = { message: "In short: a tap.", replacement_history: history };
    continuation.append([{ timestamp: "2026-11-23T22:00:00.000Z", type: "compacted", payload }]);
    await importAll(places);
    const last = open(path).getEntries().at(-1);
    expect(last?.type).toBe("compaction");
    return JSON.stringify(last);
  }

  test.each([
    ["with its parts joined", ["hello hunter2pw", "second part"], "hello hunter2pw\nsecond part"],
    ["with short parts joined", [SHORT_SECRET, "a", ""], `${SHORT_SECRET}\na`],
    ["inside of another text", ["hello hunter2pw", "second part"], "Before: hello hunter2pw; after"],
    ["that was shortened", [LONG], `${LONG.slice(0, 100)}…25 tokens truncated…${LONG.slice(-20)}`],
    ["of joined parts, shortened", [SHORT_SECRET, LONG], `${SHORT_SECRET}\n${LONG.slice(0, 80)}…`],
  ])("%s", async (_name, parts, kept) => {
    const text = await compactAfterRedaction(parts, [kept, "There."]);
    expect(text).not.toMatch(/hunter2pw|pw1/);
    expect(text).toContain("There.");
  });

  test.each([
    ["with its parts joined", ["hello hunter2pw", "second part"], "hello hunter2pw\nsecond part"],
    ["inside of another text", ["hello hunter2pw", "second part"], "Before: hello hunter2pw; after"],
    ["that was shortened", [LONG], `${LONG.slice(0, 100)}…25 tokens truncated…${LONG.slice(-20)}`],
  ])("with a redacted word, %s", async (_name, parts, kept) => {
    const text = await compactAfterRedaction(parts, [kept, "There."], (session) =>
      session.redactText("hunter2pw"),
    );
    expect(text).not.toContain("hunter2pw");
    expect(text).toContain("There.");
  });

  test("but keeps text that contains it only by chance or was not redacted", async () => {
    const text = await compactAfterRedaction(["hello"], ["and hello again", "hello there"]);
    expect(text).toContain("and hello again");
    expect(text).toContain("hello there");
    expect(await compactAfterRedaction(["and hello"], ["and hello again"])).toContain("and hello again");
  });
});

describe("Gemini CLI, which lists the history again on resume,", () => {
  /** Resumes a session as the program does: it lists its own context, and then all messages. */
  function resume(continuation: Continuation, context: string): void {
    const timestamp = "2026-11-23T12:00:30.000Z";
    const messages = readRecords(continuation).filter(({ type }) => type === "user" || type === "gemini");
    const listed = messages.map((one) => ({
      ...one,
      content: typeof one["content"] === "string" ? [{ text: one["content"] }] : one["content"],
    }));
    const own = { id: context, timestamp, type: "user", content: [{ text: "<session_context>\nToday" }] };
    continuation.append([
      { $set: { sessionId: continuation.id } },
      { $set: { messages: [own, ...listed], lastUpdated: timestamp } },
    ]);
  }

  test("adds only what is new, whether or not the original is here", async () => {
    for (const isHere of [true, false]) {
      const places = new Places();
      const path = await makeOriginal(isHere ? places : new Places());
      const continuation = exportFrom(places, "gemini", path);
      resume(continuation, "context 1");
      expect(await importAll(places)).toMatchObject([{ status: isHere ? "unchanged" : "new" }]);
      continuation.addTurn("There.");
      resume(continuation, "context 2");
      continuation.addTurn("There again.");
      const [one] = await importAll(places);
      expect(one?.status).toBe("grown");
      const said = [...ORIGINAL, "There.", "done: There.", "There again.", "done: There again."];
      expect(saidAt(one?.path ?? "")).toEqual(said);
      const session = open(one?.path ?? "");
      expect(session.getEntries().filter(({ type }) => type === "message")).toHaveLength(said.length);
      forget(places);
      expect(await importAll(places)).toMatchObject([{ status: "unchanged" }]);
    }
  });
});

describe.skipIf(!canReadDatabases())("OpenCode's database (skipped without node:sqlite)", () => {
  test("names what is continued, and joins what is new", async () => {
    const places = new Places();
    const path = await makeOriginal(places);
    const continuation = exportFrom(places, "opencode", path);
    const database = new ProgramsDatabase(
      places,
      SCHEMA.replace("revert text,", "revert text, metadata text,"),
    );
    const put = () => {
      const { info, messages } = JSON.parse(readFileSync(continuation.path, "utf8"));
      database.run(
        "INSERT OR REPLACE INTO session VALUES (?, ?, NULL, ?, ?, ?, 'build', NULL, ?, ?, ?)",
        ...[info.id, info.projectID, info.directory, info.title, info.version],
        ...[JSON.stringify(info.metadata), info.time.created, info.time.updated],
      );
      for (const message of messages) database.putMessage(info.id, message);
    };
    const options = {
      store: fileStore({ sessionDir: places.sessions }),
      cacheDir: places.cacheDir,
      paths: [`${places.home}/${DATA}`],
    };
    put();
    expect(await previewImport(options)).toEqual([]);
    expect(await places.import(options)).toMatchObject([{ status: "unchanged", path }]);
    continuation.addTurn("There.");
    put();
    expect(await previewImport(options)).toMatchObject([{ sessions: 1, changed: 1 }]);
    expect(await places.import(options)).toMatchObject([{ status: "grown", path }]);
    expect(saidAt(path)).toEqual([...ORIGINAL, "There.", "done: There."]);
    expect(places.files().size).toBe(1);
  });
});

test("finds a session in pi's folder, and keeps what joins it there", async () => {
  vi.stubEnv("PI_CODING_AGENT_DIR", temporaryFolder());
  const places = new Places();
  const session = SessionManager.create("/code/project");
  session.appendMessage({ role: "user", content: "Hello.", timestamp: Date.UTC(2026, 10, 22) });
  await session.close();
  const path = session.getSessionFile() ?? "";
  const continuation = exportFrom(places, "codex", path);
  continuation.addTurn("There.");
  const statuses: unknown[] = [];
  for await (const one of importSessions({ env: { HOME: places.home }, cacheDir: places.cacheDir }))
    statuses.push([one.status, one.path]);
  expect(statuses).toEqual([["grown", path]]);
  expect(saidAt(path)).toEqual(["Hello.", "There.", "done: There."]);
});

test("keeps a session without an intact continuation record as a separate session", async () => {
  const places = new Places();
  const path = await makeOriginal(places);
  for (const program of ["claude-code", "codex", "gemini"] as const) {
    const continuation = exportFrom(places, program, path);
    const lines = readFileSync(continuation.path, "utf8").trimEnd().split("\n");
    places.put(
      continuation.path.slice(places.home.length + 1),
      [...lines.slice(0, -1), lines.at(-1)?.replace('"leafId"', '"leaf"'), ""].join("\n"),
    );
  }
  expect((await importAll(places)).map(({ status }) => status)).toEqual(["new", "new", "new"]);
});
