import { SessionManager } from "sessiontree";
import {
  appendConversation,
  fromAnthropic,
  fromGemini,
  fromModelMessages,
  fromOpenAIChat,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AgentMessage, Message } from "../../../src/core/format/message.ts";
import fc from "../../support/fast-check.ts";
import { toolResult, user } from "../../support/messages.ts";
import { makeAnswer } from "./support/conversations.ts";

const said = (text: string) => makeAnswer([{ type: "text", text }], { timestamp: 1 });
const AT = "2026-02-03T22:52:06.410Z";
const system = (content: string): Message => ({ role: "system", content, timestamp: 1 });

function textOf(message: AgentMessage): string {
  const content = "content" in message ? message.content : "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** Returns the texts of a session's context, without the fields that an array lacks. */
const contextOf = (session: SessionManager) => session.buildSessionContext().messages.map(textOf);

describe("appendConversation", () => {
  it("appends what is new, and nothing when called again", () => {
    const session = SessionManager.inMemory();
    const messages = [user("a"), said("b")];
    expect(appendConversation(session, messages)).toMatchObject({ matched: 0, hasBranched: false });
    expect(appendConversation(session, messages)).toEqual({ entryIds: [], matched: 2, hasBranched: false });
    messages.push(user("c"));
    const { entryIds, matched } = appendConversation(session, messages);
    expect([entryIds, matched]).toEqual([[session.getLeafId()], 2]);
    expect(session.getEntryCount()).toBe(3);
  });

  it("branches where an answer was regenerated, and finds the old branch again", () => {
    const session = SessionManager.inMemory();
    const first = [user("a"), said("b"), user("c")];
    const second = [user("a"), said("other"), user("c")];
    appendConversation(session, first);
    expect(appendConversation(session, second)).toMatchObject({ matched: 1, hasBranched: true });
    expect(contextOf(session)).toEqual(second.map(textOf));
    expect(session.getEntryCount()).toBe(5);
    expect(appendConversation(session, first)).toMatchObject({ entryIds: [], matched: 3, hasBranched: true });
    expect(contextOf(session)).toEqual(first.map(textOf));
    expect(session.getEntryCount()).toBe(5);
  });

  it("starts a new root where the first message was changed", () => {
    const session = SessionManager.inMemory();
    appendConversation(session, [user("a"), said("b")]);
    appendConversation(session, [user("A"), said("b")]);
    expect(session.getChildren(null)).toHaveLength(2);
  });

  it("moves the leaf back where the end was removed, and writes nothing for it", () => {
    const session = SessionManager.inMemory();
    appendConversation(session, [user("a"), said("b"), user("c"), said("d")]);
    expect(appendConversation(session, [user("a"), said("b")])).toEqual({
      entryIds: [],
      matched: 2,
      hasBranched: true,
    });
    expect(contextOf(session)).toHaveLength(2);
    expect(session.getEntryCount()).toBe(4);
    expect(appendConversation(session, [])).toMatchObject({ entryIds: [], hasBranched: true });
    expect(session.getLeafId()).toBeNull();
  });

  it("treats two equal messages as two", () => {
    const session = SessionManager.inMemory();
    appendConversation(session, [user("again"), said("ok")]);
    appendConversation(session, [user("again"), said("ok"), user("again"), said("ok")]);
    expect(contextOf(session)).toHaveLength(4);
  });

  it("skips what an array cannot contain, and keeps it on the path", () => {
    const session = SessionManager.inMemory();
    const id = session.appendMessage(user("a"));
    session.appendLabelChange(id, "start");
    session.appendModelChange("acme", "m2");
    session.appendMessage({
      role: "bashExecution",
      command: "ls",
      output: "",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 1,
    });
    session.appendMessage({
      ...makeAnswer([
        { type: "text", text: "Half" },
        { type: "toolCall", id: "t1", name: "read", arguments: {} },
      ]),
      stopReason: "aborted",
    });
    session.appendMessage({
      role: "toolResult",
      toolCallId: "t1",
      toolName: "read",
      content: [],
      isError: true,
      timestamp: 1,
    });
    session.appendMessage(said("b"));
    const leaf = session.getLeafId();
    expect(appendConversation(session, [user("a"), said("b")])).toMatchObject({ entryIds: [], matched: 2 });
    expect(session.getLeafId()).toBe(leaf);
    appendConversation(session, [user("a"), said("other")]);
    expect(session.buildSessionContext().model).toEqual({ provider: "unknown", modelId: "unknown" });
    expect(session.getBranch().map(({ type }) => type)).toContain("model_change");
  });

  it("continues from an array made as a request, with results for calls that had none", () => {
    const session = SessionManager.inMemory();
    const call = { type: "toolCall" as const, id: "t1", name: "read", arguments: {} };
    session.appendMessage(user("a"));
    session.appendMessage(makeAnswer([call]));
    session.appendMessage(user("b"));
    session.appendMessage(makeAnswer([{ type: "thinking", thinking: "Hm." }]));
    const request = toAnthropic(session.buildSessionContext().messages);
    expect(request.messages).toHaveLength(4);
    const next = [...request.messages, { role: "assistant" as const, content: "c" }];
    const { messages } = fromAnthropic(next, { timestamp: 1 });
    expect(appendConversation(session, messages)).toMatchObject({ hasBranched: false });
    expect(session.getEntryCount()).toBe(5);
    expect(appendConversation(session, messages).entryIds).toEqual([]);
  });

  describe("where a server reuses the ids of calls", () => {
    const calling = (path: string) =>
      makeAnswer([{ type: "toolCall", id: "call_0", name: "bash", arguments: { path } }], { timestamp: 1 });

    it("continues after a call that a crash left without a result", () => {
      const session = SessionManager.inMemory();
      const stored = [user("a"), calling("x"), toolResult("call_0", "x"), user("b"), calling("y")];
      for (const message of stored) session.appendMessage(message);
      const { messages: request } = toOpenAIChat(session.buildSessionContext().messages);
      expect(request.slice(-2)).toMatchObject([
        { tool_calls: [{ id: "call_0_2" }] },
        { role: "tool", tool_call_id: "call_0_2", content: expect.stringContaining("interrupted") },
      ]);
      const next = [...request, { role: "user" as const, content: "go on" }];
      const { messages } = fromOpenAIChat(next, { timestamp: 1 });
      expect(appendConversation(session, messages)).toMatchObject({ matched: 5, hasBranched: false });
      expect(session.buildSessionContext().messages.at(-2)).toMatchObject({ toolCallId: "call_0" });
      expect(appendConversation(session, messages).entryIds).toEqual([]);
    });

    it("detects that a finished call's result was removed, though an aborted call had its id", () => {
      const session = SessionManager.inMemory();
      const aborted = { ...calling("x"), stopReason: "aborted" as const };
      const stored = [user("a"), aborted, calling("y"), toolResult("call_0", "y"), said("b")];
      for (const message of stored) session.appendMessage(message);
      const array = [user("a"), calling("y"), said("b")];
      expect(appendConversation(session, array)).toMatchObject({ matched: 2, hasBranched: true });
    });
  });

  it("finds a result after one that a request added for the call before it", () => {
    const session = SessionManager.inMemory();
    const calls = ["c1", "c2"].map((id) => ({ type: "toolCall" as const, id, name: "bash", arguments: {} }));
    const stored = [user("a"), makeAnswer(calls, { timestamp: 1 }), toolResult("c2", "done"), user("b")];
    for (const message of stored) session.appendMessage(message);
    const model = "gemini-2.5-flash";
    const { contents } = toGemini(session.buildSessionContext().messages, { model });
    const { messages } = fromGemini(contents, { timestamp: 1 });
    const ids = new Map(calls.map(({ id }, at) => [`bash_1_${at}`, id]));
    const named: Message[] = JSON.parse(
      JSON.stringify(messages).replace(/bash_1_\d/g, (id) => ids.get(id) ?? id),
    );
    expect(named.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "toolResult", "user"]);
    expect(appendConversation(session, named)).toMatchObject({ entryIds: [], matched: 5 });
  });

  it("recognizes answers that were appended with usage, signatures, and thinking", () => {
    const session = SessionManager.inMemory();
    session.appendMessage(user("a"));
    session.appendMessage({
      ...makeAnswer([
        { type: "thinking", thinking: "Hm.", thinkingSignature: "s" },
        { type: "text", text: "b", textSignature: "x" },
      ]),
      responseId: "r1",
      timestamp: 7,
    });
    expect(appendConversation(session, [user("a"), said("b")]).entryIds).toEqual([]);
  });

  it("treats different thinking as a different answer, if the array has thinking", () => {
    const session = SessionManager.inMemory();
    const thought = (thinking: string) =>
      makeAnswer([
        { type: "thinking", thinking, thinkingSignature: "s" },
        { type: "text", text: "b" },
      ]);
    appendConversation(session, [user("a"), thought("x")]);
    expect(appendConversation(session, [user("a"), thought("y")])).toMatchObject({
      matched: 1,
      hasBranched: true,
    });
  });

  it("treats a different document with the same title as a different message", () => {
    const session = SessionManager.inMemory();
    const ask = (url: string) =>
      fromAnthropic(
        [{ role: "user", content: [{ type: "document", title: "A", source: { type: "url", url } }] }],
        { timestamp: 1 },
      );
    appendConversation(session, ask("https://example.com/1").messages);
    expect(appendConversation(session, ask("https://example.com/1").messages).entryIds).toEqual([]);
    expect(appendConversation(session, ask("https://example.com/2").messages).entryIds).toHaveLength(1);
  });

  it("stores instructions once and replaces them with later ones, without a branch", () => {
    const session = SessionManager.inMemory();
    const messages = [user("a"), said("b")];
    appendConversation(session, [system("It is Monday."), ...messages]);
    expect(appendConversation(session, [system("It is Monday."), ...messages]).entryIds).toEqual([]);
    messages.push(user("c"));
    const tuesday = appendConversation(session, [system("It is Tuesday."), ...messages]);
    expect(tuesday).toMatchObject({ matched: 2, hasBranched: false });
    expect(appendConversation(session, [system("It is Tuesday."), ...messages]).entryIds).toEqual([]);
    const { system: text, messages: request } = toAnthropic(session.buildSessionContext().messages);
    expect([text, request.length]).toEqual(["It is Tuesday.", 3]);
    expect(toOpenAIChat(session.buildSessionContext().messages).messages[0]).toEqual({
      role: "system",
      content: "It is Tuesday.",
    });
    expect(appendConversation(session, messages).entryIds).toEqual([]);
  });

  it("compares an array made of a compacted context with that context", () => {
    const session = SessionManager.inMemory();
    appendConversation(session, [user("a"), said("b"), user("c"), said("d")]);
    const kept = session.getBranch()[2]?.id ?? "";
    session.appendCompaction("They said a and b.", kept, 100);
    const request = toAnthropic(session.buildSessionContext().messages);
    const options = { timestamp: 1 };
    expect(appendConversation(session, fromAnthropic(request, options).messages)).toMatchObject({
      entryIds: [],
      matched: 3,
    });
    const next = fromAnthropic([...request.messages, { role: "user", content: "e" }], options).messages;
    expect(appendConversation(session, next).entryIds).toHaveLength(1);
    expect(contextOf(session)).toHaveLength(4);
    // The whole array, which does not include the compaction, exists as well.
    const whole = [user("a"), said("b"), user("c"), said("d"), user("e")];
    expect(appendConversation(session, whole).entryIds).toEqual([]);
  });

  it("continues after what a call appended before it failed halfway", () => {
    const session = SessionManager.inMemory();
    const messages = [user("a"), said("b"), user("c")];
    let left = 2;
    const failing = Object.assign(Object.create(session), {
      appendMessage(message: Message) {
        if (left-- === 0) throw new Error("disk full");
        return session.appendMessage(message);
      },
    });
    for (const name of ["getLeafId", "getBranch", "getChildren", "buildSessionProjection"] as const) {
      failing[name] = session[name].bind(session);
    }
    expect(() => appendConversation(failing, messages)).toThrow("disk full");
    expect(appendConversation(session, messages)).toMatchObject({ matched: 2 });
    expect(session.getEntryCount()).toBe(3);
  });

  it.each([
    ["Anthropic", (messages: AgentMessage[]) => fromAnthropic(toAnthropic(messages), { timestamp: 1 })],
    [
      "the AI SDK",
      (messages: AgentMessage[]) => fromModelMessages(toModelMessages(messages).messages, { timestamp: 1 }),
    ],
  ])("finds content with blank texts in requests to %s, which omit them", (_to, again) => {
    const session = SessionManager.inMemory();
    const call = { type: "toolCall" as const, id: "c1", name: "read", arguments: {} };
    session.appendMessage(user("a"));
    session.appendMessage(makeAnswer([{ type: "text", text: "\n\n" }, call], { timestamp: 1 }));
    session.appendMessage({ ...toolResult("c1", "\n"), toolName: "read" });
    for (const message of [said("b"), user(" "), said("c")]) session.appendMessage(message);
    const { messages } = again(session.buildSessionContext().messages);
    expect(appendConversation(session, messages)).toMatchObject({ entryIds: [], hasBranched: false });
  });

  it("finds OpenAI's messages however the JSON of arguments is spaced", () => {
    const session = SessionManager.inMemory();
    const array = (args: string) =>
      fromOpenAIChat(
        [
          { role: "user", content: "Go" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: args } }],
          },
          { role: "tool", tool_call_id: "call_1", content: "done" },
        ],
        { timestamp: 1 },
      ).messages;
    appendConversation(session, array('{"path":"a"}'));
    expect(appendConversation(session, array('{ "path": "a" }')).entryIds).toEqual([]);
    expect(appendConversation(session, array('{"path":"b"}')).hasBranched).toBe(true);
  });

  it("accepts parts of any kind in messages of a host's own role", () => {
    const session = SessionManager.inMemory();
    const messages: Message[] = JSON.parse(
      JSON.stringify([
        user("Go"),
        { role: "todo", content: ["a", null], timestamp: 1 },
        { role: "plan", parts: ["b"], timestamp: 1 },
      ]),
    );
    expect(appendConversation(session, messages).entryIds).toHaveLength(3);
  });

  it("continues a session in which another program stored blocks that are not objects", () => {
    const header = { type: "session", version: 3, id: "s1", timestamp: AT, cwd: "/p" };
    const call = { type: "toolCall", id: "c1", name: "ls", arguments: {} };
    const entries = [
      { type: "message", id: "aaaaaaaa", parentId: null, message: { ...user("Go"), content: [null, "x"] } },
      {
        type: "message",
        id: "bbbbbbbb",
        parentId: "aaaaaaaa",
        message: { ...said("Yes"), content: [null, call] },
      },
    ].map((entry) => ({ ...entry, timestamp: AT }));
    for (const next of [user("More"), toolResult("c1", "done")]) {
      const session = SessionManager.inMemory("/p", {}, JSON.parse(JSON.stringify([header, ...entries])));
      const messages: Message[] = JSON.parse(JSON.stringify(session.buildSessionContext().messages));
      const { matched, entryIds } = appendConversation(session, [...messages, next]);
      expect([matched, entryIds.length]).toEqual([2, 1]);
    }
  });

  it("stores the tree of all given arrays, in whatever order", () => {
    const message = fc
      .tuple(fc.boolean(), fc.constantFrom("a", "b"))
      .map(([isUser, text]) => (isUser ? user(text) : said(text)));
    fc.assert(
      fc.property(fc.array(fc.array(message, { maxLength: 5 }), { maxLength: 8 }), (arrays) => {
        const session = SessionManager.inMemory();
        const prefixes = new Set<string>();
        for (const array of arrays) {
          appendConversation(session, array);
          expect(contextOf(session)).toEqual(array.map(textOf));
          expect(appendConversation(session, array)).toEqual({
            entryIds: [],
            matched: array.length,
            hasBranched: false,
          });
          array.forEach((_, at) => {
            prefixes.add(JSON.stringify(array.slice(0, at + 1)));
          });
          expect(session.getEntryCount()).toBe(prefixes.size);
        }
      }),
      { numRuns: 200 },
    );
  });
});
