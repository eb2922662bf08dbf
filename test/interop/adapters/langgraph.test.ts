import { readFileSync } from "node:fs";
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { type Checkpoint, emptyCheckpoint, JsonPlusSerializer, uuid6 } from "@langchain/langgraph-checkpoint";
import { isSessionError, type SessionManager } from "sessiontree";
import { SessionTreeSaver } from "sessiontree/langgraph";
import { fileStore, memoryStore, type SessionStore } from "sessiontree/stores";
import { describe, expect, test } from "vitest";
import { scaleCount } from "../../support/share.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { answer, clerk, texts } from "./support/clerk.ts";
import { testOtherProcesses } from "./support/other-processes.ts";

const thread = (thread_id: string, more: object = {}) => ({ configurable: { thread_id, ...more } });
const metadata = { source: "loop" as const, step: 1, parents: {} };
const openThread = (store: SessionStore, id: string) =>
  store.open(new SessionTreeSaver(store).sessionIdOf(id));
const said = (session: SessionManager) =>
  session.buildSessionContext().messages.map(({ role, ...rest }) => {
    const { content } = { content: "", ...rest };
    const text =
      typeof content === "string"
        ? content
        : content.map((one) => ("text" in one ? one.text : one.type)).join(" ");
    return `${role}: ${text}`;
  });

describe("a graph with tools, an interrupt, and a subgraph", () => {
  test("resumes over another store's files, and its session shows the conversation", async () => {
    const sessionDir = temporaryFolder();
    const first = fileStore({ sessionDir });
    const question = new HumanMessage({ id: "h1", content: "Why is the cart empty?" });
    const stopped = await clerk(first).invoke({ messages: [question] }, thread("t/1"));
    expect(stopped).toHaveProperty("__interrupt__");
    await first.close();

    const store = fileStore({ sessionDir });
    const graph = clerk(store);
    const resumed = await graph.invoke(new Command({ resume: "yes" }), thread("t/1"));
    expect(texts(resumed.messages)).toEqual([
      "Why is the cart empty?",
      "",
      "text of a",
      "It is about carts.",
      "Done: yes",
    ]);
    const session = await openThread(store, "t/1");
    const conversation = [
      "user: Why is the cart empty?",
      "assistant: toolCall",
      "toolResult: text of a",
      "assistant: It is about carts.",
      "assistant: Done: yes",
    ];
    expect(said(session)).toEqual(conversation);
    const hits = [];
    for await (const { snippet } of store.search("about carts")) hits.push(snippet);
    // Once where the subgraph wrote it and once where the graph adopted it; its tokens count once.
    expect(hits).toHaveLength(2);
    const counted = session
      .getEntries()
      .flatMap((entry) =>
        entry.type === "message" && entry.message.role === "assistant"
          ? [entry.message.usage.totalTokens]
          : [],
      );
    expect(counted.sort()).toEqual([0, 15, 15, 15]);

    const state = await graph.getState(thread("t/1"));
    expect(state.values.messages).toEqual(resumed.messages);
    expect(state.values.messages[4]).toBeInstanceOf(AIMessage);
    await graph.invoke({ messages: [new HumanMessage("And now?")] }, thread("t/1"));
    expect(said(session)).toEqual(conversation);
    await session.refreshAsync();
    expect(session.getEntries().filter(({ type }) => type === "message")).toHaveLength(9);
    await store.close();
  });

  test("branches for an older checkpoint and for a changed state", async () => {
    const store = memoryStore();
    const graph = clerk(store);
    await graph.invoke({ messages: [new HumanMessage({ id: "h1", content: "Go" })] }, thread("t"));
    await graph.invoke(new Command({ resume: "yes" }), thread("t"));
    const history = [];
    for await (const state of graph.getStateHistory(thread("t"))) history.push(state);
    const ids = history.map(({ config }) => String(config.configurable?.["checkpoint_id"]));
    expect(ids).toEqual([...ids].sort().reverse());
    const before = history.find(({ next }) => next[0] === "ask");
    const forked = await graph.updateState(before?.config ?? {}, {
      messages: [new HumanMessage({ id: "h1", content: "Stay" })],
    });
    const again = await graph.invoke(null, forked);
    expect(texts(again.messages)).toEqual(["Stay", "", "text of a"]);
    const session = await openThread(store, "t");
    expect(said(session)).toEqual(["user: Stay", "assistant: toolCall", "toolResult: text of a"]);
    const leaves = session
      .getLeaves()
      .map(({ id }) =>
        session.getBranch(id).flatMap((entry) => (entry.type === "message" ? [entry.id] : [])),
      );
    expect(leaves.length).toBeGreaterThan(1);
    // Earlier messages stay in place.
    const old = await graph.getState(history[0]?.config ?? {});
    expect(texts(old.values.messages)).toEqual(["Go", "", "text of a", "It is about carts.", "Done: yes"]);
    const copied = await graph.updateState(history[2]?.config ?? {}, null, "__copy__");
    expect((await graph.getState(copied)).values).toEqual(
      (await graph.getState(history[2]?.config ?? {})).values,
    );
  });

  test("removes and changes messages in the session's context as in its state", async () => {
    const store = memoryStore();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("say", ({ messages }) => ({
        messages: [answer(`a${messages.length}`, `Answer ${messages.length}`)],
      }))
      .addEdge(START, "say")
      .addEdge("say", END)
      .compile({ checkpointer: new SessionTreeSaver(store) });
    const ask = (id: string, content: string) =>
      graph.invoke({ messages: [new HumanMessage({ id, content })] }, thread("t"));
    await ask("h1", "One");
    await ask("h2", "Two");
    await graph.updateState(thread("t"), {
      messages: [new RemoveMessage({ id: "h1" }), answer("a1", "Changed.")],
    });
    await graph.updateState(thread("t"), { messages: [answer("a1", "Changed twice.")] });
    const state = await ask("h3", "Three");
    const wanted = ["Changed twice.", "Two", "Answer 3", "Three", "Answer 4"];
    expect(texts(state.messages)).toEqual(wanted);
    const session = await openThread(store, "t");
    expect(said(session).map((text) => text.split(": ")[1])).toEqual(wanted);
    const another = new SessionTreeSaver(store);
    expect((await another.get(thread("t")))?.channel_values["messages"]).toEqual(state.messages);
  });
});

testOtherProcesses(() => {
  const sessionDir = temporaryFolder();
  return { address: sessionDir, openStore: () => fileStore({ sessionDir }) };
});

/** Writes checkpoints in sequence, as a run of a graph does. */
async function run(
  saver: SessionTreeSaver,
  states: readonly Record<string, unknown>[],
  id = "t",
): Promise<object[]> {
  const configs: object[] = [];
  let config: object = thread(id);
  let versions: Record<string, number> = {};
  for (const [at, channel_values] of states.entries()) {
    versions = {
      ...versions,
      ...Object.fromEntries(Object.keys(channel_values).map((name) => [name, at + 1])),
    };
    const checkpoint: Checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(at),
      channel_values,
      channel_versions: versions,
    };
    config = await saver.put(config, checkpoint, { ...metadata, step: at }, versions);
    configs.push(config);
  }
  return configs;
}

const human = (at: number) => new HumanMessage({ id: `h${at}`, content: `Message ${at}` });

test("appends only what the checkpoints change", async () => {
  const maxCount = 4 * scaleCount(250);
  const bytesOf = async (count: number) => {
    const store = fileStore({ sessionDir: temporaryFolder() });
    const saver = new SessionTreeSaver(store);
    const messages = Array.from({ length: count }, (_, at) => human(at));
    const states = messages.map((_, at) => ({ messages: messages.slice(0, at + 1) }));
    await run(saver, states);
    const last = await saver.get(thread("t"));
    expect(last?.channel_values["messages"]).toEqual(messages);
    const path = (await openThread(store, "t")).getSessionFile() ?? "";
    await store.close();
    return readFileSync(path).length;
  };
  const [part, whole] = [await bytesOf(maxCount / 4), await bytesOf(maxCount)];
  expect(whole).toBeLessThan(4.2 * part);
  expect(whole / maxCount).toBeLessThan(1500);
});

test("shows each of two processes what the other wrote to the thread", async () => {
  const sessionDir = temporaryFolder();
  const [a, b] = [fileStore({ sessionDir }), fileStore({ sessionDir })];
  const [one, two] = [new SessionTreeSaver(a), new SessionTreeSaver(b)];
  const [first] = await run(one, [{ messages: [human(1)], note: "x" }]);
  const next = await two.put(
    first ?? {},
    {
      ...emptyCheckpoint(),
      id: uuid6(7),
      channel_values: { messages: [human(1), human(2)], note: "x" },
      channel_versions: { messages: 2, note: 1 },
    },
    metadata,
    { messages: 2 },
  );
  await two.putWrites(next, [["messages", [human(3)]]], "task");
  const tuple = await one.getTuple(thread("t"));
  expect(tuple?.checkpoint.channel_values).toEqual({ messages: [human(1), human(2)], note: "x" });
  expect(tuple?.pendingWrites).toEqual([["task", "messages", [human(3)]]]);
  expect(tuple?.parentConfig).toEqual(first);
  await Promise.all([a.close(), b.close()]);
});

describe("bad input", () => {
  const put = (
    saver: SessionTreeSaver,
    channel_values: Record<string, unknown>,
    config: object = thread("t"),
  ) => {
    const channel_versions = Object.fromEntries(Object.keys(channel_values).map((name) => [name, 1]));
    return saver.put(
      config,
      { ...emptyCheckpoint(), id: uuid6(1), channel_values, channel_versions },
      metadata,
      channel_versions,
    );
  };
  const codeOf = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return isSessionError(error) ? error.code : String(error);
  };

  test("refuses a value that cannot be serialized, and writes nothing", async () => {
    const store = memoryStore();
    const saver = new SessionTreeSaver(store);
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const config = await put(saver, { note: '"[Circular]"' });
    const entries = async () => (await openThread(store, "t")).getEntryCount();
    const before = await entries();
    let deep: unknown = "bottom";
    for (let level = 0; level < 3_000; level++) deep = level % 2 === 0 ? { deep } : [deep];
    const none = () => undefined;
    const lost = [none, { none }, [new Map([["a", none]])], Symbol("s"), { s: Symbol("s") }, deep];
    for (const value of [cycle, 7n, { deep: [7n] }, ...lost]) {
      expect(await codeOf(put(saver, { value }))).toBe("ENTRY_INVALID");
      expect(await codeOf(saver.putWrites(config, [["value", value]], "task"))).toBe("ENTRY_INVALID");
    }
    expect(await entries()).toBe(before);
    expect((await saver.get(thread("t")))?.channel_values).toEqual({ note: '"[Circular]"' });
  });

  test("restores bytes as bytes, at any position", async () => {
    const saver = new SessionTreeSaver(memoryStore());
    const bytes = new Uint8Array([1, 2, 255]);
    const message = new ToolMessage({
      id: "t1",
      content: "x",
      tool_call_id: "c",
      artifact: Buffer.from(bytes),
    });
    const buffer = Buffer.from(bytes);
    const config = await put(saver, {
      ...{ buffer, bytes, inside: { list: [buffer, bytes], map: new Map([["a", buffer]]) } },
      messages: [message],
    });
    await saver.putWrites(config, [["buffer", { buffer }]], "task");
    const tuple = await saver.getTuple(config);
    expect(tuple?.checkpoint.channel_values).toMatchObject({
      ...{ buffer: bytes, bytes, inside: { list: [bytes, bytes], map: new Map([["a", bytes]]) } },
      messages: [{ artifact: bytes }],
    });
    expect(tuple?.pendingWrites).toEqual([["task", "buffer", { buffer: bytes }]]);
    expect(JSON.stringify(buffer)).toContain("Buffer");
  });

  test("accepts a value nested a thousand levels deep", async () => {
    const saver = new SessionTreeSaver(memoryStore());
    let value: unknown = "bottom";
    for (let level = 0; level < 1_000; level++) value = { value };
    await put(saver, { value });
    expect((await saver.get(thread("t")))?.channel_values).toEqual({ value });
    expect(await codeOf(put(saver, { value: { value } }))).toBe("ENTRY_INVALID");
  });

  test("does not recreate a thread that is deleted while a run writes to it", async () => {
    const sessionDir = temporaryFolder();
    const store = fileStore({ sessionDir, deletesForGood: true });
    const saver = new SessionTreeSaver(store);
    const config = await put(saver, { note: "x" });
    await new SessionTreeSaver(fileStore({ sessionDir, deletesForGood: true })).deleteThread("t");
    expect(await codeOf(put(saver, { note: "y" }, config))).toBe("SESSION_NOT_FOUND");
    expect(await codeOf(saver.putWrites(config, [["note", "y"]], "task"))).toBe("SESSION_NOT_FOUND");
    expect(await saver.getTuple(thread("t"))).toBeUndefined();
    await saver.deleteThread("t");
    await put(saver, { note: "z" });
    expect((await saver.get(thread("t")))?.channel_values).toEqual({ note: "z" });
    await store.close();
  });

  test("accepts ids of any shape for threads, namespaces, checkpoints, tasks, and channels, and refuses non-strings", async () => {
    const saver = new SessionTreeSaver(memoryStore());
    const odd = ["__proto__", "constructor", "../..", "a b\n", "ä|😀", "x".repeat(500), "\ud83d"];
    for (const id of odd) {
      const config = thread(id, { checkpoint_ns: id });
      const channel_values = Object.fromEntries([[id, [human(1)]]]);
      const channel_versions = Object.fromEntries([[id, 1]]);
      const stored = await saver.put(
        config,
        { ...emptyCheckpoint(), id, channel_values, channel_versions },
        metadata,
        channel_versions,
      );
      await saver.putWrites(stored, [[id, id]], id);
      const tuple = await saver.getTuple(stored);
      expect(tuple?.checkpoint.channel_values).toEqual(channel_values);
      expect(tuple?.pendingWrites).toEqual([[id, id, id]]);
    }
    const all = [];
    for await (const { config } of saver.list({})) all.push(config.configurable?.["thread_id"]);
    expect(all.sort()).toEqual([...odd].sort());
    for (const bad of [7, "", null, {}])
      await expect(put(saver, {}, thread(JSON.parse(JSON.stringify(bad))))).rejects.toThrow(TypeError);
    await expect(put(saver, {}, {})).rejects.toThrow("The config has no thread_id.");
    const broken: Checkpoint = Object.assign(emptyCheckpoint(), { channel_values: JSON.parse("[]") });
    await expect(saver.put(thread("t"), broken, metadata, {})).rejects.toThrow("This is not a checkpoint");
  });

  test("accepts a repeated checkpoint, and refuses one whose parent was never stored, such as a deleted thread's", async () => {
    const saver = new SessionTreeSaver(memoryStore());
    const parent: Checkpoint = {
      ...emptyCheckpoint(),
      id: "a",
      channel_values: { messages: [human(1)], note: "x" },
      channel_versions: { messages: 1, note: 1 },
    };
    const child: Checkpoint = {
      ...emptyCheckpoint(),
      id: "b",
      channel_values: { messages: [human(1), human(2)], note: "x" },
      channel_versions: { messages: 2, note: 1 },
    };
    await put(saver, { note: "first" });
    const putChild = () => saver.put(thread("t", { checkpoint_id: "a" }), child, metadata, { messages: 2 });
    expect(await codeOf(putChild())).toBe("SESSION_NOT_FOUND");
    await saver.put(thread("t"), parent, metadata, { messages: 1, note: 1 });
    await saver.put(thread("t"), parent, metadata, { messages: 1, note: 1 });
    await putChild();
    const tuple = await saver.getTuple(thread("t", { checkpoint_id: "b" }));
    expect(tuple?.checkpoint.channel_values).toEqual(child.channel_values);
    expect(tuple?.parentConfig).toEqual(thread("t", { checkpoint_ns: "", checkpoint_id: "a" }));
    expect(await saver.get(thread("t", { checkpoint_id: "a" }))).toEqual(parent);
  });

  test("reports and skips an entry that is not a checkpoint known to this version", async () => {
    const store = memoryStore();
    const saver = new SessionTreeSaver(store);
    await put(saver, { note: "x" });
    const session = await openThread(store, "t");
    session.appendCustomEntry("langgraph.checkpoint", { checkpointHead: { id: "zzz", ns: "", v: "five" } });
    session.appendCustomEntry("langgraph.writes", 7);
    await session.flush();
    const again = new SessionTreeSaver(store);
    expect((await again.get(thread("t")))?.channel_values).toEqual({ note: "x" });
    expect((await again.issuesOf("t")).map(({ code, entryId }) => [code, entryId])).toEqual(
      session
        .getEntries()
        .slice(-2)
        .map(({ id }) => ["STATE_INVALID", id]),
    );
  });

  test("returns a checkpoint of a later format with its version", async () => {
    const saver = new SessionTreeSaver(memoryStore());
    const later = {
      ...emptyCheckpoint(),
      v: 9,
      channel_values: { note: "x" },
      channel_versions: { note: "9.1" },
    };
    const config = await saver.put(thread("t"), later, metadata, { note: "9.1" });
    expect((await saver.getTuple(config))?.checkpoint).toEqual(later);
  });
});

test("removes redacted content from the state, and a run that still has it does not restore it", async () => {
  const store = memoryStore();
  const saver = new SessionTreeSaver(store);
  const secret = new HumanMessage({ id: "h9", content: "The password is hunter2." });
  const [config] = await run(saver, [{ messages: [human(1), secret], note: "x" }]);
  const getMessages = async (from: SessionTreeSaver) =>
    (await from.get(thread("t")))?.channel_values["messages"];
  const before = await getMessages(saver);
  expect(before).toEqual([human(1), secret]);
  const session = await openThread(store, "t");
  const entries = session.getEntries();
  const entry = entries.find(
    ({ type }, at) => type === "message" && JSON.stringify(entries[at]).includes("hunter2"),
  );
  session.redactEntry(entry?.id ?? "");
  await session.flush();
  const redacted = new HumanMessage({ id: "h9", content: "[redacted]" });
  expect(await getMessages(saver)).toEqual([human(1), redacted]);
  const checkpoint: Checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(9),
    channel_values: { messages: [...(Array.isArray(before) ? before : []), human(2)], note: "x" },
    channel_versions: { messages: 2, note: 1 },
  };
  await saver.put(config ?? {}, checkpoint, metadata, { messages: 2 });
  for (const one of [saver, new SessionTreeSaver(store)])
    expect(await getMessages(one)).toEqual([human(1), redacted, human(2)]);
  const whole = (await openThread(store, "t")).getEntries();
  expect(JSON.stringify(whole)).not.toContain("hunter2");
});

test("passes all values through a custom serializer, and stores nothing else of them", async () => {
  class Reversing extends JsonPlusSerializer {
    override async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
      const [, bytes] = await super.dumpsTyped(value);
      return ["reversed", bytes.reverse()];
    }
    override loadsTyped(_type: string, data: Uint8Array | string) {
      return super.loadsTyped("json", typeof data === "string" ? data : Uint8Array.from(data).reverse());
    }
  }
  const store = memoryStore();
  const saver = new SessionTreeSaver(store, { serde: new Reversing() });
  const values = { messages: [human(1), new ToolMessage({ content: "x", tool_call_id: "c" })], note: "x" };
  await run(saver, [values]);
  expect((await saver.get(thread("t")))?.channel_values).toEqual(values);
  expect(said(await openThread(store, "t"))).toEqual([]);
});
