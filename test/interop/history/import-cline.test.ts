import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import type { SessionImport } from "../../../src/interop/history/import-sessions.ts";
import { Places } from "./support/places.ts";

const START = Date.UTC(2026, 10, 23);

function user(at: number, text: string, id?: string) {
  const content = [{ type: "text", text: `<user_input mode="act">${text}</user_input>` }];
  return { ...(id !== undefined && { id }), role: "user", content, ts: START + at };
}

function answer(at: number, text: string, id?: string) {
  const metrics = { inputTokens: 10, outputTokens: 5 };
  const modelInfo = { id: "m", provider: "anthropic" };
  const said = { role: "assistant", content: [{ type: "text", text }], ts: START + at };
  return { ...(id !== undefined && { id }), ...said, modelInfo, metrics };
}

const TURN = [user(1, "one", "u1"), answer(2, "first", "a1")];
const NEXT = [user(3, "two", "u2"), answer(4, "second", "a2")];

const SESSIONS = ".cline/data/sessions";

/** Writes a session of the command line. */
function put(places: Places, id: string, messages: readonly object[], manifest: object = {}): string {
  const folder = `${SESSIONS}/${id}`;
  const facts = {
    version: 1,
    session_id: id,
    cwd: "/code",
    started_at: new Date(START).toISOString(),
    ...manifest,
  };
  places.put(`${folder}/${id}.json`, JSON.stringify(facts));
  const document = { version: 1, updated_at: "x", agent: "lead", sessionId: id, messages };
  return places.put(`${folder}/${id}.messages.json`, JSON.stringify(document, null, 2));
}

function brief({ status, sourceId }: SessionImport): string {
  return `${status} ${sourceId}`;
}

test("a session of the command line grows, and a second run changes nothing", async () => {
  const places = new Places();
  put(places, "17_ab", TURN);
  expect((await places.import()).map(brief)).toEqual(["new 17_ab"]);
  expect((await places.import()).map(brief)).toEqual(["unchanged 17_ab"]);
  const before = [...places.files().values()];
  put(places, "17_ab", [...TURN, ...NEXT]);
  expect((await places.import()).map(brief)).toEqual(["grown 17_ab"]);
  const [after = ""] = places.files().values();
  expect(after.startsWith(before[0] ?? "none")).toBe(true);
  const { header, entries } = readSession(after);
  expect([header?.cwd, entries.filter(({ type }) => type === "message").length]).toEqual(["/code", 4]);
});

test("an undo in a separate session is a fork of the one it starts like", async () => {
  const places = new Places();
  put(places, "17_ab", [...TURN, ...NEXT]);
  put(places, "18_cd", [...TURN, user(9, "three", "u3")], { started_at: new Date(START + 8).toISOString() });
  const found = await places.import();
  const [original = "", fork = ""] = [...places.files().values()];
  expect(readSession(fork).header?.parentSession).toBe(found[0]?.path);
  expect(readSession(original).header?.parentSession).toBeUndefined();
});

test("a truncated file yields its whole messages, and loses none that were imported", async () => {
  const places = new Places();
  const path = put(places, "17_ab", [...TURN, ...NEXT]);
  const whole = JSON.stringify(
    { version: 1, updated_at: "x", agent: "lead", sessionId: "17_ab", messages: [...TURN, ...NEXT] },
    null,
    2,
  );
  const cut = whole.slice(0, whole.indexOf('"u2"'));
  writeFileSync(path, cut);
  const [torn] = await places.import();
  expect([torn?.status, torn?.counts.records, torn?.issues[0]?.code]).toEqual(["new", 2, "TAIL_TORN"]);
  writeFileSync(path, whole);
  await places.import();
  const before = places.files();
  writeFileSync(path, cut);
  const [again] = await places.import();
  expect(again?.issues[0]?.code).toBe("TAIL_TORN");
  const messages = (text = "") => readSession(text).entries.filter(({ type }) => type === "message").length;
  expect([...places.files().values()].map(messages)).toEqual([...before.values()].map(messages));
});

test.each([
  [".config/Code/User/globalStorage/saoudrizwan.claude-dev", "state/taskHistory.json"],
  [".config/Cursor/User/globalStorage/rooveterinaryinc.roo-cline", "tasks/1795406259471/history_item.json"],
  [
    "Library/Application Support/VSCodium/User/globalStorage/kilocode.kilo-code",
    "tasks/1795406259471/history_item.json",
  ],
])("finds an editor's tasks in %s, with their tokens and folders", async (folder, facts) => {
  const places = new Places();
  const item = { id: "1795406259471", workspace: "/code", cwdOnTaskInitialization: "/code" };
  const rows = [{ ts: START + 2, say: "api_req_started", text: '{"tokensIn":7,"tokensOut":3,"cost":0.5}' }];
  const messages = [
    { role: "user", content: [{ type: "text", text: "<task>\nbuild\n</task>" }], ts: START + 1 },
    { role: "assistant", content: [{ type: "text", text: "Built." }], ts: START + 3 },
  ];
  const task = `${folder}/tasks/1795406259471`;
  places.put(`${task}/api_conversation_history.json`, JSON.stringify(messages));
  places.put(`${task}/ui_messages.json`, JSON.stringify(rows));
  places.put(`${task}/task_metadata.json`, "[]");
  places.put(`${folder}/${facts}`, JSON.stringify(facts.startsWith("state") ? [item] : item));
  expect((await places.import()).map(brief)).toEqual(["new 1795406259471"]);
  const [text = ""] = places.files().values();
  expect(readSession(text).header).toMatchObject({ cwd: "/code", id: "1795406259471" });
  expect(text).toContain('"input":7,"output":3');
  // Tokens reported later belong to the session, too.
  places.put(`${task}/ui_messages.json`, JSON.stringify(rows).replace('tokensIn\\":7', 'tokensIn\\":17'));
  expect((await places.import()).map(brief)).toEqual(["grown 1795406259471"]);
});

test("reads the folders of the command line and Kimi Code from variables", async () => {
  const places = new Places();
  const at = (path: string, text: string) => {
    const file = join(places.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const document = (sessionId: string) => JSON.stringify({ agent: "lead", sessionId, messages: TURN });
  at("one/17_a/17_a.messages.json", document("17_a"));
  at("two/sessions/17_b/17_b.messages.json", document("17_b"));
  at("three/data/sessions/17_c/17_c.messages.json", document("17_c"));
  const log = [
    { type: "metadata", protocol_version: "1.5", created_at: START },
    {
      type: "context.append_message",
      agentId: "main",
      message: { role: "user", content: "hi" },
      time: START,
    },
  ];
  const session = "four/sessions/wd_x_0/session_1";
  at(`${session}/agents/main/wire.jsonl`, log.map((record) => `${JSON.stringify(record)}\n`).join(""));
  at(`${session}/state.json`, JSON.stringify({ cwd: "/code", title: "Hi", isCustomTitle: true }));
  const folder = (name: string) => join(places.root, name);
  const found = async (env: { readonly [name: string]: string }) =>
    (await places.import({ env: { HOME: places.home, ...env } })).map(brief);
  expect(await found({ CLINE_SESSION_DATA_DIR: folder("one") })).toEqual(["new 17_a"]);
  expect(await found({ CLINE_DATA_DIR: folder("two") })).toEqual(["new 17_b"]);
  expect(await found({ CLINE_DIR: folder("three") })).toEqual(["new 17_c"]);
  expect(await found({ KIMI_CODE_HOME: folder("four") })).toEqual(["new session_1"]);
  const name = [...places.files().values()].find((text) => text.includes('"name":"Hi"'));
  expect(readSession(name ?? "").header?.cwd).toBe("/code");
});

const TASKS = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks";

/** Rows that an editor shows for a task. */
const ROWS = [
  { ts: START + 1, type: "say", say: "task", text: "build it" },
  { ts: START + 2, type: "say", say: "api_req_started", text: '{"tokensIn":7,"tokensOut":3,"cost":0.5}' },
  { ts: START + 3, type: "say", say: "reasoning", text: "hm" },
  { ts: START + 4, type: "say", say: "text", text: "Building." },
  { ts: START + 5, type: "ask", ask: "command", text: "make" },
  { ts: START + 6, type: "say", say: "checkpoint_created", lastCheckpointHash: "29db2d5" },
  { ts: START + 7, type: "ask", ask: "followup", text: '{"question":"For whom?","options":["us"]}' },
  { ts: START + 8, type: "say", say: "user_feedback", text: "for us" },
  { ts: START + 9, type: "say", say: "completion_result", text: "Built." },
];

test("imports a task from the editor's rows, with an issue, if only these are left", async () => {
  const places = new Places();
  places.put(`${TASKS}/1795406259471/ui_messages.json`, JSON.stringify(ROWS));
  const [made] = await places.import();
  expect([made?.status, made?.sourceId, made?.issues.map(({ code }) => code)]).toEqual([
    "new",
    "1795406259471",
    ["SOURCE_LEFT_OUT"],
  ]);
  expect(made?.issues[0]?.message).toContain("api_conversation_history.json");
  const [text = ""] = places.files().values();
  const said = readSession(text).entries.flatMap((entry) => {
    const { role, content } = Object(Object(entry)["message"]);
    if (role === undefined) return [];
    return [
      `${role} ${content.map((one: { text?: string; thinking?: string }) => one.text ?? one.thinking)}`,
    ];
  });
  expect(said).toEqual([
    "user build it",
    "assistant hm",
    "assistant Building.",
    "assistant For whom?",
    "user for us",
    "assistant Built.",
  ]);
  expect(text.match(/"input":7,"output":3/g)?.length).toBe(1);
  expect(text).toContain('"customType":"cline.notice"');
  expect(text).toContain('"ref":"29db2d5"');
  const { records = 0, mapped = 0, kept = 0, dropped = 0 } = made?.counts ?? {};
  expect([records, mapped + kept + dropped]).toEqual([ROWS.length, ROWS.length]);
  expect((await places.import()).map(brief)).toEqual(["unchanged 1795406259471"]);
});

test("does not import the editor's rows as a separate session if the task has messages", async () => {
  const places = new Places();
  const folder = `${TASKS}/1795406259471`;
  const rows = places.put(`${folder}/ui_messages.json`, JSON.stringify(ROWS));
  places.put(
    `${folder}/api_conversation_history.json`,
    JSON.stringify([user(1, "build it"), answer(2, "Built.")]),
  );
  expect((await places.import()).map(brief)).toEqual(["new 1795406259471"]);
  const skipped: string[] = [];
  expect(await places.import({ paths: [rows], onSkipped: (path) => skipped.push(path) })).toEqual([]);
  expect(skipped).toEqual([rows]);
});

test.each([
  [
    "api_conversation_history.json",
    [{ role: "user", content: [{ type: "text", text: "<task>\nbuild\n</task>" }] }, answer(2, "Built.")],
  ],
  ["ui_messages.json", ROWS],
])("imports the whole items of %s that was truncated", async (name, list) => {
  const places = new Places();
  const whole = JSON.stringify(list);
  places.put(`${TASKS}/1795406259471/${name}`, whole.slice(0, -40));
  const [made] = await places.import();
  expect([made?.status, made?.issues.some(({ code }) => code === "TAIL_TORN")]).toEqual(["new", true]);
});
