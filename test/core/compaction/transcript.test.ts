import { describe, expect, it } from "vitest";
import { serializeConversation, shortenText } from "../../../src/core/compaction/transcript.ts";
import { convertToLlm } from "../../../src/core/context/convert-to-llm.ts";
import type { Message } from "../../../src/core/format/message.ts";
import { call, toolResult as result, user } from "../../support/messages.ts";
import { assistant, malformed, system } from "./builders.ts";

describe("serializeConversation", () => {
  it("writes each part under its label, joined by blank lines, text before calls", () => {
    const calls = [call("1", "read", { path: "a.ts", lines: [1, 2] }), call("2", "stop", {})];
    const message = assistant("Let me look.", calls);
    const reversed = { ...message, content: [...message.content].reverse() };
    for (const said of [message, reversed]) {
      const parts = serializeConversation([user("Hello"), said, result("1", "text of a")]).split("\n\n");
      expect(parts[0]).toBe("[User]: Hello");
      expect(parts[1]).toBe("[Assistant]: Let me look.");
      expect(parts[2]?.startsWith("[Assistant tool calls]: ")).toBe(true);
      expect(parts[2]).toContain('read(path="a.ts", lines=[1,2])');
      expect(parts[3]).toBe("[Tool result]: text of a");
      expect(parts).toHaveLength(4);
    }
    expect(serializeConversation([assistant("", calls)])).toBe(
      '[Assistant tool calls]: read(path="a.ts", lines=[1,2]); stop()',
    );
  });

  it("joins blocks without a separator, those of an assistant with a line break", () => {
    const content = [
      { type: "text" as const, text: "a" },
      { type: "text" as const, text: "b" },
    ];
    expect(serializeConversation([{ role: "user", content, timestamp: 1 }])).toBe("[User]: ab");
    expect(serializeConversation([{ ...result("1", ""), content }])).toBe("[Tool result]: ab");
    expect(serializeConversation([{ ...assistant(""), content }])).toBe("[Assistant]: a\nb");
  });

  it("omits thinking, images, system messages, and empty parts", () => {
    const image = { type: "image" as const, data: "aaaa", mimeType: "image/png" };
    const thinking = { type: "thinking" as const, thinking: "hm" };
    expect(
      serializeConversation([
        system("rules"),
        { role: "user", content: [image], timestamp: 1 },
        { ...assistant(""), content: [thinking] },
        result("1", ""),
        { role: "user", content: "plain", timestamp: 1 },
      ]),
    ).toBe("[User]: plain");
    expect(serializeConversation([])).toBe("");
  });

  it("cuts a tool result over 2,000 units and states how much", () => {
    expect(serializeConversation([result("1", "x".repeat(2000))])).toBe(`[Tool result]: ${"x".repeat(2000)}`);
    expect(serializeConversation([result("1", "x".repeat(2123))])).toBe(
      `[Tool result]: ${"x".repeat(2000)}\n\n[... 123 more characters truncated]`,
    );
    expect(serializeConversation([user("x".repeat(5000))])).toHaveLength("[User]: ".length + 5000);
  });

  it("never cuts inside a surrogate pair", () => {
    const text = `${"x".repeat(1999)}😀yz`;
    expect(serializeConversation([result("1", text)])).toBe(
      `[Tool result]: ${"x".repeat(1999)}\n\n[... 4 more characters truncated]`,
    );
    const pairBefore = `${"x".repeat(1998)}😀yz`;
    expect(serializeConversation([result("1", pairBefore)])).toBe(
      `[Tool result]: ${"x".repeat(1998)}😀\n\n[... 2 more characters truncated]`,
    );
  });

  it("writes messages of extensions and commands as convertToLlm does", () => {
    const note = { role: "custom" as const, customType: "n", content: "noted", display: true, timestamp: 1 };
    expect(serializeConversation(convertToLlm([note]))).toBe("[User]: noted");
  });

  it("keeps arguments named __proto__, and those that are not an object", () => {
    const args = JSON.parse('{"__proto__":{"a":1}}');
    expect(serializeConversation([assistant("", [call("1", "x", args)])])).toContain('x(__proto__={"a":1})');
    const odd = malformed({
      role: "assistant",
      content: [{ type: "toolCall", name: "x", arguments: "raw" }],
    });
    expect(serializeConversation([odd as Message])).toBe('[Assistant tool calls]: x("raw")');
  });

  it("survives malformed messages", () => {
    const odd = [
      null,
      {},
      { role: "user" },
      { role: "assistant", content: "as text" },
      { role: "toolResult", content: "too" },
    ];
    expect(serializeConversation(odd.map((message) => malformed(message) as Message))).toBe(
      "[Assistant]: as text\n\n[Tool result]: too",
    );
  });
});

describe("shortenText", () => {
  it("keeps a text that is short enough", () => {
    expect(shortenText("abc", 3)).toBe("abc");
    expect(shortenText("abcd", 3)).toBe("abc\n\n[... 1 more characters truncated]");
  });

  it("cuts between lone surrogates as between other units", () => {
    expect(shortenText("\ud83d\ud83d\ud83d", 2)).toBe("\ud83d\ud83d\n\n[... 1 more characters truncated]");
    expect(shortenText("ab\ude00", 2)).toBe("ab\n\n[... 1 more characters truncated]");
    expect(shortenText("\ude00\ude00\ude00", 2)).toBe("\ude00\ude00\n\n[... 1 more characters truncated]");
  });
});
