import { describe, expect, it } from "vitest";
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  getLatestCompactionEntry,
  projectPath,
} from "../../../src/core/context/session-context.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import type { SessionHeader } from "../../../src/core/format/header.ts";
import { assistant, user } from "../../support/messages.ts";
import { brief, Line, result, system, watchedPath } from "./support/entries.ts";

const header: SessionHeader = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/",
};
const entry = (id: string, parentId: string | null, text = id): AnySessionEntry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: user(text),
});
const ids = (entries: readonly AnySessionEntry[]) => entries.map(({ id }) => id);
const briefs = (entries: readonly AnySessionEntry[], leafId?: string | null) =>
  buildSessionContext(entries, leafId).messages.map(brief);

describe("the leaf", () => {
  const tree = [entry("a", null), entry("b", "a"), entry("c", "a"), entry("d", "c")];

  it.each<[string, string | null | undefined, string[]]>([
    ["undefined: the last entry", undefined, ["a", "c", "d"]],
    ["unknown: the last entry", "nowhere", ["a", "c", "d"]],
    ["empty: the last entry", "", ["a", "c", "d"]],
    ["null: before the first", null, []],
    ["an id: that entry", "b", ["a", "b"]],
  ])("%s", (_name, leafId, expected) => {
    expect(ids(buildContextEntries(tree, leafId))).toEqual(expected);
    expect(ids(buildContextEntries(tree, leafId, new Map(tree.map((one) => [one.id, one]))))).toEqual(
      expected,
    );
  });

  it("is looked up in the map if given", () => {
    const byId = new Map([["x", entry("x", "a")], ...tree.map((one) => [one.id, one] as const)]);
    expect(ids(buildContextEntries(tree, "x", byId))).toEqual(["a", "x"]);
  });

  it("may be an entry, with the header not counted as one", () => {
    expect(ids(buildContextEntries([header, ...tree]))).toEqual(["a", "c", "d"]);
    expect(ids(buildContextEntries([...tree, header]))).toEqual(["a", "c", "d"]);
    expect(
      ids(buildContextEntries([...tree, header], undefined, new Map(tree.map((one) => [one.id, one])))),
    ).toEqual(["a", "c", "d"]);
  });

  it("of an empty session is null", () => {
    const empty = { messages: [], thinkingLevel: "off", model: null };
    expect(buildSessionContext([])).toEqual(empty);
    expect(buildSessionContext([header])).toEqual(empty);
    expect(buildSessionContext(tree, null)).toEqual(empty);
    expect(buildSessionProjection([])).toEqual({ entries: [], ...empty });
  });
});

describe("the path", () => {
  it("begins at a missing parent", () => {
    expect(briefs([entry("a", null), entry("b", "gone"), entry("c", "b")])).toEqual(["user:b", "user:c"]);
  });

  it("begins at a parent that is not a string", () => {
    const odd = { ...entry("b", null), parentId: undefined };
    expect(buildContextEntries([entry("a", null), ...JSON.parse(JSON.stringify([odd]))])).toHaveLength(1);
  });

  it("finds a parent that is later in the file", () => {
    expect(ids(buildContextEntries([entry("b", "a"), entry("a", null), entry("c", "b")]))).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("uses the nearest preceding entry among several with the parent's id", () => {
    const twins = [entry("a", null, "one"), entry("b", "a"), entry("a", "b", "two"), entry("c", "a")];
    expect(briefs(twins)).toEqual(["user:one", "user:b", "user:two", "user:c"]);
    expect(briefs(twins, "a")).toEqual(["user:one"]);
  });

  it("breaks a cycle at its first entry in the file", () => {
    const cycle = [entry("a", "c"), entry("b", "a"), entry("c", "b"), entry("d", "c")];
    expect(ids(buildContextEntries(cycle))).toEqual(["a", "b", "c", "d"]);
    expect(ids(buildContextEntries(cycle, "b"))).toEqual(["a", "b"]);
    expect(ids(buildContextEntries([entry("a", "a"), entry("b", "a")]))).toEqual(["a", "b"]);
  });

  it("ends at a cycle of a map, too", () => {
    const cycle = [entry("a", "b"), entry("b", "a")];
    expect(buildContextEntries(cycle, "b", new Map(cycle.map((one) => [one.id, one])))).toHaveLength(2);
  });

  it("is found in linear time, at any depth, with any ids", () => {
    const deep = Array.from({ length: 200_000 }, (_, i) => entry(`n${i}`, i === 0 ? null : `n${i - 1}`));
    expect(buildSessionContext(deep).messages).toHaveLength(200_000);
    const alike = Array.from({ length: 200_000 }, () => entry("x", "x"));
    expect(buildContextEntries(alike)).toHaveLength(200_000);
  });

  it("ignores values that are not entries", () => {
    const odd: AnySessionEntry[] = JSON.parse('[null, 5, "x", [], {}, {"type": 3}]');
    expect(ids(buildContextEntries([...odd, entry("a", null), ...odd]))).toEqual(["a"]);
    expect(getLatestCompactionEntry([...odd])).toBeNull();
  });
});

describe("the projection", () => {
  it("names the entry of every message, and lists entries without messages", () => {
    const line = new Line();
    const first = line.message(user("a"));
    const label = line.add({ type: "label", targetId: "e1", label: "x" });
    const unknown = line.raw("unheard_of", { message: user("no") });
    const { entries, messages } = buildSessionProjection(line.entries);
    expect(entries.map(({ sourceEntry }) => sourceEntry)).toEqual([first, label, unknown]);
    expect(entries.map((one) => one.messages.length)).toEqual([1, 0, 0]);
    expect(entries[0]?.sourceEntry).toBe(first);
    expect(messages[0]).toBe(first.message);
  });

  it("is the context with entries", () => {
    const line = new Line();
    line.message(user("a"));
    line.message(assistant("b"));
    const { entries: _entries, ...context } = buildSessionProjection(line.entries);
    expect(context).toEqual(buildSessionContext(line.entries));
  });

  it("puts the summary before the kept messages", () => {
    const line = new Line();
    line.message(system("rules"));
    line.message(user("old"));
    line.message(user("kept"));
    line.compaction("e3", { systemMessage: system("rules"), summary: "s" });
    line.message(system("new rules"));
    line.message(user("after"));
    expect(briefs(line.entries)).toEqual([
      "system:rules",
      "compactionSummary:s",
      "user:kept",
      "system:new rules",
      "user:after",
    ]);
  });

  it("omits an older compaction that a newer one keeps", () => {
    const line = new Line();
    line.message(user("a"));
    line.compaction("e1", { summary: "old" });
    line.message(user("b"));
    line.compaction("e1", { summary: "new" });
    expect(briefs(line.entries)).toEqual(["compactionSummary:new", "user:a", "user:b"]);
    expect(ids(buildContextEntries(line.entries))).toEqual(["e4", "e1", "e2", "e3"]);
  });

  it("puts carried messages after the summary", () => {
    const line = new Line();
    line.message(user("old"));
    line.raw("compaction", { summary: "s", retainedTail: [user("kept")] });
    line.message(user("after"));
    expect(briefs(line.entries)).toEqual(["compactionSummary:s", "user:kept", "user:after"]);
    const both = line.raw("compaction", {
      summary: "s",
      retainedTail: [user("kept")],
      firstKeptEntryId: "e3",
    });
    expect(briefs(line.entries)).toEqual(["compactionSummary:s", "user:after"]);
    Object.assign(both, { firstKeptEntryId: "nowhere" });
    expect(briefs(line.entries)).toEqual(["compactionSummary:s", "user:kept"]);
  });

  it("omits entries with damaged bodies", () => {
    const line = new Line();
    line.message(user("a"));
    line.message(user("b"));
    const { messages, entries } = projectPath(watchedPath(line.entries, ["e1"]));
    expect(messages.map(brief)).toEqual(["user:b"]);
    expect(entries).toHaveLength(1);
  });
});

describe("context edits", () => {
  it("apply from their position on, the latest for each target", () => {
    const line = new Line();
    line.message(user("a"));
    line.message(user("b"));
    line.edit("e1", { content: "a1" });
    line.edit("e1", { content: "a2" });
    line.edit("e2", null);
    expect(briefs(line.entries)).toEqual(["user:a2"]);
    expect(briefs(line.entries, "e4")).toEqual(["user:a2", "user:b"]);
    expect(briefs(line.entries, "e3")).toEqual(["user:a1", "user:b"]);
    expect(briefs(line.entries, "e2")).toEqual(["user:a", "user:b"]);
  });

  it("of another branch are ignored", () => {
    const line = new Line();
    line.message(user("a"));
    line.edit("e1", null);
    line.at("e1").message(user("b"));
    expect(briefs(line.entries)).toEqual(["user:a", "user:b"]);
  });

  it("that are malformed leave the previous one in force", () => {
    const line = new Line();
    line.message(user("a"));
    line.edit("e1", { content: "a1" });
    line.raw("context_edit", { targetId: "e1", replacement: 5 });
    line.raw("context_edit", { targetId: 5, replacement: null });
    expect(briefs(line.entries)).toEqual(["user:a1"]);
  });

  it("apply to kept entries if they are kept themselves", () => {
    const line = new Line();
    line.message(user("a"));
    line.message(user("b"));
    line.edit("e2", { content: "b1" });
    line.compaction("e2", { summary: "s" });
    expect(briefs(line.entries)).toEqual(["compactionSummary:s", "user:b1"]);
    line.compaction("e4", { summary: "t" });
    line.edit("e5", null);
    expect(briefs(line.entries)).toEqual([]);
  });
});

describe("settings", () => {
  it("are the latest of the whole path, with or without a compaction", () => {
    const line = new Line();
    line.add({ type: "thinking_level_change", thinkingLevel: "low" });
    line.add({ type: "thinking_level_change", thinkingLevel: "high" });
    line.add({ type: "model_change", provider: "p", modelId: "m" });
    line.compaction("e4");
    expect(buildSessionContext(line.entries)).toMatchObject({
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m" },
    });
    line.message(assistant("x", { provider: "q", model: "n" }));
    expect(buildSessionContext(line.entries).model).toEqual({ provider: "q", modelId: "n" });
    line.add({ type: "model_change", provider: "p", modelId: "m" });
    expect(buildSessionContext(line.entries).model).toEqual({ provider: "p", modelId: "m" });
  });

  it("are kept if an edit removes the message", () => {
    const line = new Line();
    line.message(assistant("x", { provider: "q", model: "n" }));
    line.edit("e1", null);
    expect(buildSessionContext(line.entries)).toMatchObject({
      messages: [],
      model: { provider: "q", modelId: "n" },
    });
  });

  it("ignore incomplete values", () => {
    const line = new Line();
    line.add({ type: "model_change", provider: "p", modelId: "m" });
    line.raw("message", { message: { role: "assistant", content: [], provider: "q" } });
    line.raw("message", { message: { role: "assistant", content: [], model: "n", provider: 5 } });
    line.raw("message", { message: { role: "user", content: "x", model: "n", provider: "q" } });
    line.raw("message", { message: null });
    line.raw("model_change", { provider: "q" });
    line.raw("thinking_level_change", { thinkingLevel: 3 });
    expect(buildSessionContext(line.entries)).toMatchObject({
      thinkingLevel: "off",
      model: { provider: "p", modelId: "m" },
    });
  });

  it("fall back on the caller's values if the path has none", () => {
    const silent = watchedPath([]);
    const fallback = { thinkingLevel: "max", model: { provider: "p", modelId: "m" } };
    expect(projectPath(silent, fallback)).toMatchObject(fallback);
    const line = new Line();
    line.add({ type: "thinking_level_change", thinkingLevel: "off" });
    expect(projectPath(watchedPath(line.entries), fallback)).toMatchObject({
      ...fallback,
      thinkingLevel: "off",
    });
  });

  it("are found with a minimum of parsing", () => {
    const line = new Line();
    line.add({ type: "thinking_level_change", thinkingLevel: "high" });
    line.message(user("never asked for"));
    line.message(assistant("answer", { provider: "p", model: "m" }));
    line.message(result("c"));
    line.compaction("e5");
    const path = watchedPath(line.entries);
    expect(projectPath(path)).toMatchObject({
      thinkingLevel: "high",
      model: { provider: "p", modelId: "m" },
    });
    expect(new Set(path.asked)).toEqual(new Set(["e5", "e1", "e4", "e3"]));
  });
});

describe("getLatestCompactionEntry", () => {
  it("returns the last one in the array, or null", () => {
    const line = new Line();
    line.message(user("a"));
    expect(getLatestCompactionEntry([header, ...line.entries])).toBeNull();
    line.compaction("e1");
    const last = line.compaction("e1");
    line.message(user("b"));
    expect(getLatestCompactionEntry(line.entries)).toBe(last);
  });
});
