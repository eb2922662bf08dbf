import { MemorySession } from "@openai/agents-core";
import { convertToLlm, SessionManager } from "sessiontree";
import { OpenAIAgentsSession } from "sessiontree/adapters";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const user = (content: string) => ({ type: "message", role: "user", content });
const said = (text: string) => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, providerData: { annotations: [] } }],
});
const thought = (text: string) => ({
  type: "reasoning",
  id: "rs_1",
  content: [{ type: "input_text", text }],
  providerData: { encrypted_content: "gAAA" },
});
const call = (callId: string, name = "read", args = '{"path":"a.txt"}') => ({
  type: "function_call",
  id: `fc_${callId}`,
  callId,
  name,
  status: "completed",
  arguments: args,
});
const result = (callId: string, output: unknown = "text of a.txt") => ({
  type: "function_call_result",
  name: "read",
  callId,
  status: "completed",
  output,
});
const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "secret" };

/** A turn with thinking and parallel calls, as the runner adds it. */
const TURN = [
  user("What is in both files?"),
  thought("Both at once."),
  call("c1"),
  call("c2"),
  result("c1"),
  result("c2", [{ type: "input_image", image: "data:image/png;base64,iVBORw0KGgo=" }]),
  said("The same."),
];

function onFile() {
  const manager = SessionManager.create("/projects/shop", { sessionDir: temporaryFolder() });
  return { manager, session: new OpenAIAgentsSession(manager) };
}

function reopened(manager: SessionManager) {
  const again = SessionManager.open(manager.getSessionFile() ?? "");
  return { manager: again, session: new OpenAIAgentsSession(again) };
}

describe("items", () => {
  test("are returned deep-equal, in order, and as copies, from the file too", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    await session.addItems([]);
    const items = await session.getItems();
    expect(items).toStrictEqual(TURN);
    for (const item of items) Reflect.set(item, "type", "spoiled");
    expect(await session.getItems()).toStrictEqual(TURN);
    expect(await reopened(manager).session.getItems()).toStrictEqual(TURN);
    expect(await reopened(manager).session.getSessionId()).toBe(manager.getSessionId());
  });

  test("are limited to the latest, wherever that cuts", async () => {
    const { session } = onFile();
    await session.addItems(TURN);
    expect(await session.getItems(2)).toStrictEqual(TURN.slice(-2));
    expect(await session.getItems(100)).toStrictEqual(TURN);
    expect(await session.getItems(0)).toEqual([]);
    expect(await session.getItems(-1)).toEqual([]);
  });

  test("are unaffected by changes to an item after it was added", async () => {
    const { session } = onFile();
    const item = user("as it was");
    await session.addItems([item]);
    item.content = "changed";
    expect(await session.getItems()).toStrictEqual([user("as it was")]);
  });

  test("keep bytes, omit undefined as JSON does, and refuse any other value before writing", async () => {
    const { manager, session } = onFile();
    const image = { type: "image", image: { data: new Uint8Array([1, 2, 255]), mediaType: "image/png" } };
    const withBytes = result("c1", image);
    await session.addItems([user("draw"), { ...withBytes, namespace: undefined }]);
    expect(await reopened(manager).session.getItems()).toStrictEqual([user("draw"), withBytes]);
    const before = manager.getEntryCount();
    const cycle: { [key: string]: unknown } = { type: "unknown" };
    cycle["self"] = cycle;
    const hostile = [
      cycle,
      { at: new Date(0) },
      { n: Number.NaN },
      { f: () => 1 },
      { n: 1n },
      { a: [undefined] },
    ];
    for (const item of [...hostile, { "sessiontree.base64": "AA==" }]) {
      await expect(session.addItems([user("kept out"), item])).rejects.toThrow(TypeError);
    }
    await expect(Reflect.apply(session.addItems, session, [["text"]])).rejects.toThrow(TypeError);
    expect(manager.getEntryCount()).toBe(before);
  });

  test("treat keys that are dangerous elsewhere as data", async () => {
    const { manager, session } = onFile();
    const item: object = JSON.parse('{"type":"unknown","__proto__":{"polluted":true},"constructor":1}');
    await session.addItems([user("a"), item]);
    const [, loaded] = await reopened(manager).session.getItems();
    expect(JSON.stringify(loaded)).toBe(JSON.stringify(item));
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("messages", () => {
  test("give readers without the SDK one message for each answer, with its calls and results", async () => {
    const { manager, session } = onFile();
    await session.addItems([{ role: "system", content: "Be brief." }, ...TURN]);
    const { messages } = manager.buildSessionContext();
    expect(messages).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is in both files?" },
      {
        role: "assistant",
        api: "openai-responses",
        provider: "openai",
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "Both at once." },
          { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.txt" } },
          { type: "toolCall", id: "c2" },
        ],
      },
      { role: "toolResult", toolCallId: "c1", content: [{ type: "text", text: "text of a.txt" }] },
      { role: "toolResult", toolCallId: "c2", content: [{ type: "image", mimeType: "image/png" }] },
      { role: "assistant", stopReason: "stop", content: [{ type: "text", text: "The same." }] },
    ]);
    expect(convertToLlm(messages, { repairToolPairs: true })).toEqual(convertToLlm(messages));
  });

  test("keep items that no message can express next to them", async () => {
    const { manager, session } = onFile();
    const items = [
      user("look it up"),
      {
        type: "hosted_tool_call",
        id: "ws_1",
        name: "web_search_call",
        status: "completed",
        providerData: { a: 1 },
      },
      { type: "unknown", providerData: { x: 1 } },
      { type: "shell_call", callId: "s1", action: { commands: ["ls"] } },
      { type: "shell_call_output", callId: "s1", output: [{ stdout: "a.txt", stderr: "" }] },
      { type: "function_call", callId: "c3", name: "broken", arguments: "{not json" },
    ];
    await session.addItems(items.slice(0, 3));
    await session.addItems(items.slice(3));
    expect(await session.getItems()).toStrictEqual(items);
    expect(manager.buildSessionContext().messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ name: "shell", arguments: { action: { commands: ["ls"] } } }] },
      { role: "toolResult", content: [{ text: '[{"stdout":"a.txt","stderr":""}]' }] },
      { role: "assistant", content: [{ name: "broken", arguments: {} }] },
    ]);
  });

  test("turn into items when another source created the session, with edits and compactions applied", async () => {
    const manager = SessionManager.inMemory();
    const session = new OpenAIAgentsSession(manager);
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost };
    const asked = manager.appendMessage({
      role: "user",
      content: [{ type: "text", text: "Hi" }],
      timestamp: 1,
    });
    manager.appendMessage({
      role: "assistant",
      api: "openai-responses",
      provider: "openai",
      model: "m",
      usage,
      stopReason: "toolUse",
      timestamp: 2,
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "Reading." },
        { type: "toolCall", id: "c1|fc_1", name: "read", arguments: { a: 1 } },
      ],
    });
    manager.appendMessage({
      role: "toolResult",
      toolCallId: "c1|fc_1",
      toolName: "read",
      content: [{ type: "image", data: "AA==", mimeType: "image/png" }],
      isError: false,
      timestamp: 3,
    });
    const items = [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Reading." }],
      },
      { type: "function_call", callId: "c1", name: "read", arguments: '{"a":1}', status: "completed" },
      result("c1", [{ type: "input_image", image: "data:image/png;base64,AA==" }]),
    ];
    expect(await session.getItems()).toStrictEqual(items);
    expect(await session.popItem()).toStrictEqual(items[3]);
    expect(await session.popItem()).toStrictEqual(items[2]);
    expect(await session.getItems()).toStrictEqual(items.slice(0, 2));

    await session.addItems([user("and now")]);
    manager.appendContextEdit(asked, { content: "Hello" });
    expect(await session.getItems()).toStrictEqual([user("Hello"), ...items.slice(1, 2), user("and now")]);
    manager.appendContextEdit(manager.getPathIds().at(-2) ?? "", null);
    expect(await session.getItems()).toStrictEqual([user("Hello"), ...items.slice(1, 2)]);
    manager.appendCompaction("They said hello.", null, 10);
    const [summary, ...rest] = await session.getItems();
    expect(JSON.stringify(summary)).toContain("They said hello.");
    expect(rest).toEqual([]);
  });

  test("drop a redacted item in both forms", async () => {
    const { manager, session } = onFile();
    await session.addItems([user("the secret"), said("noted")]);
    manager.redactEntry(manager.getPathIds()[0] ?? "");
    expect(await session.getItems()).toStrictEqual([user("[redacted]"), said("noted")]);
    expect(await reopened(manager).session.getItems()).toStrictEqual([user("[redacted]"), said("noted")]);
  });
});

describe("popItem and clearSession", () => {
  test("remove items one by one, even within one answer, and delete nothing", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    const all = manager.getPathIds();
    for (let left = TURN.length; left > 0; left--) {
      expect(await session.popItem()).toStrictEqual(TURN[left - 1]);
      expect(await session.getItems()).toStrictEqual(TURN.slice(0, left - 1));
      expect(await reopened(manager).session.getItems()).toStrictEqual(TURN.slice(0, left - 1));
    }
    expect(await session.popItem()).toBeUndefined();
    manager.branch(all.at(-1) ?? "");
    expect(await session.getItems()).toStrictEqual(TURN);
  });

  test("clearing starts over under the same id and keeps the old history as a branch", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    const old = manager.getLeafId() ?? "";
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect(await reopened(manager).session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([user("anew")]);
    expect(await session.getItems()).toStrictEqual([user("anew")]);
    manager.branch(old);
    expect(await session.getItems()).toStrictEqual(TURN);
  });

  test("do nothing in an empty session", async () => {
    const { manager, session } = onFile();
    expect(await session.popItem()).toBeUndefined();
    await session.clearSession();
    expect(manager.getEntryCount()).toBe(0);
  });

  test("popping what our compaction kept leaves the summary", async () => {
    const manager = SessionManager.inMemory();
    const session = new OpenAIAgentsSession(manager);
    await session.addItems([user("old"), said("old answer"), user("kept"), said("kept answer")]);
    manager.appendCompaction("Old things.", manager.getPathIds()[2] ?? null, 10);
    await session.addItems([user("new")]);
    const items = await session.getItems();
    expect(items).toHaveLength(4);
    expect(items.slice(1)).toStrictEqual([user("kept"), said("kept answer"), user("new")]);
    for (let left = items.length; left > 0; left--) {
      expect(await session.popItem()).toStrictEqual(items[left - 1]);
      expect(await session.getItems()).toStrictEqual(items.slice(0, left - 1));
    }
  });
});

describe("replaceHistoryWithCompaction", () => {
  test("makes the compaction and what follows it the history, and keeps the earlier one", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    const old = manager.getLeafId() ?? "";
    const items = [compaction, user("kept"), said("kept answer")];
    await session.replaceHistoryWithCompaction(items);
    expect(await session.getItems()).toStrictEqual(items);
    expect(await reopened(manager).session.getItems()).toStrictEqual(items);
    expect(manager.buildSessionContext().messages).toMatchObject([
      { role: "compactionSummary" },
      { role: "user", content: "kept" },
      { role: "assistant" },
    ]);
    for (let left = items.length; left > 0; left--) {
      expect(await session.popItem()).toStrictEqual(items[left - 1]);
      expect(await session.getItems()).toStrictEqual(items.slice(0, left - 1));
    }
    manager.branch(old);
    expect(await session.getItems()).toStrictEqual(TURN);
    expect(manager.issues).toEqual([]);
  });

  test("refuses items that do not start with a compaction, and changes nothing", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    const before = manager.getEntryCount();
    await expect(session.replaceHistoryWithCompaction([user("x")])).rejects.toThrow(TypeError);
    await expect(session.replaceHistoryWithCompaction([])).rejects.toThrow(TypeError);
    expect(manager.getEntryCount()).toBe(before);
  });
});

describe("applyHistoryTransaction", () => {
  const append = { type: "append_items" as const, items: [user("once")] };

  test("is applied once, also after the session is reopened and after its items are popped", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    await session.applyHistoryTransaction({ operationId: "op1", transaction: structuredClone(append) });
    expect(await session.getItems()).toStrictEqual([...TURN, user("once")]);
    const { session: again } = reopened(manager);
    await again.applyHistoryTransaction({ operationId: "op1", transaction: append });
    expect(await again.getItems()).toStrictEqual([...TURN, user("once")]);
    await again.popItem();
    await again.popItem();
    await again.applyHistoryTransaction({ operationId: "op1", transaction: append });
    expect(await again.getItems()).toStrictEqual(TURN.slice(0, -1));
    await again.applyHistoryTransaction({ operationId: "op2", transaction: append });
    expect(await again.getItems()).toStrictEqual([...TURN.slice(0, -1), user("once")]);
  });

  test("replaces a suffix in one write, even in the middle of an answer", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN.slice(0, 4));
    const transaction = {
      type: "replace_suffix" as const,
      expectedSuffix: [call("c2")],
      replacement: [call("c2", "write"), result("c1"), result("c2")],
    };
    await session.applyHistoryTransaction({ operationId: "op1", transaction });
    const items = [...TURN.slice(0, 3), ...transaction.replacement];
    expect(await session.getItems()).toStrictEqual(items);
    expect(await reopened(manager).session.getItems()).toStrictEqual(items);
    await session.applyHistoryTransaction({ operationId: "op1", transaction });
    expect(await session.getItems()).toStrictEqual(items);
    const all = { type: "replace_suffix" as const, expectedSuffix: items, replacement: [] };
    await session.applyHistoryTransaction({ operationId: "op2", transaction: all });
    expect(await session.getItems()).toEqual([]);
    await session.applyHistoryTransaction({ operationId: "op2", transaction: all });
    expect(await reopened(manager).session.getItems()).toEqual([]);
  });

  test("treats transactions and suffixes as equal despite another key order or undefined values", async () => {
    const { session } = onFile();
    await session.addItems([user("a")]);
    const reversed = { content: "a", role: "user", type: "message", id: undefined };
    const transaction = {
      type: "replace_suffix" as const,
      expectedSuffix: [reversed],
      replacement: [user("b")],
    };
    await session.applyHistoryTransaction({ operationId: "op1", transaction });
    await session.applyHistoryTransaction({
      operationId: "op1",
      transaction: { ...transaction, expectedSuffix: [user("a")] },
    });
    expect(await session.getItems()).toStrictEqual([user("b")]);
  });

  test("refuses another transaction under the same id, another suffix, and invalid values, and changes nothing", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    const before = manager.getEntryCount();
    const other = { ...append, items: [user("twice")] };
    await expect(session.applyHistoryTransaction({ operationId: "op1", transaction: other })).rejects.toThrow(
      /op1 was applied with a different transaction/,
    );
    for (const expectedSuffix of [[user("not there")], [...TURN, ...TURN]]) {
      const transaction = { type: "replace_suffix" as const, expectedSuffix, replacement: [] };
      await expect(session.applyHistoryTransaction({ operationId: "op3", transaction })).rejects.toThrow(
        expect.objectContaining({ code: "STALE_LEAF" }),
      );
    }
    const apply = (args: unknown) => Reflect.apply(session.applyHistoryTransaction, session, [args]);
    for (const operationId of ["", " ", 7]) {
      await expect(apply({ operationId, transaction: append })).rejects.toThrow(TypeError);
    }
    for (const transaction of [undefined, { type: "other" }, { type: "append_items", items: [1] }]) {
      await expect(apply({ operationId: "op4", transaction })).rejects.toThrow(TypeError);
    }
    expect(manager.getEntryCount()).toBe(before);
  });

  test("applies the same operation id again on another branch", async () => {
    const { manager, session } = onFile();
    await session.addItems([user("a")]);
    const a = manager.getLeafId() ?? "";
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    manager.branch(a);
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    expect(await session.getItems()).toStrictEqual([user("a"), user("once")]);
    expect(manager.getChildren(a)).toHaveLength(2);
  });
});

describe("applyHistoryMutations", () => {
  test("replaces a call from this point of the branch on, and restores the previous call at an earlier leaf", async () => {
    const { manager, session } = onFile();
    await session.addItems(TURN);
    const before = manager.getLeafId() ?? "";
    const replacement = call("c1", "read", '{"path":"b.txt"}');
    await session.applyHistoryMutations({
      mutations: [
        { type: "replace_function_call", callId: "c1", replacement },
        { type: "replace_function_call", callId: "none", replacement },
      ],
    });
    const items = TURN.with(2, replacement);
    expect(await session.getItems()).toStrictEqual(items);
    expect(await reopened(manager).session.getItems()).toStrictEqual(items);
    expect(manager.buildSessionContext().messages[1]).toMatchObject({
      content: [{ type: "thinking" }, { id: "c1", arguments: { path: "b.txt" } }, { id: "c2" }],
    });
    await session.popItem();
    await session.popItem();
    expect(await session.getItems()).toStrictEqual(items.slice(0, -2));
    manager.branch(before);
    expect(await session.getItems()).toStrictEqual(TURN);
  });

  test("keeps only the first of repeated calls, and writes nothing for a change of nothing", async () => {
    const { manager, session } = onFile();
    await session.addItems([user("a"), call("c1")]);
    await session.addItems([call("c1"), call("c2")]);
    await session.addItems([call("c1")]);
    const replacement = call("c1", "other");
    const mutation = { type: "replace_function_call" as const, callId: "c1", replacement };
    const mutations = [mutation];
    await session.applyHistoryMutations({ mutations });
    expect(await session.getItems()).toStrictEqual([user("a"), replacement, call("c2")]);
    const before = manager.getEntryCount();
    await session.applyHistoryMutations({ mutations: [] });
    await session.applyHistoryMutations({ mutations: [{ ...mutation, callId: "none" }] });
    expect(manager.getEntryCount()).toBe(before);
  });
});

describe("a manager opened earlier", () => {
  const append = { type: "append_items" as const, items: [user("once")] };

  async function twoManagers(items: object[] = [user("a"), said("b")]) {
    const { manager, session } = onFile();
    await session.addItems(items);
    return { manager, session, ...named(reopened(manager)) };
  }

  const named = ({ manager, session }: ReturnType<typeof reopened>) => ({ later: manager, other: session });

  test.each([
    ["an append", append, [user("a"), said("b"), user("once")]],
    [
      "a replaced end",
      { type: "replace_suffix" as const, expectedSuffix: [said("b")], replacement: [said("c")] },
      [user("a"), said("c")],
    ],
    [
      "a removed history",
      { type: "replace_suffix" as const, expectedSuffix: [user("a"), said("b")], replacement: [] },
      [],
    ],
  ])("does not apply %s a second time, and continues after it", async (_what, transaction, items) => {
    const { manager, session, later, other } = await twoManagers();
    await other.applyHistoryTransaction({ operationId: "op1", transaction });
    const count = later.getEntryCount();
    await session.applyHistoryTransaction({ operationId: "op1", transaction });
    expect(later.getEntryCount()).toBe(count);
    expect(manager.refresh()).toEqual([]);
    expect(manager.getEntryCount()).toBe(count);
    expect(await session.getItems()).toStrictEqual(items);
    await session.addItems([user("more")]);
    expect(await session.getItems()).toStrictEqual([...items, user("more")]);
    expect(await reopened(manager).session.getItems()).toStrictEqual([...items, user("more")]);
  });

  test("continues from the other's leaf, even after further appends before and after it", async () => {
    const { session, other } = await twoManagers();
    await other.addItems([user("before")]);
    await other.applyHistoryTransaction({ operationId: "op1", transaction: append });
    await other.addItems([said("behind")]);
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    expect(await session.getItems()).toStrictEqual(await other.getItems());
  });

  test("refuses another transaction under the same id", async () => {
    const { session, other, later } = await twoManagers();
    await other.applyHistoryTransaction({ operationId: "op1", transaction: append });
    const transaction = { ...append, items: [user("twice")] };
    await expect(session.applyHistoryTransaction({ operationId: "op1", transaction })).rejects.toThrow(
      TypeError,
    );
    later.refresh();
    expect(await other.getItems()).toHaveLength(3);
  });

  test("applies the transaction to a separate history", async () => {
    const { session, other } = await twoManagers();
    await session.addItems([user("own")]);
    await other.applyHistoryTransaction({ operationId: "op1", transaction: append });
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append });
    expect(await session.getItems()).toStrictEqual([user("a"), said("b"), user("own"), user("once")]);
  });
});

describe("transactions that the SDK's own session refuses", () => {
  const hidden = (object: object, key: PropertyKey = "hidden") =>
    Object.defineProperty(object, key, { value: 1 });
  const computed = (object: object) =>
    Object.defineProperty(object, "text", { get: () => 1, enumerable: true });
  const items: readonly (readonly [string, () => object])[] = [
    ["plain data", () => user("a")],
    ["frozen data", () => Object.freeze(user("a"))],
    ["an undefined field", () => ({ ...user("a"), more: undefined })],
    ["bytes", () => ({ ...user("a"), more: new Uint8Array([1]) })],
    ["no prototype", () => Object.assign(Object.create(null), user("a"))],
    ["the same object twice", () => ({ ...user("a"), ...((one) => ({ x: one, y: one }))({}) })],
    ["a hidden field", () => hidden(user("a"))],
    ["a hidden field within", () => ({ ...user("a"), more: hidden({}) })],
    ["a hidden toJSON", () => ({ ...user("a"), more: hidden({}, "toJSON") })],
    ["a symbol", () => ({ ...user("a"), [Symbol("x")]: 1 })],
    ["a hidden symbol", () => hidden(user("a"), Symbol("x"))],
    ["a computed field", () => computed(user("a"))],
    ["a gap in a list", () => ({ ...user("a"), more: Array(2) })],
    ["a field of a list", () => ({ ...user("a"), more: Object.assign([1], { x: 1 }) })],
    ["a hidden field of a list", () => ({ ...user("a"), more: hidden([1]) })],
    ["a class", () => ({ ...user("a"), more: new (class Some {})() })],
    ["a date", () => ({ ...user("a"), more: new Date(0) })],
    ["a function", () => ({ ...user("a"), more: () => 1 })],
  ];
  const transactions: readonly (readonly [string, () => unknown])[] = [
    ...items.map(([what, make]) => [what, () => ({ type: "append_items", items: [make()] })] as const),
    ["an unknown field", () => ({ type: "append_items", items: [], more: 1 })],
    ["an undefined unknown field", () => ({ type: "append_items", items: [], more: undefined })],
    ["a field of the other type", () => ({ type: "append_items", items: [], replacement: [] })],
    [
      "an unknown field next to a suffix",
      () => ({ type: "replace_suffix", expectedSuffix: [], replacement: [], x: 1 }),
    ],
    ["a hidden field next to the type", () => hidden({ type: "append_items", items: [] })],
    ["a hidden list", () => Object.defineProperty({ type: "append_items" }, "items", { value: [] })],
    ["an inherited list", () => Object.create({ type: "append_items", items: [] })],
    ["no list", () => ({ type: "append_items", items: { length: 0 } })],
    ["a missing list", () => ({ type: "replace_suffix", replacement: [] })],
    ["a set", () => ({ type: "append_items", items: new Set() })],
    ["a list with a gap", () => ({ type: "append_items", items: Array(1) })],
    ["null", () => null],
  ];

  test.each(transactions)("are refused here too, and others are accepted: %s", async (_what, make) => {
    const outcome = async (session: object) => {
      const before: unknown = await Reflect.apply(Reflect.get(session, "getItems"), session, []);
      try {
        const args = { operationId: "op1", transaction: make() };
        await Reflect.apply(Reflect.get(session, "applyHistoryTransaction"), session, [args]);
        return "accepted";
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(await Reflect.apply(Reflect.get(session, "getItems"), session, [])).toEqual(before);
        return "refused";
      }
    };
    const { session } = onFile();
    expect(await outcome(session)).toBe(await outcome(new MemorySession()));
  });
});
