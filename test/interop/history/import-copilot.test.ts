import { readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSession } from "../../../src/core/jsonl/read-session.ts";
import { canReadDatabases } from "../../../src/interop/history/sqlite.ts";
import { SessionManager } from "../../../src/session/manager/session-manager.ts";
import { joinLines } from "../import/support/claude-records.ts";
import {
  answer,
  COPILOT_ID,
  event,
  makeTime,
  numbered,
  prompt,
  start,
  tokens,
} from "../import/support/copilot-records.ts";
import { Places } from "./support/places.ts";
import { writableDatabase } from "./support/writable-database.ts";

const FOLDER = `.copilot/session-state/${COPILOT_ID}`;
const FIRST = [start(), prompt("one"), tokens("r1"), answer("r1", "first")];
const SECOND = [prompt("two"), tokens("r2"), answer("r2", "second")];

function onlyFile(places: Places) {
  const texts = [...places.files().values()];
  expect(texts.length).toBe(1);
  return readSession(texts[0] ?? "");
}

test("keeps turns that are rewound between two imports, and continues before them", async () => {
  const places = new Places();
  places.put(`${FOLDER}/events.jsonl`, joinLines(numbered([...FIRST, ...SECOND])));
  await places.import();
  const before = onlyFile(places);
  const rewind = numbered([event("session.info", { infoType: "rewind", message: "Rewound." })], 8);
  const third = numbered([prompt("three"), tokens("r3"), answer("r3", "third")], 9);
  for (const more of [rewind, [...rewind, ...third]]) {
    places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...more]));
    expect(await places.import()).toMatchObject([{ status: "grown", issues: [] }]);
    expect(onlyFile(places).entries.slice(0, before.entries.length)).toEqual(before.entries);
  }
  const { entries, leafId } = onlyFile(places);
  expect(leafId).toBe(entries.at(-1)?.id);
  const path = new Set<string | null>([leafId]);
  for (const { id, parentId } of [...entries].reverse()) if (path.has(id)) path.add(parentId);
  const texts = entries.filter(({ id }) => path.has(id)).map((entry) => JSON.stringify(entry));
  expect(texts.join("\n")).toContain("first");
  expect(texts.join("\n")).not.toContain("second");
  rmSync(places.cacheDir, { recursive: true });
  expect(await places.import()).toMatchObject([{ status: "unchanged" }]);
});

const SCHEMA = `
  CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT, timestamp TEXT);
  CREATE TABLE assistant_usage_events (session_id TEXT, model TEXT, input_tokens INTEGER, output_tokens INTEGER, created_at TEXT);`;

describe.skipIf(!canReadDatabases())("the program's database (skipped without node:sqlite)", () => {
  const rewind = numbered([event("session.info", { infoType: "rewind", message: "Rewound." })], 20);

  test("yields turns that were rewound before the first import, from its log, and is not modified", async () => {
    const places = new Places();
    places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...rewind]));
    const path = places.put(".copilot/session-store.db", "");
    const database = writableDatabase(path, SCHEMA);
    const turn = database.prepare("INSERT INTO turns VALUES (?, ?, ?, ?, ?)");
    turn.run(COPILOT_ID, 0, "one", "first", makeTime(5));
    turn.run(COPILOT_ID, 1, "two", "second", makeTime(9));
    turn.run("another session", 1, "three", "third", makeTime(9));
    database
      .prepare("INSERT INTO assistant_usage_events VALUES (?, ?, ?, ?, ?)")
      .run(COPILOT_ID, "m-1", 70, 7, makeTime(8));
    const stateOf = () =>
      readdirSync(dirname(path)).map((name) => [name, statSync(join(dirname(path), name)).mtimeMs]);
    const before = stateOf();
    expect(await places.import()).toMatchObject([{ status: "new", issues: [] }]);
    expect(stateOf()).toEqual(before);
    const { entries } = onlyFile(places);
    expect(entries.map((entry) => JSON.stringify(entry)).join("\n")).toMatch(/"two".*second.*"input":70/s);
    expect(readdirSync(places.cacheDir).filter((name) => name.includes(".tmp"))).toEqual([]);
    database.exec("DROP TABLE turns");
    places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...rewind, ...numbered(SECOND, 21)]));
    expect(await places.import()).toMatchObject([{ status: "grown", issues: [] }]);
    expect(onlyFile(places).entries.slice(0, entries.length)).toEqual(entries);
  });

  test("yields a turn whose row was written after the rewind, with the same prompt repeated", async () => {
    const places = new Places();
    const again = numbered([prompt("two"), tokens("r3"), answer("r3", "third")], 21);
    places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...rewind, ...again]));
    const database = writableDatabase(places.put(".copilot/session-store.db", ""), SCHEMA);
    const turn = database.prepare("INSERT INTO turns VALUES (?, ?, ?, ?, ?)");
    turn.run(COPILOT_ID, 0, "one", "first", makeTime(6.5));
    turn.run(COPILOT_ID, 1, "two", "second", makeTime(21.5));
    turn.run(COPILOT_ID, 2, "two", "third", makeTime(30));
    const call = database.prepare("INSERT INTO assistant_usage_events VALUES (?, ?, ?, ?, ?)");
    for (const [at, tokens] of [
      [3, 100],
      [8, 70],
      [22, 100],
    ] as const)
      call.run(COPILOT_ID, "m-1", tokens, 10, makeTime(at));
    expect(await places.import()).toMatchObject([
      { status: "new", counts: { userMessages: 3, assistantMessages: 3 } },
    ]);
    const { entries } = onlyFile(places);
    const answers = entries.filter((entry) => JSON.stringify(entry).includes('"role":"assistant"'));
    expect(answers.map(({ timestamp }) => timestamp)).toEqual([4, 8, 23].map(makeTime));
    expect(JSON.stringify(answers[1])).toContain("second");
  });

  test("restores nothing that was redacted here", async () => {
    const places = new Places();
    const path = places.put(".copilot/session-store.db", "");
    const turn = writableDatabase(path, SCHEMA).prepare("INSERT INTO turns VALUES (?, ?, ?, ?, ?)");
    // Rows are written a moment after the next prompt, or at the end.
    turn.run(COPILOT_ID, 0, "one", "first", makeTime(6.5));
    turn.run(COPILOT_ID, 1, "the first secret", "second", makeTime(9));
    turn.run(COPILOT_ID, 2, "the second secret", "third", makeTime(15));
    // The first one is an event at the first import; the second one is only in the database.
    const secret = numbered([prompt("the first secret"), answer("r2", "second")], 6);
    const later = numbered([event("session.info", { infoType: "rewind", message: "Again." })], 30);
    const states = [
      [...secret, ...later],
      [...rewind, ...later],
      [...rewind, ...later, ...numbered([prompt("three")], 31)],
    ];
    for (const [i, state] of states.entries()) {
      places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...state]));
      const [made] = await places.import();
      expect(made?.status).toBe(i === 0 ? "new" : "grown");
      const session = SessionManager.open(made?.path ?? "");
      const secrets = session.getEntries().filter((entry) => JSON.stringify(entry).includes("secret"));
      expect(secrets).toHaveLength(i === 0 ? 2 : 0);
      for (const { id } of secrets) session.redactEntry(id);
      await session.close();
    }
  });

  test("is named if it cannot be read, and the events are imported", async () => {
    const places = new Places();
    places.put(`${FOLDER}/events.jsonl`, joinLines([...numbered(FIRST), ...rewind]));
    places.put(".copilot/session-store.db", "no database");
    const [made] = await places.import();
    expect(made).toMatchObject({ status: "new", issues: [{ code: "SOURCE_LEFT_OUT" }] });
    expect(made?.counts.userMessages).toBe(1);
  });
});

test("finds the environment's folder, files of older versions, names next to events, and hostile ids", async () => {
  const places = new Places();
  const own = join(places.root, "own");
  const agent = "../../etc/agent";
  const events = numbered([
    start({ sessionId: "../../up" }),
    prompt("one"),
    event("subagent.started", { toolCallId: "c1" }, agent),
    prompt("look", {}, agent),
  ]);
  places.put("../own/session-state/up/events.jsonl", joinLines(events));
  places.put("../own/session-state/up/workspace.yaml", 'name: "Mine"\nuser_named: true\n');
  places.put("../own/session-state/up/rewind-file-snapshots/backups/a.jsonl", joinLines(events));
  places.put(
    "../own/session-state/flat.jsonl",
    joinLines(numbered([start({ sessionId: "flat" }), prompt("old")])),
  );
  const env = { HOME: places.home, COPILOT_HOME: own };
  const made = await places.import({ env });
  expect(made.map(({ sourceId, status }) => [sourceId, status])).toEqual([
    ["../../up", "new"],
    [`../../up.agent-${agent}`, "new"],
    ["flat", "new"],
  ]);
  const names = [...places.files().keys()];
  expect(names.length).toBe(3);
  expect(places.files().get(names.find((name) => /_up\.jsonl$/.test(name)) ?? "")).toContain('"name":"Mine"');
  places.put("../own/session-state/up/workspace.yaml", 'name: "Ours"\nuser_named: true\n');
  const again = await places.import({ env });
  expect(again.map(({ status }) => status)).toEqual(["grown", "unchanged", "unchanged"]);
  // A user's folder may have any name.
  const chat = numbered([start({ sessionId: "elsewhere" }), prompt("found")]);
  places.put("../checkpoints/rewind-file-snapshots/chat.jsonl", joinLines(chat));
  expect(await places.import({ paths: [join(places.root, "checkpoints")] })).toMatchObject([
    { status: "new" },
  ]);
});
