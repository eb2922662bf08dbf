import { SessionManager } from "sessiontree";
import { describe, expect, it } from "vitest";
import { BindingChat, thinkingCall } from "../../support/thinking-binding/binding-chat.ts";

/** Sends one more request and expects it to contain all valid and no void thinking. */
function expectExact(chat: BindingChat): void {
  chat.say("And now?");
  chat.ask();
  chat.say("And then?");
  chat.request();
  expect({ void: chat.sentVoid, leftOut: chat.leftOut }).toEqual({ void: [], leftOut: [] });
}

function causes(chat: BindingChat): (string | undefined)[] {
  const issues = chat.last?.issues ?? [];
  return issues.flatMap((issue) => (issue.code === "THINKING_DROPPED" ? [issue.causedBy] : []));
}

/** Appends two turns, the first with a tool call. */
function begin(chat: BindingChat): {
  readonly prompt: string;
  readonly result: string;
  readonly end: string;
} {
  const prompt = chat.say("Look.");
  chat.ask(thinkingCall("toolu_1"));
  const result = chat.result("toolu_1", "found");
  chat.ask();
  chat.say("Go on.");
  return { prompt, result, end: chat.ask() };
}

describe("a session's request sends all valid and no void thinking", () => {
  const start = () => new BindingChat(SessionManager.inMemory());

  it("in plain turns", () => {
    const chat = start();
    begin(chat);
    expectExact(chat);
    expect(chat.last?.issues).toEqual([]);
  });

  it("after a compaction that keeps turns", () => {
    const chat = start();
    const { end } = begin(chat);
    const kept = chat.say("Keep this.");
    chat.ask();
    const compaction = chat.session.appendCompaction("Notes.", kept, 100);
    expect(end).not.toBe(kept);
    expectExact(chat);
    expect(new Set(causes(chat))).toEqual(new Set([compaction]));
  });

  it("after a context edit", () => {
    const chat = start();
    const { result } = begin(chat);
    const edit = chat.session.appendContextEdit(result, null);
    expectExact(chat);
    expect(causes(chat)).toEqual([edit, edit]);
  });

  it("after new instructions", () => {
    const chat = start();
    begin(chat);
    const system = chat.session.appendMessage({ role: "system", content: "Be brief.", timestamp: 9 });
    expectExact(chat);
    expect(causes(chat)).toEqual([system, system, system]);
  });

  it("after an aborted answer", () => {
    const chat = start();
    begin(chat);
    chat.say("Stop.");
    const request = chat.request();
    const [block] = chat.api.sign(request, chat.model, [{ type: "thinking", thinking: "", signature: "" }]);
    chat.session.appendMessage({ ...chat.answer(request, [block ?? {}]), stopReason: "aborted" });
    expectExact(chat);
  });

  it("after a late result", () => {
    const chat = start();
    chat.say("Run it.");
    chat.ask(thinkingCall("toolu_1"));
    chat.say("While it runs?");
    chat.ask();
    // The result is quoted at the leaf, so nothing before the answer changes.
    chat.result("toolu_1", "done");
    expectExact(chat);
    expect(causes(chat)).toEqual([]);
  });

  it("on another branch", () => {
    const chat = start();
    const { result } = begin(chat);
    const edit = chat.session.appendContextEdit(result, { content: "less" });
    chat.say("On the first branch.");
    chat.ask();
    chat.session.branch(result);
    chat.session.appendMessage({ role: "user", content: "Another way.", timestamp: 9 });
    chat.ask();
    expectExact(chat);
    expect(edit).not.toBe(result);
    expect(causes(chat)).toEqual([]);
  });

  it("after a redaction, although the tree then shows the same in both", () => {
    const chat = start();
    const { result } = begin(chat);
    const redaction = chat.session.redactEntry(result);
    expectExact(chat);
    expect(causes(chat)).toEqual([redaction, redaction]);
  });

  it("after a redaction on another branch", () => {
    const chat = start();
    const { result, end } = begin(chat);
    chat.session.branch(result);
    chat.say("Elsewhere.");
    const redaction = chat.session.redactEntry(result);
    chat.session.branch(end);
    expectExact(chat);
    expect(causes(chat)).toEqual([redaction, redaction]);
  });

  it("with another model in between", () => {
    const chat = start();
    begin(chat);
    const other = new BindingChat(chat.session, { api: chat.api, model: "claude-haiku-5-5" });
    other.say("You, too.");
    other.ask();
    other.say("More.");
    other.ask();
    expectExact(chat);
    expectExact(other);
  });
});
