import { describe, expect, it } from "vitest";
import { convertToLlm } from "../../../src/core/context/convert-to-llm.ts";
import type { AgentMessage, BashExecutionMessage } from "../../../src/core/format/message.ts";
import { assistant, user } from "../../support/messages.ts";
import { call, result, system } from "./support/entries.ts";

const bash = (patch: Partial<BashExecutionMessage> = {}): BashExecutionMessage => ({
  role: "bashExecution",
  command: "ls -l",
  output: "total 0",
  exitCode: 0,
  cancelled: false,
  truncated: false,
  timestamp: 3,
  ...patch,
});
const parsed = (text: string): AgentMessage[] => JSON.parse(text);

describe("convertToLlm", () => {
  it("keeps messages of provider roles as the same objects", () => {
    const messages = [system("a"), user("b"), assistant("c"), result("d")];
    const converted = convertToLlm(messages);
    expect(converted).not.toBe(messages);
    converted.forEach((message, i) => {
      expect(message).toBe(messages[i]);
    });
    expect(converted).toHaveLength(4);
  });

  it("converts a text to one block where the role has blocks, and a bare name to a tool", () => {
    const stored = parsed(`[
      {"role":"assistant","content":"half an answer","stopReason":"stop"},
      {"role":"toolResult","toolCallId":"c","content":"done"},
      {"role":"system","content":"x","toolsRemoved":["read", {"name":"write"}]}
    ]`);
    expect(convertToLlm(stored)).toEqual([
      { role: "assistant", content: [{ type: "text", text: "half an answer" }], stopReason: "stop" },
      { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "done" }] },
      { role: "system", content: "x", toolsRemoved: [{ name: "read" }, { name: "write" }] },
    ]);
  });

  it.each<[string, Partial<BashExecutionMessage>, string]>([
    ["output", {}, "Ran `ls -l`\n```\ntotal 0\n```"],
    ["output that ends in a line break", { output: "a\n" }, "Ran `ls -l`\n```\na\n\n```"],
    ["no output", { output: "" }, "Ran `ls -l`\n(no output)"],
    ["failure", { exitCode: 2 }, "Ran `ls -l`\n```\ntotal 0\n```\n\nCommand exited with code 2"],
    ["a negative code", { exitCode: -1 }, "Ran `ls -l`\n```\ntotal 0\n```\n\nCommand exited with code -1"],
    ["no code", { exitCode: undefined }, "Ran `ls -l`\n```\ntotal 0\n```"],
    [
      "cancelled",
      { cancelled: true, exitCode: 130 },
      "Ran `ls -l`\n```\ntotal 0\n```\n\n(command cancelled)",
    ],
    [
      "truncated",
      { truncated: true, fullOutputPath: "/tmp/out" },
      "Ran `ls -l`\n```\ntotal 0\n```\n\n[Output truncated. Full output: /tmp/out]",
    ],
    ["truncated, path unknown", { truncated: true }, "Ran `ls -l`\n```\ntotal 0\n```"],
    ["a path, not truncated", { fullOutputPath: "/tmp/out" }, "Ran `ls -l`\n```\ntotal 0\n```"],
    [
      "everything",
      { output: "", exitCode: 1, truncated: true, fullOutputPath: "/tmp/out" },
      "Ran `ls -l`\n(no output)\n\nCommand exited with code 1\n\n[Output truncated. Full output: /tmp/out]",
    ],
  ])("describes a command: %s", (_name, patch, text) => {
    expect(convertToLlm([bash(patch)])).toEqual([
      { role: "user", content: [{ type: "text", text }], timestamp: 3 },
    ]);
  });

  it("uses no values that are not strings", () => {
    const stored = parsed(`[
      {"role":"bashExecution","command":{},"output":[],"truncated":true,"fullOutputPath":{},"timestamp":3},
      {"role":"compactionSummary","summary":{},"timestamp":3},
      {"role":"branchSummary","summary":[5],"timestamp":3}
    ]`);
    const said = convertToLlm(stored).map(({ content }) => content);
    expect(said).toEqual([
      [{ type: "text", text: "Ran ``\n(no output)" }],
      [{ type: "text", text: expect.stringMatching(/<summary>\n\n<\/summary>$/) }],
      [{ type: "text", text: expect.stringMatching(/<summary>\n\n<\/summary>$/) }],
    ]);
  });

  it("omits a command that is hidden from the model", () => {
    expect(convertToLlm([bash({ excludeFromContext: true })])).toEqual([]);
    expect(convertToLlm([bash({ excludeFromContext: false })])).toHaveLength(1);
  });

  it("converts an extension's message to a user message with blocks", () => {
    const custom = {
      role: "custom" as const,
      customType: "t",
      display: false,
      details: { a: 1 },
      timestamp: 4,
    };
    const blocks = [{ type: "image" as const, data: "AA==", mimeType: "image/png" }];
    expect(
      convertToLlm([
        { ...custom, content: "x" },
        { ...custom, content: blocks },
      ]),
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "x" }], timestamp: 4 },
      { role: "user", content: blocks, timestamp: 4 },
    ]);
  });

  it.each<[string, AgentMessage, RegExp]>([
    [
      "branch",
      { role: "branchSummary", summary: "went there", fromId: "e1", timestamp: 6 },
      /branch .*came back/,
    ],
    [
      "compacted history",
      { role: "compactionSummary", summary: "went there", tokensBefore: 1, timestamp: 6 },
      /before this point was compacted/,
    ],
  ])("describes a %s in a sentence and a tag", (_name, message, sentence) => {
    const [converted] = convertToLlm([message]);
    expect(converted).toMatchObject({ role: "user", timestamp: 6, content: [{ type: "text" }] });
    const text = JSON.stringify(converted);
    expect(text).toMatch(sentence);
    expect(text).toContain("<summary>\\nwent there\\n</summary>");
  });

  it("omits unknown roles and values that are not messages", () => {
    expect(
      convertToLlm(parsed('[{"role":"of-a-host"}, {"role":"toString"}, null, 5, "x", [], {}, {"role":7}]')),
    ).toEqual([]);
  });

  it("survives messages without their fields", () => {
    const messages = parsed(
      '[{"role":"bashExecution"}, {"role":"custom"}, {"role":"custom","content":5}, {"role":"branchSummary"}, {"role":"compactionSummary"}]',
    );
    const converted = convertToLlm(messages);
    expect(converted.map(({ role }) => role)).toEqual(["user", "user", "user", "user", "user"]);
    expect(JSON.stringify(converted)).not.toContain("undefined");
  });

  it("pairs tool calls and results only on request", () => {
    const broken = [assistant([call("c1")]), bash(), result("c2")];
    expect(convertToLlm(broken)).toHaveLength(3);
    expect(convertToLlm(broken, { repairToolPairs: false })).toHaveLength(3);
    const repaired = convertToLlm(broken, { repairToolPairs: true });
    expect(repaired.map(({ role }) => role)).toEqual(["assistant", "toolResult", "user"]);
    expect(repaired[1]).toMatchObject({ toolCallId: "c1", isError: true });
  });

  it("does not treat a command hidden from the model as an interruption", () => {
    const messages = [assistant([call("c1")]), bash({ excludeFromContext: true }), result("c1")];
    expect(convertToLlm(messages, { repairToolPairs: true })).toEqual([messages[0], messages[2]]);
  });
});
