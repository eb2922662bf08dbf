import { expect, test } from "vitest";
import { importPi4, readPi4Text } from "../../../../src/interop/import/pi-v4/import-pi4.ts";
import fc from "../../../support/fast-check.ts";
import {
  assistant,
  entry,
  HEADER_A,
  HEADER_B,
  imported,
  joinLines,
  readBack,
  set,
  tip,
  tokens,
  user,
} from "../support/pi4-records.ts";

const config = (model: string) => ({
  model: { provider: "acme", modelId: model },
  thinkingLevel: "high",
  activeToolNames: ["read"],
});

const codes = ({ session }: ReturnType<typeof imported>) =>
  session.issues.map(({ code, line }) => [code, line]);
const texts = (messages: readonly object[]) =>
  messages.map((one) => JSON.stringify(Object(one).content ?? Object(one).summary));

test("imports lanes as branches with main as the leaf, and keeps ids", () => {
  const made = imported(
    joinLines(
      HEADER_A,
      entry(1, "one", null, user("1"), "main"),
      { kind: "lane", seq: 2, lane: "side", leafId: "one" },
      entry(3, "two", "one", { type: "model_change", provider: "acme", modelId: "oak" }, "side"),
      entry(4, "copied", "one", assistant("2")),
      { kind: "lane", seq: 5, lane: "empty", leafId: null },
      { kind: "fact", seq: 6, fact: "name", name: "Wall" },
      { kind: "fact", seq: 7, fact: "label", targetId: "one", label: "start" },
    ),
  );
  expect(made.entries.map(({ id, type }) => [type, id]).slice(1, 4)).toEqual([
    ["message", "one"],
    ["model_change", "two"],
    ["message", "copied"],
  ]);
  expect(made.branches.map(({ name, leafId }) => [name, leafId])).toEqual([
    ["side", "two"],
    ["empty", null],
    ["main", "one"],
  ]);
  expect(made.leafId).toBe(made.branches.at(-1)?.id);
  expect(made.contextAt(made.branches[0]?.id ?? null).model).toEqual({ provider: "acme", modelId: "oak" });
  expect(made.entries).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: "session_info", name: "Wall" }),
      expect.objectContaining({ type: "label", targetId: "one", label: "start" }),
    ]),
  );
  expect(codes(made)).toEqual([]);
});

test("ends branches with their settings; without main, the one written to last is the leaf", () => {
  const made = imported(
    joinLines(
      HEADER_B,
      [
        entry(1, "one", null, user("1")),
        tip(2, "a/b", "one"),
        set(3, "pi.lane.config", "a/b", config("oak")),
      ],
      [tip(4, "other", "one"), tip(5, "gone", "one")],
      { kind: "value", op: "delete", seq: 6, namespace: "pi.branch.tip", key: "gone" },
      tip(7, "nowhere", "missing"),
      set(8, "pi.lane.config", "a/b", config("elm")),
      set(9, "pi.lane.config", "settings only", config("ash")),
    ),
  );
  expect(made.branches.map(({ name }) => name)).toEqual(["other", "nowhere", "a/b"]);
  expect(made.contextAt(made.leafId)).toMatchObject({
    thinkingLevel: "high",
    model: { provider: "acme", modelId: "elm" },
  });
  expect(made.pathTo(made.leafId).map(({ type }) => type)).toEqual([
    "custom",
    "message",
    "model_change",
    "thinking_level_change",
    "active_tools_change",
    "custom",
  ]);
  expect(codes(made)).toEqual([["PARENT_MISSING", 0]]);
});

test("keeps the entries that a compaction's tail repeats, else the tail", () => {
  const compaction = (retainedTail: readonly object[]) => ({
    type: "compaction",
    summary: "So far.",
    retainedTail,
    tokensBefore: 9,
    fromHook: false,
  });
  const { message: second } = assistant("2");
  const failed = { ...second, stopReason: "error" };
  const elsewhere = { role: "user", content: "elsewhere", timestamp: 1 };
  const made = imported(
    joinLines(
      HEADER_B,
      entry(1, "e1", null, user("1")),
      entry(2, "e2", "e1", assistant("2")),
      entry(3, "e3", "e2", { type: "message", message: failed }),
      entry(4, "kept", "e3", compaction([second])),
      entry(5, "tail", "e3", compaction([elsewhere])),
      entry(6, "nothing", "e3", compaction([])),
      entry(7, "deeper", "kept", compaction([second])),
    ),
  );
  const { entries, contextAt } = made;
  const compactions = entries.filter(({ type }) => type === "compaction");
  expect(compactions).toMatchObject([
    { firstKeptEntryId: "e2" },
    { firstKeptEntryId: "tail", retainedTail: [elsewhere] },
    { firstKeptEntryId: "nothing" },
    { firstKeptEntryId: "deeper", retainedTail: [second] },
  ]);
  expect(compactions.map((one) => "retainedTail" in one)).toEqual([false, true, false, true]);
  expect(contextAt("kept").messages).toHaveLength(3);
  expect(contextAt("tail").messages).toHaveLength(2);
  expect(contextAt("nothing").messages).toHaveLength(1);
  expect(contextAt("deeper").messages).toHaveLength(2);
});

test("accepts a whole last line without a line break in one dialect, and never in the other", () => {
  const a = joinLines(
    HEADER_A,
    entry(1, "one", null, user("1"), "main"),
    entry(2, "two", "one", user("2"), "main"),
  );
  const b = joinLines(HEADER_B, entry(1, "one", null, user("1")), [
    entry(2, "two", "one", user("2")),
    tip(3, "m", "two"),
  ]);
  expect(imported(a.slice(0, -1)).session.counts.userMessages).toBe(2);
  expect(codes(imported(a.slice(0, -1)))).toEqual([]);
  for (const [text, cut] of [
    [a, 2],
    [b, 1],
    [b, 2],
    [b, 90],
  ] as const) {
    const made = imported(text.slice(0, -cut));
    expect(made.session.counts.userMessages, `${cut}`).toBe(1);
    expect(codes(made)).toEqual([["TAIL_TORN", 3]]);
  }
});

test("counts tokens once: omits rows that repeat entries", () => {
  const summed = { type: "compaction", summary: "x", retainedTail: [], tokensBefore: 1, usage: tokens(7, 3) };
  const row = (seq: number, usage: object, more: object = {}) => ({
    kind: "usage",
    id: `u${seq}`,
    usage,
    adjustment: false,
    seq,
    ...more,
  });
  const made = imported(
    joinLines(
      HEADER_B,
      entry(1, "e1", null, assistant("1")),
      row(2, tokens(2, 1), { entryId: "e1" }),
      row(3, tokens(5, 5)),
      [row(4, tokens(4, 1)), row(5, tokens(3, 2))],
      entry(6, "e2", "e1", summed),
      row(7, tokens(1, 1), { adjustment: true, details: { source: "invoice" } }),
      row(8, tokens(9, 9), { adjustment: true, details: { source: "v3-import" } }),
    ),
  );
  expect(made.entries.filter(({ type }) => type === "usage")).toMatchObject([
    { id: "u3", kind: "call", usage: { input: 5 } },
    { id: "u7", kind: "adjustment", usage: { input: 1 }, details: { source: "invoice" } },
  ]);
  expect(made.session.dropped).toMatchObject({
    "tokens that an entry has": 3,
    "sum of the tokens of messages": 1,
  });
});

test("counts operations, reports pending ones, and keeps what an application stored", () => {
  const a = imported(
    joinLines(
      HEADER_A,
      entry(1, "one", null, user("1"), "main"),
      { kind: "record", id: "o1", lane: "main", type: "operation_started", seq: 2 },
      { kind: "record", id: "o2", lane: "main", type: "operation_finished", runId: "o1", seq: 3 },
      { kind: "record", id: "o3", lane: "main", type: "operation_started", seq: 4 },
      { kind: "record", id: "q", lane: "main", type: "queue_enqueued", target: { id: "later" }, seq: 5 },
    ),
  );
  expect(a.session.dropped).toEqual({ "running operation": 1, "step of an operation": 3 });
  expect(a.session.issues).toMatchObject([
    { code: "SOURCE_LEFT_OUT", message: expect.stringContaining("later") },
  ]);
  const list = (seq: number, namespace: string, key: string, value: unknown) => ({
    ...set(seq, namespace, key, value),
    kind: "list",
    op: "append",
  });
  const b = imported(
    joinLines(
      HEADER_B,
      entry(1, "one", null, user("1")),
      [set(2, "pi.op.meta", "op", {}), set(3, "app", "k", 1), set(4, "app", "k", 2)],
      [
        list(5, "app", "l", "x"),
        list(6, "app", "l", "y"),
        list(7, "pi.pending.assistant_frame", "op:two", {}),
      ],
    ),
  );
  expect(b.session.dropped).toEqual({ "running operation": 1, "step of an operation": 1 });
  expect(b.session.issues).toMatchObject([
    { code: "SOURCE_LEFT_OUT", message: expect.stringContaining("op:two") },
  ]);
  expect(b.entries.slice(2)).toMatchObject([
    { customType: "pi-v4.value", data: { op: "set", namespace: "app", key: "k", value: 1 } },
    { customType: "pi-v4.value", data: { value: 2 } },
    { customType: "pi-v4.list", data: { op: "append", namespace: "app", key: "l", value: "x" } },
    { customType: "pi-v4.list", data: { value: "y" } },
  ]);
});

test("reports what pi refuses, and reads everything legible", () => {
  const made = imported(
    `${joinLines({ ...HEADER_B, v: 5 }, entry(1, "one", null, user("1")))}{"kind":"entry"\n${joinLines(
      entry(1, "two", "lost", user("2")),
      entry(3, "two", "two", user("3")),
      entry(4, "odd", "two", { type: "session", version: 3 }),
      { kind: "blob", seq: 5 },
      tip(6, "main", "two"),
    )}`,
  );
  expect(codes(made).sort()).toEqual([
    ["ID_DUPLICATE", 5],
    ["LINE_UNREADABLE", 3],
    ["NOT_AN_ENTRY", 6],
    ["NOT_AN_ENTRY", 7],
    ["PARENT_BRIDGED", 4],
    ["SEQUENCE_BROKEN", 4],
    ["VERSION_UNCLEAR", 1],
  ]);
  expect(made.session.counts.userMessages).toBe(3);
  expect(texts(made.contextAt(made.leafId).messages)).toEqual(['"1"', '"2"']);
  expect(made.entries).toContainEqual(
    expect.objectContaining({
      customType: "pi-v4.entry",
      data: expect.objectContaining({ type: "session" }),
    }),
  );
});

test("makes no session of a header without entries, and one of entries without a header", () => {
  const importedAt = "2027-01-01T00:00:00.000Z";
  expect(importPi4({ ...readPi4Text(joinLines(HEADER_B)), importedAt })).toBeUndefined();
  const text = joinLines(entry(1, "one", null, user("1")), tip(2, "main", "one"));
  const session = importPi4({ ...readPi4Text(text), sourceId: "from-name", importedAt });
  expect(session).toMatchObject({ sourceId: "from-name", header: { id: "from-name" }, parent: undefined });
});

test("takes the original of a fork, and the application's data, from the header", () => {
  const header = { ...HEADER_A, parentSessionId: "a-0", metadata: { host: "till" } };
  const { session } = imported(joinLines(header, entry(1, "one", null, user("1"), "main")));
  expect(session).toMatchObject({
    source: "pi-v4",
    parent: { sourceId: "a-0", relation: "fork" },
    header: { id: "a-1", cwd: "/work", timestamp: "2026-09-01T00:00:00.000Z" },
  });
  expect(session.entries[1]).toMatchObject({
    customType: "pi-v4.header",
    data: { parentSessionId: "a-0", metadata: { host: "till" } },
  });
});

test("never throws and keeps all legible messages, whatever lines are lost, duplicated, or moved", () => {
  const lines = [
    HEADER_B,
    [
      entry(1, "one", null, user("1")),
      tip(2, "main", "one"),
      set(3, "pi.lane.config", "main", config("oak")),
    ],
    [entry(4, "two", "one", assistant("2")), tip(5, "main", "two")],
    { kind: "usage", id: "u", usage: tokens(1, 1), adjustment: false, seq: 6 },
    entry(7, "three", "two", { type: "compaction", summary: "x", retainedTail: [], tokensBefore: 1 }),
    set(8, "pi.entry.label", "two", "mark"),
    tip(9, "side", "two"),
    entry(10, "four", "three", user("4")),
  ];
  const picked = fc.array(fc.nat({ max: lines.length - 1 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(picked, fc.nat({ max: 400 }), (picks, cut) => {
      const text = joinLines(...picks.map((place) => lines[place]));
      const whole = readPi4Text(text.slice(0, Math.max(0, text.length - cut)));
      const session = importPi4({ ...whole, importedAt: "2027-01-01T00:00:00.000Z" });
      const said = whole.records.filter(
        ({ value: { kind, type } }) => kind === "entry" && type === "message",
      );
      const { userMessages = 0, assistantMessages = 0 } = session?.counts ?? {};
      expect(userMessages + assistantMessages).toBe(said.length);
      if (session !== undefined) readBack(session);
    }),
  );
});
