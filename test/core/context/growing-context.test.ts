import { beforeEach, describe, expect, it } from "vitest";
import { type EntryPath, makeEntryPath } from "../../../src/core/context/entry-path.ts";
import { findLeafPath } from "../../../src/core/context/leaf-path.ts";
import { buildSessionContext, buildSessionProjection } from "../../../src/core/context/session-context.ts";
import { assistant, user } from "../../support/messages.ts";
import { brief, Line } from "./support/entries.ts";
import { GrowingContext } from "./support/growing-context.ts";

let line: Line;
let cache: GrowingContext;
let builds: number;

beforeEach(() => {
  line = new Line();
  cache = new GrowingContext();
  builds = 0;
});

const path = (): EntryPath => {
  builds++;
  return makeEntryPath(findLeafPath(line.entries, line.leaf));
};
const get = () => cache.get(path);
const lastMade = () => get().context().messages.at(-1);

describe("a growing context", () => {
  it("builds once and grows with each append", () => {
    expect(get().context().messages).toEqual([]);
    cache.extend(line.message(user("a")));
    cache.extend(line.message(assistant("b", { provider: "p", model: "m" })));
    cache.extend(line.add({ type: "thinking_level_change", thinkingLevel: "high" }));
    cache.extend(line.raw("unheard_of", {}));
    expect(get().context()).toEqual(buildSessionContext(line.entries));
    expect(get().projection()).toEqual(buildSessionProjection(line.entries));
    expect(get().contextEntries()).toEqual(line.entries);
    expect(builds).toBe(1);
  });

  it("rebuilds after a compaction and after an edit", () => {
    cache.extend(line.message(user("a")));
    get();
    cache.extend(line.compaction("e1"));
    expect(get().context().messages.map(brief)).toEqual(["compactionSummary:so far", "user:a"]);
    cache.extend(line.edit("e1", { content: "b" }));
    expect(get().context().messages.map(brief)).toEqual(["compactionSummary:so far", "user:b"]);
    expect(builds).toBe(3);
  });

  it("rebuilds after it was cleared", () => {
    line.message(user("a"));
    line.message(user("b"));
    get();
    line.at("e1");
    cache.clear();
    expect(get().context().messages.map(brief)).toEqual(["user:a"]);
  });

  it("applies an edit whose target entry is appended later", () => {
    line.edit("e2", { content: "edited" });
    get();
    cache.extend(line.message(user("a")));
    expect(get().context()).toEqual(buildSessionContext(line.entries));
    expect(builds).toBe(1);
  });

  it("reports issues of the selection, also after growing", () => {
    line.compaction("nowhere");
    expect(get().issue).toMatchObject({ code: "KEPT_ENTRY_MISSING", entryId: "e1" });
    cache.extend(line.message(user("a")));
    expect(get().issue).toMatchObject({ entryId: "e1" });
    cache.extend(line.compaction("e2"));
    expect(get().issue).toBeUndefined();
  });

  it("stays empty if the path cannot be read", () => {
    const failing = () => {
      throw new Error("disk");
    };
    expect(() => cache.get(failing)).toThrow("disk");
    expect(get().context().messages).toEqual([]);
  });

  it("falls back on the given settings until the path has others", () => {
    const model = { provider: "p", modelId: "m" };
    const grown = cache.get(path, { thinkingLevel: "low", model });
    expect(grown.context()).toMatchObject({ thinkingLevel: "low", model });
    cache.extend(line.add({ type: "thinking_level_change", thinkingLevel: "high" }));
    expect(grown.projection()).toMatchObject({ thinkingLevel: "high", model });
    cache.clear();
    expect(get().context()).toMatchObject({ thinkingLevel: "high", model: null });
  });
});

describe("a returned context", () => {
  it.each([[3], [1500]])("never grows later (%i messages)", (count) => {
    for (let i = 0; i < count; i++) line.message(user(`${i}`));
    const before = get().context();
    const projection = get().projection();
    const entries = get().contextEntries();
    cache.extend(line.message(user("later")));
    expect(before.messages).toHaveLength(count);
    expect(before.messages).toBe(before.messages);
    expect(projection.messages).toHaveLength(count);
    expect(projection.entries).toHaveLength(count);
    expect(entries).toHaveLength(count);
    expect(get().context().messages).toHaveLength(count + 1);
  });

  it.each([[3], [1500]])("belongs to the caller (%i messages)", (count) => {
    for (let i = 0; i < count; i++) line.message(user(`${i}`));
    const mine = get().context();
    mine.messages.length = 1;
    mine.messages = [...mine.messages, user("mine")];
    expect(mine.messages.map(brief)).toEqual(["user:0", "user:mine"]);
    expect({ ...mine }.messages).toHaveLength(2);
    expect(JSON.parse(JSON.stringify(mine)).messages).toHaveLength(2);
    expect(get().context()).toEqual(buildSessionContext(line.entries));
  });

  it("does not share the model's object", () => {
    line.add({ type: "model_change", provider: "p", modelId: "m" });
    const { model } = get().context();
    if (model !== null) model.provider = "changed";
    expect(get().context().model).toEqual({ provider: "p", modelId: "m" });
  });

  it("shares messages and lists of messages between calls", () => {
    line.message(user("a"));
    const first = get().projection();
    const second = get().projection();
    expect(first.entries[0]?.messages).toBe(second.entries[0]?.messages);
    expect(first.messages[0]).toBe(second.messages[0]);
  });

  it("has the same converted message for an entry in every build", () => {
    cache.extend(line.add({ type: "custom_message", customType: "t", content: "x", display: true }));
    const made = lastMade();
    cache.clear();
    expect(lastMade()).toBe(made);
    line.message(user("b"));
    cache.clear();
    cache.extend(line.add({ type: "branch_summary", fromId: "e1", summary: "s" }));
    const summary = lastMade();
    cache.extend(line.edit("e1", null));
    expect(lastMade()).toBe(summary);
  });

  it("has the same edited message while the edit is the same", () => {
    line.message(user("a"));
    line.edit("e1", { content: "b" });
    const made = lastMade();
    cache.clear();
    expect(lastMade()).toBe(made);
    cache.extend(line.edit("e1", { content: "c" }));
    expect(lastMade()).toMatchObject({ content: "c" });
    line.at("e1");
    cache.clear();
    expect(lastMade()).toBe(buildSessionContext(line.entries, "e1").messages[0]);
  });

  it("has other messages for a compaction whose kept entry appears later", () => {
    const kept = line.message(user("a"));
    const compaction = line.compaction("e1", { retainedTail: [user("tail")] });
    expect(
      cache
        .get(() => makeEntryPath([compaction]))
        .context()
        .messages.map(brief),
    ).toEqual(["compactionSummary:so far", "user:tail"]);
    cache.clear();
    expect(
      cache
        .get(() => makeEntryPath([kept, compaction]))
        .context()
        .messages.map(brief),
    ).toEqual(["compactionSummary:so far", "user:a"]);
  });

  it("has the summary of a compaction only if the compaction comes first", () => {
    line.message(user("a"));
    line.compaction("e1", { summary: "one" });
    expect(get().context().messages.map(brief)).toEqual(["compactionSummary:one", "user:a"]);
    cache.extend(line.compaction("e1", { summary: "two" }));
    expect(get().context().messages.map(brief)).toEqual(["compactionSummary:two", "user:a"]);
  });
});
