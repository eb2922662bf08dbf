import { SessionManager } from "sessiontree";
import { fromAnthropicResponse, fromBedrockResponse, toAnthropic, toBedrock } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { user } from "../../support/messages.ts";
import { BindingChat, thinking, thinkingCall } from "../../support/thinking-binding/binding-chat.ts";
import { BindingCheck } from "../../support/thinking-binding/binding-check.ts";

const model = "claude-opus-5-5";

type Request = ReturnType<typeof toAnthropic>;

/** A chat whose host reports what it sent, with its own system text and tools. */
class TellingChat extends BindingChat {
  system = "Be brief.";
  tools = [{ name: "bash" }];

  override received(request: Request): object {
    return { request: { ...request, ...this.own } };
  }

  get own() {
    const { system, tools } = this;
    return { system, tools };
  }

  override request(options = {}): Request {
    const request = toAnthropic(this.session, { model, ...this.own, ...options });
    this.requests++;
    this.last = request;
    const sent = { ...request, ...this.own };
    for (const { signature, reason } of this.api.check(sent, model))
      if (reason !== undefined) this.sentVoid.push(`${this.requests}: ${signature} ${reason}`);
    return request;
  }

  override ask(content?: Parameters<BindingChat["ask"]>[0], options = {}): string {
    const request = this.request(options);
    const answer = content ?? [thinking(), { type: "text", text: "Done." }];
    const signed = this.api.sign({ ...request, ...this.own }, model, answer);
    return this.session.appendMessage(this.answer(request, signed));
  }
}

function signaturesIn(request: unknown): number {
  return JSON.stringify(request).split('"signature"').length - 1;
}

function start(): TellingChat {
  const chat = new TellingChat(SessionManager.inMemory());
  chat.say("Look.");
  chat.ask(thinkingCall("toolu_1"));
  chat.result("toolu_1", "found");
  chat.ask();
  chat.say("Go on.");
  return chat;
}

describe("the request stored with the answer", () => {
  it("is kept as hashes, without any of its text", () => {
    const chat = start();
    const answers = chat.session.buildSessionContext().messages.filter(({ role }) => role === "assistant");
    const kept = JSON.stringify(answers.map((answer) => "details" in answer && answer.details));
    expect(kept).toMatch(/"requestHash"/);
    expect(kept).not.toMatch(/brief|bash|Look/);
  });

  it("keeps thinking while the host sends the same", () => {
    const chat = start();
    expect(signaturesIn(chat.request())).toBe(2);
    expect(chat.sentVoid).toEqual([]);
  });

  it("drops thinking once the host sends another system text or other tools", () => {
    for (const change of [{ system: "Be long." }, { tools: [{ name: "read" }] }]) {
      const chat = start();
      Object.assign(chat, change);
      expect(signaturesIn(chat.request())).toBe(0);
      expect(chat.last?.issues.map(({ code, index }) => [code, index])).toEqual([
        ["THINKING_DROPPED", 1],
        ["THINKING_DROPPED", 3],
      ]);
      chat.ask();
      chat.say("And?");
      expect(signaturesIn(chat.request())).toBe(1);
      expect(chat.sentVoid).toEqual([]);
    }
  });

  it("drops thinking before an answer whose request contained none", () => {
    const chat = start();
    const answer = chat.ask(undefined, { dropThinking: true });
    chat.say("And?");
    expect(signaturesIn(chat.request())).toBe(1);
    expect(chat.sentVoid).toEqual([]);
    expect(chat.last?.issues.map(({ causedBy }) => causedBy)).toEqual([answer, answer]);
  });

  it("drops thinking whose request contained something that the session does not", () => {
    const chat = start();
    const request = chat.request();
    const sent = { ...request, ...chat.own, messages: [...request.messages, user("<reminder>")] };
    const signed = chat.api.sign(sent, model, [thinking(), { type: "text", text: "Done." }]);
    const response = {
      ...{ id: "msg_9", model, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } },
      content: signed.map((block) => ({ ...block, type: "type" in block ? String(block.type) : "" })),
    };
    chat.session.appendMessage(fromAnthropicResponse(response, { timestamp: 9, request: sent }).message);
    chat.say("And?");
    expect(signaturesIn(chat.request())).toBe(2);
    expect(chat.sentVoid).toEqual([]);
  });

  it("is ignored if its data is damaged", () => {
    const chat = start();
    const [entry] = chat.session
      .getEntries()
      .filter(({ type }) => type === "message")
      .slice(3, 4);
    if (entry?.type !== "message" || entry.message.role !== "assistant") throw new Error("no answer");
    const copy = SessionManager.inMemory();
    for (const one of chat.session.buildSessionContext().messages) {
      const details = { requestHash: { system: 1, messages: [] } };
      if (one.role === "user" || one.role === "toolResult") copy.appendMessage(one);
      if (one.role === "assistant") copy.appendMessage({ ...one, details });
    }
    expect(signaturesIn(toAnthropic(copy, { model }))).toBe(2);
  });

  it("is refused if it is not a request", () => {
    const response = {
      id: "m",
      model,
      content: [],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const options = JSON.parse('{ "timestamp": 1, "request": [] }');
    expect(() => fromAnthropicResponse(response, options)).toThrow(TypeError);
    expect(() => toAnthropic(JSON.parse("{}"))).toThrow("Pass the messages of a context, or a session.");
  });
});

describe("a session at another leaf", () => {
  it("is requested there", () => {
    const chat = start();
    const leafId = chat.session.getPathIds()[1];
    const { messages } = toAnthropic(chat.session, { model, ...(leafId !== undefined && { leafId }) });
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(() => toAnthropic(chat.session, { leafId: "nowhere" })).toThrow("Entry nowhere not found");
  });
});

describe("model names", () => {
  it("are compared by family and version", () => {
    const chat = start();
    for (const [name, count] of [
      ["claude-opus-5-5-20260901", 2],
      ["us.anthropic.claude-opus-5-5-v1:0", 2],
      ["claude-opus-5.5", 2],
      ["claude-opus-5-4", 0],
      ["claude-haiku-5-5", 0],
    ] as const)
      expect(signaturesIn(toAnthropic(chat.session, { ...chat.own, model: name })), name).toBe(count);
  });

  it("have no effect below 5.1", () => {
    const session = SessionManager.inMemory();
    const old = new BindingChat(session, { model: "claude-sonnet-4-5" });
    old.say("Hi.");
    old.ask();
    old.say("And?");
    const compaction = old.session.appendCompaction("Notes.", session.getPathIds()[1] ?? "", 10);
    expect(compaction).toBeDefined();
    const { messages } = session.buildSessionContext();
    const { issues: _, ...ofSession } = toAnthropic(session, { model: "claude-sonnet-4-5" });
    const { issues: __, ...ofMessages } = toAnthropic(messages, { model: "claude-sonnet-4-5" });
    expect(ofSession).toEqual(ofMessages);
    expect(signaturesIn(ofSession)).toBe(1);
  });
});

describe("imported thinking", () => {
  it("is never sent, but thinking generated after it is", () => {
    const session = SessionManager.inMemory();
    session.appendCustomEntry("sessiontree.import", { source: "claude-code", sourceId: "1" });
    const imported = new BindingChat(session, { api: new BindingCheck("claude.ai") });
    imported.say("Hi.");
    imported.ask();
    const chat = new TellingChat(session);
    chat.say("Continue here.");
    chat.ask();
    chat.say("And?");
    expect(signaturesIn(chat.request())).toBe(1);
    expect(chat.sentVoid).toEqual([]);
  });
});

describe("blockBinding", () => {
  it("adds what the API needs for models that bind their thinking", () => {
    const request = toAnthropic([user("Hi.")], { model, blockBinding: "drop_block" });
    expect(request.thinking).toEqual({
      type: "adaptive",
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    });
    expect(request.betas).toEqual(["thinking-binding-controls-2026-08-01"]);
    const old = toAnthropic([user("Hi.")], { model: "claude-opus-5", blockBinding: "error" });
    expect(Object.keys(old)).toEqual(["messages", "issues"]);
  });

  it("keeps the provider's report, names its entry, and drops that thinking from then on", () => {
    const chat = new BindingChat(SessionManager.inMemory());
    chat.say("Hi.");
    const first = chat.ask();
    chat.say("And?");
    const request = chat.request();
    const reported = [
      { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
      { type: "something_new", path: "messages.0.content.0", reason: "?" },
    ];
    const response = {
      ...{ id: "msg_2", model, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } },
      content: [{ type: "text", text: "So." }],
      input_transformations: reported,
    };
    const { message, issues } = fromAnthropicResponse(response, { timestamp: 5, request });
    expect(issues).toEqual([
      {
        code: "THINKING_MISMATCH",
        index: -1,
        message: "The provider omitted the thinking at messages.1.content.0: prefix_binding_mismatch.",
        entryId: first,
      },
    ]);
    const answer = chat.session.appendMessage(message);
    chat.say("Then?");
    const { messages, issues: later } = toAnthropic(chat.session, { model });
    expect(signaturesIn(messages)).toBe(0);
    expect(later).toMatchObject([{ code: "THINKING_DROPPED", entryId: first, causedBy: answer }]);
  });
});

describe("instructions and tools in place", () => {
  const tool = { name: "read", description: "Reads.", parameters: { type: "object" } };
  const inline = { systemMessages: "inline" as const };

  it("follow the user's next turn and void nothing", () => {
    const chat = new BindingChat(SessionManager.inMemory());
    chat.session.appendMessage({ role: "system", content: "Help.", timestamp: 1 });
    chat.say("Look.");
    chat.ask(thinkingCall("toolu_1"), inline);
    chat.session.appendMessage({ role: "system", content: "Be brief.", toolsAdded: [tool], timestamp: 1 });
    chat.result("toolu_1", "found");
    chat.ask(undefined, inline);
    chat.session.appendMessage({
      role: "system",
      content: "",
      toolsRemoved: [{ name: "read" }],
      timestamp: 1,
    });
    chat.say("Go on.");
    chat.ask(undefined, inline);
    chat.say("And?");
    const { system, messages, betas } = toAnthropic(chat.session, { model, ...inline });
    expect(system).toBe("Help.");
    expect(messages.map(({ role }) => role).join(" ")).toBe(
      "user assistant user system assistant user system assistant user",
    );
    expect(messages[3]?.content).toEqual([
      { type: "text", text: "Be brief." },
      {
        type: "tool_addition",
        tool: {
          type: "tool_definition",
          definition: { name: "read", description: "Reads.", input_schema: { type: "object" } },
        },
      },
    ]);
    expect(messages[6]?.content).toEqual([
      { type: "tool_removal", tool: { type: "tool_reference", name: "read" } },
    ]);
    expect(betas).toEqual(["inline-tools-2026-09-15"]);
    chat.request(inline);
    expect({ void: chat.sentVoid, leftOut: chat.leftOut }).toEqual({ void: [], leftOut: [] });
    expect(signaturesIn(messages)).toBe(3);
  });
});

describe("toBedrock", () => {
  const bedrock = "us.anthropic.claude-opus-5-5-v1:0";

  it("drops void thinking in the same way", () => {
    const session = SessionManager.inMemory();
    const api = new BindingCheck();
    const sentVoid: unknown[] = [];
    const ask = (text: string) => {
      session.appendMessage({ role: "user", content: text, timestamp: 1 });
      const { issues: _, ...request } = toBedrock(session, { model: bedrock });
      sentVoid.push(...api.check(request, bedrock).filter(({ reason }) => reason !== undefined));
      const content = api.sign(request, bedrock, [
        { reasoningContent: { reasoningText: { text: "Hm.", signature: "" } } },
        { text: "Done." },
      ]);
      const response = { output: { message: { role: "assistant", content } }, stopReason: "end_turn" };
      return session.appendMessage(
        fromBedrockResponse(response, { timestamp: 1, model: bedrock, request }).message,
      );
    };
    ask("One.");
    ask("Two.");
    const second = session.getPathIds()[2] ?? "";
    session.appendContextEdit(second, { content: "Other." });
    ask("Three.");
    ask("Four.");
    const request = toBedrock(session, { model: bedrock });
    expect(sentVoid).toEqual([]);
    expect(signaturesIn(request)).toBe(3);
    expect(Object.keys(request)).toEqual(["messages", "issues"]);
  });
});

describe("an answer that continues another", () => {
  it("loses its thinking if the other ended in white space, which a request must not end in", () => {
    const chat = new BindingChat(SessionManager.inMemory());
    chat.say("Hi.");
    chat.ask([thinking(), { type: "text", text: "Let me see. " }]);
    const second = chat.ask();
    chat.say("And?");
    const { issues } = chat.request();
    expect({ void: chat.sentVoid, leftOut: chat.leftOut }).toEqual({ void: [], leftOut: [] });
    expect(issues).toMatchObject([{ code: "THINKING_DROPPED", entryId: second, causedBy: second }]);
  });
});
