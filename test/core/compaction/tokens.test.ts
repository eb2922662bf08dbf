import { describe, expect, it } from "vitest";
import {
  countByScript,
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
import { assistant, bash, makePath, malformed, system } from "./builders.ts";

describe("estimateTokens", () => {
  it("is a quarter of the characters, rounded up once", () => {
    expect(estimateTokens(user("12345678"))).toBe(2);
    expect(estimateTokens(user("123456789"))).toBe(3);
    expect(estimateTokens(user(""))).toBe(0);
    const split = [1, 2, 3].map(() => ({ type: "text" as const, text: "x" }));
    expect(estimateTokens({ role: "user", content: split, timestamp: 1 })).toBe(1);
  });

  it("counts a string like one text block", () => {
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

  it("does not count fields that are never sent: details and nested calls", () => {
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
    ["invalid blocks", { role: "user", content: [null, "x", 3, { type: "text" }] }, 0],
    ["a call without arguments", { role: "assistant", content: [{ type: "toolCall", name: "1234" }] }, 1],
    ["a command without output", { role: "bashExecution", command: "1234" }, 1],
    ["a summary that is missing", { role: "compactionSummary" }, 0],
    ["an unknown role", { role: "hologram", content: "12345678" }, 2],
    ["a value that is not a message", null, 0],
  ])("does not throw on %s", (_, message, expected) => {
    expect(estimateTokens(malformed(message))).toBe(expected);
  });

  it("does not throw on cyclic or very deep arguments", () => {
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

  it("calls the caller's counter for each text, and counts images as 1,200 tokens", () => {
    const seen: string[] = [];
    const counter = (text: string) => seen.push(text) && 10;
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    const content = [{ type: "text" as const, text: "one" }, image, { type: "text" as const, text: "two" }];
    expect(estimateTokens({ role: "user", content, timestamp: 1 }, counter)).toBe(1220);
    expect(seen).toEqual(["one", "two"]);
  });

  it("rejects a counter that returns no size", () => {
    expect(() => estimateTokens(user("x"), () => Number.NaN)).toThrow(TypeError);
  });
});

describe("calculateContextTokens", () => {
  it("uses the total if present", () => {
    expect(calculateContextTokens({ ...usage(0), input: 1, output: 2, totalTokens: 50 })).toBe(50);
  });

  it("otherwise adds the four parts, without reasoning", () => {
    const parts = { ...usage(0), input: 1, output: 20, cacheRead: 300, cacheWrite: 4000, reasoning: 9 };
    expect(calculateContextTokens(parts)).toBe(4321);
    const { totalTokens, ...without } = parts;
    expect(calculateContextTokens(without as typeof parts)).toBe(4321);
  });

  it("is 0 for keys of other programs", () => {
    expect(calculateContextTokens(JSON.parse('{"prompt_tokens":5,"cache":{"read":1}}'))).toBe(0);
    expect(calculateContextTokens(JSON.parse("null"))).toBe(0);
  });
});

describe("countByScript", () => {
  // With the counts of two tokenizers, o200k_base and cl100k_base.
  it.each([
    ["The file is damaged. Please run the tests again and report what they say.", 16, 16],
    ["文件已经损坏。请重新运行测试，并报告测试的结果。", 15, 20],
    ["ファイルが壊れています。テストをもう一度実行して、結果を報告してください。", 24, 32],
    ["파일이 손상되었습니다. 테스트를 다시 실행하고 결과를 보고해 주세요.", 17, 28],
    ["Файл повреждён. Запустите тесты ещё раз и сообщите, что они показали.", 22, 32],
    ["الملف تالف. يرجى تشغيل الاختبارات مرة أخرى والإبلاغ عن النتائج.", 18, 46],
  ])("counts %s about as tokenizers do", (text, min, max) => {
    const counted = countByScript(text);
    expect(counted).toBeGreaterThanOrEqual(min);
    expect(counted).toBeLessThanOrEqual(max * 1.25);
  });

  it("counts Latin text as the estimate does, and Chinese characters as one token each", () => {
    expect(countByScript("123456789")).toBe(2.25);
    expect(estimateTokens(user("123456789"), countByScript)).toBe(3);
    expect(countByScript("会".repeat(4000))).toBe(4000);
    expect(countByScript("会".repeat(10) + "x".repeat(8))).toBe(12);
  });
});

describe("getLastAssistantUsage", () => {
  it("ignores empty usages and those of unfinished answers", () => {
    const path = makePath(
      assistant("a", [], 100),
      { ...assistant("b", [], 200), stopReason: "aborted" },
      { ...assistant("c", [], 300), stopReason: "error" },
      { ...assistant("c", [], 400), stopReason: "pending" },
      { ...assistant("c", [], 500), stopReason: "deferred" },
      assistant("d"),
      user("e"),
      { type: "label", targetId: "e0", label: "x" },
    );
    expect(getLastAssistantUsage(path)?.totalTokens).toBe(100);
  });

  it("returns the stored object", () => {
    const message = assistant("a", [], 100);
    expect(getLastAssistantUsage(makePath(message))).toBe(message.usage);
  });

  it("finds nothing in messages without usage, or with other keys", () => {
    const other = malformed({ role: "assistant", content: [], usage: { prompt_tokens: 4 } });
    const none = malformed({ role: "assistant", content: [] });
    const path = makePath(other, none, malformed(null), { type: "message" });
    expect(getLastAssistantUsage(path)).toBeUndefined();
    expect(getLastAssistantUsage([])).toBeUndefined();
  });
});

describe("estimateContextTokens", () => {
  it("adds the messages after the last usage", () => {
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

  it("estimates everything without usage", () => {
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

  it("is the usage plus the messages after it if nothing else changed the context", () => {
    const path = makePath(
      user("a"),
      assistant("b", [], 700),
      { type: "label", targetId: "e0", label: "x" },
      user(tokens(5)),
    );
    expect(estimate(path)).toEqual({ tokens: 705, usageTokens: 700, trailingTokens: 5, lastUsageIndex: 1 });
  });

  it("ignores a usage from before the last compaction", () => {
    const compaction = {
      type: "compaction",
      summary: tokens(10),
      firstKeptEntryId: "e1",
      tokensBefore: 9000,
    };
    const path = makePath(
      user(tokens(400)),
      user(tokens(3)),
      assistant(tokens(2), [], 9000),
      compaction,
      user(tokens(1)),
    );
    expect(estimate(path)).toEqual({ tokens: 16, usageTokens: 0, trailingTokens: 16, lastUsageIndex: null });
  });

  it("uses the first usage after the compaction", () => {
    const compaction = {
      type: "compaction",
      summary: tokens(10),
      firstKeptEntryId: "e0",
      tokensBefore: 9000,
    };
    const path = makePath(
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

  it("ignores a usage from before the last context edit", () => {
    const edit = { type: "context_edit", targetId: "e0", replacement: { content: tokens(4) } };
    const path = makePath(user(tokens(400)), assistant(tokens(2), [], 9000), edit, user(tokens(1)));
    expect(estimate(path).tokens).toBe(7);
  });

  it("counts the effective system message once", () => {
    const patched = (text: string) => ({ ...system(""), sections: { rules: text } });
    const path = makePath(patched(tokens(100)), patched(tokens(5)), user(tokens(1)));
    expect(estimate(path)).toMatchObject({ tokens: 6, lastUsageIndex: null });
  });
});

describe("shouldCompact", () => {
  const settings = { enabled: true, reserveTokens: 100, keepRecentTokens: 10 };

  it("is true once less than the reserve is free", () => {
    expect(shouldCompact(900, 1000, settings)).toBe(false);
    expect(shouldCompact(901, 1000, settings)).toBe(true);
  });

  it("is never true if disabled", () => {
    expect(shouldCompact(5000, 1000, { ...settings, enabled: false })).toBe(false);
  });
});
