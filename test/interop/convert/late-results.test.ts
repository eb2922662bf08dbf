import { SessionManager } from "sessiontree";
import {
  appendConversation,
  fromModelMessages,
  toAnthropic,
  toBedrock,
  toModelMessages,
  toOpenAIChat,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import type { AssistantMessage, UserMessage } from "../../../src/core/format/message.ts";
import { assistant, call, toolResult, user } from "../../support/messages.ts";

const BOUND = "claude-opus-5-5";

/** A conversation in which the user continues while a tool runs and a model answers without its result. */
function whileToolRuns(model: string): (UserMessage | AssistantMessage)[] {
  const identity = { api: "anthropic-messages", provider: "anthropic", model };
  const thought = { type: "thinking" as const, thinking: "Hm", thinkingSignature: "c2ln" };
  return [
    user("Run the tests."),
    assistant("I run them.", identity, call("toolu_1")),
    user("What do you think?"),
    assistant([thought, { type: "text", text: "They take long." }], identity),
  ];
}

const late = toolResult("toolu_1", "All green.");
const rest = [late, user("And now?")];

describe("a result that arrives after the model has answered without it", () => {
  it.each([
    ["claude-opus-5-5", true],
    ["claude-haiku-5-5-20260901", true],
    ["us.anthropic.claude-fable-5-1-v1:0", true],
    ["anthropic/claude-sonnet-5.5", true],
    ["claude-opus-6", true],
    ["claude-opus-5", false],
    ["claude-opus-5-20260214", false],
    ["claude-sonnet-4-6", false],
    ["claude-3-5-sonnet-20241022", false],
    ["gpt-5.5", false],
  ])("leaves the request to %s unchanged: %s", (model, isBound) => {
    const before = whileToolRuns(model);
    const earlier = toAnthropic(before, { model }).messages;
    const request = toAnthropic([...before, ...rest], { model });
    const isPrefix = JSON.stringify(request.messages.slice(0, earlier.length)) === JSON.stringify(earlier);
    expect(isPrefix).toBe(isBound);
    expect(JSON.stringify(request.messages)).toContain("All green.");
    const codes = request.issues.map(({ code, index }) => [code, index]);
    expect(codes).toEqual(
      isBound
        ? [
            ["PAIR_REPAIRED", 1],
            ["PAIR_REPAIRED", 4],
          ]
        : [["PAIR_REPAIRED", 4]],
    );
  });

  it("is user text that names the call, in every form", () => {
    const messages = [...whileToolRuns(BOUND), ...rest];
    for (const request of [
      toAnthropic(messages),
      toBedrock(messages),
      toOpenAIChat(messages),
      toModelMessages(messages, { sdk: 7 }),
    ])
      expect(JSON.stringify(request.messages)).toMatch(
        /Tool call toolu_1 \(bash\) has ended.*All green\..*And now/,
      );
  });

  it("is shown to people with its call", () => {
    const shown = toUIMessages([...whileToolRuns(BOUND), ...rest]).messages;
    const parts = shown.flatMap((message) => message.parts);
    expect(parts).toContainEqual(
      expect.objectContaining({ toolCallId: "toolu_1", state: "output-available" }),
    );
    expect(JSON.stringify(shown)).not.toContain("after all");
  });

  it("is found again in an array made of the request", () => {
    const session = SessionManager.inMemory();
    for (const message of [...whileToolRuns(BOUND), ...rest]) session.appendMessage(message);
    const { messages } = toModelMessages(session.buildSessionContext().messages, { sdk: 7 });
    const next = [...messages, { role: "assistant" as const, content: "Ship it." }];
    const read = fromModelMessages(next, { timestamp: 9 }).messages;
    const { entryIds, hasBranched } = appendConversation(session, read);
    expect({ added: entryIds.length, hasBranched }).toEqual({ added: 1, hasBranched: false });
  });
});
