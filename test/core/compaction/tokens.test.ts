import { describe, expect, it } from "vitest";
import {
  estimateContextTokens,
  estimateProjectedContextTokens,
  estimateTokens,
  getLastAssistantUsage,
  shouldCompact,
} from "../../../src/core/compaction/tokens.ts";
import { makeEntryPath } from "../../../src/core/context/entry-path.ts";
import { projectPath } from "../../../src/core/context/session-context.ts";
import { calculateContextTokens } from "../../../src/core/context/usage.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import { call, toolResult as result, tokens, usage, user } from "../../support/messages.ts";
import { assistant, bash, malformed, pathOf, system } from "./builders.ts";

describe("estimateTokens", () => {
  it("is a quarter of the characters, rounded up once", () => {
    expect(estimateTokens(user("12345678"))).toBe(2);
    expect(estimateTokens(user("123456789"))).toBe(3);
    expect(estimateTokens(user(""))).toBe(0);
    const split = [1, 2, 3].map(() => ({ type: "text" as const, text: "x" }));
    expect(estimateTokens({ role: "user", content: split, timestamp: 1 })).toBe(1);
  });

  it("counts a string like one text", () => {
    expect(estimateTokens({ role: "user", content: "12345", timestamp: 1 })).toBe(2);
  });

  it("counts an image as 4,800 characters, wherever it is", () => {
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    expect(estimateTokens({ role: "user", content: [image, image], timestamp: 1 })).toBe(2400);
    expect(estimateTokens({ ...result("a", "1234"), content: [image] })).toBe(1200);
  });

  it("counts thinking by its length and a tool call by its name and its arguments as JSON", () => {
    const thinking = { type: "thinking" as const, thinking: "12345678" };
    expect(estimateTokens({ ...assistant(""), content: [thinking] })).toBe(2);
    // read + {"path":"a.ts"} is 4 + 15 characters.
    expect(estimateTokens(assistant("", [call("id-does-not-count", "read", { path: "a.ts" })]))).toBe(5);
  });

  it("counts a command with its output, and summaries by their length", () => {
    expect(estimateTokens(bash("1234", "5678"))).toBe(2);
    expect(estimateTokens({ role: "branchSummary", summary: "12345678", fromId: null, timestamp: 1 })).toBe(
      2,
    );
    expect(
      estimateTokens({ role: "compactionSummary", summary: "1234", tokensBefore: 9, timestamp: 1 }),
    ).toBe(1);
  });

  it("counts a system message by content, sections and tools", () => {
    const tool = { name: "read", description: "Reads.", parameters: {} };
    const bare = estimateTokens(system("12345678"));
    expect(bare).toBe(2);
    const sections = {
      role: "system" as const,
      content: "12345678",
      sections: { a: "1234", b: null },
      timestamp: 1,
    };
    expect(estimateTokens(sections)).toBe(3);
    expect(estimateTokens({ ...sections, toolsAdded: [tool] })).toBe(
      Math.ceil((12 + JSON.stringify(tool).length) / 4),
    );
  });

  it("does not count what is never sent: details and nested calls", () => {
    const large = {
      ...result("a", "1234"),
      details: "x".repeat(4000),
      nestedCalls: { calls: [{ id: "n", name: "read", status: "ok" as const }], complete: true },
    };
    expect(estimateTokens(large)).toBe(1);
  });

  it.each([
    ["missing content", { role: "assistant" }, 0],
    ["content null", { role: "user", content: null }, 0],
    ["content a number", { role: "toolResult", content: 7 }, 0],
    ["assistant content a string", { role: "assistant", content: "12345678" }, 2],
    ["blocks that are no blocks", { role: "user", content: [null, "x", 3, { type: "text" }] }, 0],
    ["a call without arguments", { role: "assistant", content: [{ type: "toolCall", name: "1234" }] }, 1],
    ["a command without output", { role: "bashExecution", command: "1234" }, 1],
    ["a summary that is missing", { role: "compactionSummary" }, 0],
    ["an unknown role", { role: "hologram", content: "12345678" }, 2],
    ["no message at all", null, 0],
  ])("does not throw on %s", (_, message, expected) => {
    expect(estimateTokens(malformed(message))).toBe(expected);
  });

  it("does not throw on arguments that are a cycle or deeper than the stack", () => {
    const cycle: { [key: string]: unknown } = {};
    cycle["self"] = cycle;
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    for (const args of [cycle, deep, { n: 1n }]) {
      const message = {
        role: "assistant",
        content: [{ type: "toolCall", id: "a", name: "x", arguments: args }],
      };
      expect(estimateTokens(malformed(message))).toBeGreaterThan(0);
    }
  });

  it("asks the caller's counter for each text, and leaves images at 1,200", () => {
    const seen: string[] = [];
    const counter = (text: string) => seen.push(text) && 10;
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    const content = [{ type: "text" as const, text: "one" }, image, { type: "text" as const, text: "two" }];
    expect(estimateTokens({ role: "user", content, timestamp: 1 }, counter)).toBe(1220);
    expect(seen).toEqual(["one", "two"]);
  });

  it("refuses a counter that gives no size", () => {
    expect(() => estimateTokens(user("x"), () => Number.NaN)).toThrow(TypeError);
  });
});

describe("calculateContextTokens", () => {
  it("takes the total where there is one", () => {
    expect(calculateContextTokens({ ...usage(0), input: 1, output: 2, totalTokens: 50 })).toBe(50);
  });

  it("else adds up the four parts, and reasoning is not a fifth", () => {
    const parts = { ...usage(0), input: 1, output: 20, cacheRead: 300, cacheWrite: 4000, reasoning: 9 };
    expect(calculateContextTokens(parts)).toBe(4321);
    const { totalTokens, ...without } = parts;
    expect(calculateContextTokens(without as typeof parts)).toBe(4321);
  });

  it("is 0 for other programs' keys", () => {
    expect(calculateContextTokens(JSON.parse('{"prompt_tokens":5,"cache":{"read":1}}'))).toBe(0);
    expect(calculateContextTokens(JSON.parse("null"))).toBe(0);
  });
});

describe("getLastAssistantUsage", () => {
  it("passes over aborted, failed and empty usages", () => {
    const path = pathOf(
      assistant("a", [], 100),
      { ...assistant("b", [], 200), stopReason: "aborted" },
      { ...assistant("c", [], 300), stopReason: "error" },
      assistant("d"),
      user("e"),
      { type: "label", targetId: "e0", label: "x" },
    );
    expect(getLastAssistantUsage(path)?.totalTokens).toBe(100);
  });

  it("takes the object that is stored", () => {
    const message = assistant("a", [], 100);
    expect(getLastAssistantUsage(pathOf(message))).toBe(message.usage);
  });

  it("finds nothing in messages without usage, or with other keys", () => {
    const other = malformed({ role: "assistant", content: [], usage: { prompt_tokens: 4 } });
    const none = malformed({ role: "assistant", content: [] });
    const path = pathOf(other, none, malformed(null), { type: "message" });
    expect(getLastAssistantUsage(path)).toBeUndefined();
    expect(getLastAssistantUsage([])).toBeUndefined();
  });
});

describe("estimateContextTokens", () => {
  it("adds to the last usage what came after it", () => {
    const messages = [
      user(tokens(50)),
      assistant("a", [], 1000),
      user(tokens(7)),
      bash(tokens(2), tokens(1)),
    ];
    expect(estimateContextTokens(messages)).toEqual({
      tokens: 1010,
      usageTokens: 1000,
      trailingTokens: 10,
      lastUsageIndex: 1,
    });
  });

  it("estimates everything where there is no usage", () => {
    const messages = [user(tokens(50)), { ...assistant(tokens(3), [], 900), stopReason: "error" as const }];
    expect(estimateContextTokens(messages)).toEqual({
      tokens: 53,
      usageTokens: 0,
      trailingTokens: 53,
      lastUsageIndex: null,
    });
    expect(estimateContextTokens([]).tokens).toBe(0);
  });
});

describe("estimateProjectedContextTokens", () => {
  const estimate = (path: AnySessionEntry[]) =>
    estimateProjectedContextTokens(projectPath(makeEntryPath(path)), path);

  it("is the usage and what follows where nothing changed the context since", () => {
    const path = pathOf(
      user("a"),
      assistant("b", [], 700),
      { type: "label", targetId: "e0", label: "x" },
      user(tokens(5)),
    );
    expect(estimate(path)).toEqual({ tokens: 705, usageTokens: 700, trailingTokens: 5, lastUsageIndex: 1 });
  });

  it("forgets a usage that was counted before the last compaction", () => {
    const compaction = {
      type: "compaction",
      summary: tokens(10),
      firstKeptEntryId: "e1",
      tokensBefore: 9000,
    };
    const path = pathOf(
      user(tokens(400)),
      user(tokens(3)),
      assistant(tokens(2), [], 9000),
      compaction,
      user(tokens(1)),
    );
    expect(estimate(path)).toEqual({ tokens: 16, usageTokens: 0, trailingTokens: 16, lastUsageIndex: null });
  });

  it("takes the first usage after the compaction again", () => {
    const compaction = {
      type: "compaction",
      summary: tokens(10),
      firstKeptEntryId: "e0",
      tokensBefore: 9000,
    };
    const path = pathOf(
      user("a"),
      assistant("b", [], 9000),
      compaction,
      assistant("c", [], 300),
      user(tokens(2)),
    );
    const projection = projectPath(makeEntryPath(path));
    const { lastUsageIndex, ...sizes } = estimateProjectedContextTokens(projection, path);
    expect(sizes).toEqual({ tokens: 302, usageTokens: 300, trailingTokens: 2 });
    expect(projection.messages[lastUsageIndex ?? -1]).toMatchObject({
      role: "assistant",
      content: [{ text: "c" }],
    });
  });

  it("forgets a usage that was counted before the last context edit", () => {
    const edit = { type: "context_edit", targetId: "e0", replacement: { content: tokens(4) } };
    const path = pathOf(user(tokens(400)), assistant(tokens(2), [], 9000), edit, user(tokens(1)));
    expect(estimate(path).tokens).toBe(7);
  });

  it("counts what the system messages come to, once", () => {
    const patched = (text: string) => ({ ...system(""), sections: { rules: text } });
    const path = pathOf(patched(tokens(100)), patched(tokens(5)), user(tokens(1)));
    expect(estimate(path)).toMatchObject({ tokens: 6, lastUsageIndex: null });
  });
});

describe("shouldCompact", () => {
  const settings = { enabled: true, reserveTokens: 100, keepRecentTokens: 10 };

  it("is so once less than the reserve is free", () => {
    expect(shouldCompact(900, 1000, settings)).toBe(false);
    expect(shouldCompact(901, 1000, settings)).toBe(true);
  });

  it("is never so when turned off", () => {
    expect(shouldCompact(5000, 1000, { ...settings, enabled: false })).toBe(false);
  });
});
