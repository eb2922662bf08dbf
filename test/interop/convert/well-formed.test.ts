import { SessionManager } from "sessiontree";
import {
  appendConversation,
  fromAnthropic,
  fromGemini,
  fromOpenAIChat,
  toAnthropic,
  toGemini,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AgentMessage, Message } from "../../../src/core/format/message.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { unicodeFaults } from "../../support/provider-rules/json.ts";
import { makeAnswer } from "./support/conversations.ts";

const HALF = "cut \ud83d";
const WHOLE = "cut \ufffd";
const REQUESTS = {
  Anthropic: toAnthropic,
  "OpenAI Chat": toOpenAIChat,
  "OpenAI Responses": toOpenAIResponses,
  Gemini: toGemini,
  "AI SDK, model messages": toModelMessages,
  "AI SDK, UI messages": toUIMessages,
} as const;

/** A conversation whose every text was cut inside an emoji. */
const messages: AgentMessage[] = [
  { role: "system", content: HALF, sections: { [HALF]: HALF }, timestamp: 1 },
  user(HALF),
  assistant([
    { type: "text", text: HALF },
    call(`id ${HALF}`, `read ${HALF}`, { [HALF]: [HALF, { a: HALF }] }),
  ]),
  toolResult(`id ${HALF}`, HALF),
  {
    role: "bashExecution",
    command: HALF,
    output: HALF,
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  },
  { role: "custom", customType: "x", content: HALF, display: true, timestamp: 1 },
  { role: "branchSummary", summary: HALF, fromId: "a", timestamp: 1 },
];

describe("lone surrogates", () => {
  it.each(Object.entries(REQUESTS))("never reach %s, and stay in the session", (_name, convert) => {
    const before = structuredClone(messages);
    const { issues, ...request } = convert(messages);
    expect(unicodeFaults(request)).toEqual([]);
    expect(JSON.stringify(request).split("\ufffd").length).toBeGreaterThan(8);
    expect(messages).toEqual(before);
    const replaced = issues.filter(({ code }) => code === "CONTENT_REPLACED").map(({ index }) => index);
    expect(replaced).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("are only lone ones: whole emoji and messages without any stay unchanged", () => {
    const whole = [user("\ud83d\ude00"), assistant([call("c1", "read", { "\ud83d\ude00": "\ufffd" })])];
    expect(toAnthropic(whole).messages[0]).toEqual({ role: "user", content: "\ud83d\ude00" });
    expect(toAnthropic(whole).issues.map(({ code }) => code)).toEqual(["PAIR_REPAIRED"]);
  });

  it.each(Object.entries(REQUESTS))("do not make one id of two for %s", (_name, convert) => {
    const calls = ["a\ud83d", "a\ude00", "a_"].map((id) => call(id));
    const results = calls.map(({ id }) => toolResult(id, JSON.stringify(id)));
    const { issues, ...request } = convert([user("Go"), assistant(calls), ...results]);
    expect(unicodeFaults(request)).toEqual([]);
    expect(issues.filter(({ code }) => code === "PAIR_REPAIRED")).toEqual([]);
  });

  it("are replaced in the JSON of kept arguments, but not in texts that only mention them", () => {
    const given = (json: string) => ({
      role: "assistant" as const,
      content: "Let me see: \\ud83d.",
      refusal: "kept",
      tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: json } }],
    });
    const said = [
      { role: "user" as const, content: "Go" },
      given('{ "\\ud83d": "\\ud83d", "a": "\\\\ud83d" }'),
    ];
    const { messages: read } = fromOpenAIChat(said, { timestamp: 1 });
    expect(toOpenAIChat(read).messages[1]).toEqual(given('{"\ufffd":"\ufffd","a":"\\\\ud83d"}'));
  });

  it("remove the signature of thinking, and the thinking where it needs one", () => {
    const thinking = { type: "thinking" as const, thinking: HALF, thinkingSignature: "c2ln" };
    const text = { type: "text" as const, text: HALF, textSignature: "c2ln" };
    const asked = (api: string, provider: string) => [
      user("Go"),
      makeAnswer([thinking, text, { ...call("c1", "read", { a: HALF }), thoughtSignature: "c2ln" }], {
        api,
        provider,
      }),
    ];
    const { messages: anthropic, issues } = toAnthropic(asked("anthropic-messages", "anthropic"));
    expect(anthropic[1]?.content).toMatchObject([{ type: "text", text: WHOLE }, { type: "tool_use" }]);
    expect(issues.map(({ code }) => code)).toContain("THINKING_DROPPED");
    expect(toGemini(asked("google-generative-ai", "google")).contents[1]?.parts).toEqual([
      { thought: true, text: WHOLE },
      { text: WHOLE },
      {
        functionCall: { id: "c1", name: "read", args: { a: WHOLE } },
        thoughtSignature: "skip_thought_signature_validator",
      },
    ]);
  });

  it("leave Chat's reasoning in its field", () => {
    const thinking = { type: "thinking" as const, thinking: HALF, thinkingSignature: "reasoning_content" };
    const answer = makeAnswer([thinking, { type: "text", text: "So." }], { api: "openai-completions" });
    expect(toOpenAIChat([user("Go"), answer]).messages[1]).toMatchObject({ reasoning_content: WHOLE });
  });

  it.each<[string, (messages: AgentMessage[]) => Message[]]>([
    ["Anthropic", (given) => fromAnthropic(toAnthropic(given), { timestamp: 1 }).messages],
    ["Gemini", (given) => fromGemini(toGemini(given), { timestamp: 1 }).messages],
    ["OpenAI", (given) => fromOpenAIChat(toOpenAIChat(given).messages, { timestamp: 1 }).messages],
  ])("are not a change in an array made of a request to %s", (_name, again) => {
    const session = SessionManager.inMemory();
    const calls = makeAnswer([call("c1", "read", { [HALF]: HALF })], { timestamp: 1 });
    for (const message of [user(HALF), calls, toolResult("c1", HALF)]) session.appendMessage(message);
    const array = [
      ...again(session.buildSessionContext().messages),
      makeAnswer([{ type: "text", text: "So." }]),
    ];
    expect(appendConversation(session, array)).toMatchObject({ matched: 3, hasBranched: false });
    expect(session.getEntryCount()).toBe(4);
  });

  it("are found at any depth", () => {
    const deep: Record<string, unknown> = JSON.parse(`${'{"a":'.repeat(3000)}"\\ud83d"${"}".repeat(3000)}`);
    const { messages: request } = toAnthropic([user("Go"), assistant([call("c1", "read", deep)])]);
    expect(JSON.stringify(request)).toContain('{"a":"\ufffd"}');
  });
});
