import { SessionManager } from "sessiontree";
import {
  toAnthropic,
  toBedrock,
  toGemini,
  toLangChain,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { assistant, call, toolResult, user } from "../../support/messages.ts";
import { BindingChat } from "../../support/thinking-binding/binding-chat.ts";

const CONVERTERS = {
  toAnthropic,
  toBedrock,
  toGemini,
  toLangChain,
  toModelMessages,
  toOpenAIChat,
  toOpenAIResponses,
  toUIMessages,
};

describe.each(Object.entries(CONVERTERS))("%s", (_, convert) => {
  it("converts a session like its messages, and names the entries of issues", () => {
    const session = SessionManager.inMemory();
    session.appendMessage(user("Look."));
    const thought = { type: "thinking" as const, thinking: "Hm." };
    session.appendMessage(assistant([thought], { api: "other", model: "m2" }, call("c1")));
    session.appendMessage(toolResult("c1", "found"));
    const leafId = session.appendMessage(assistant("Done."));
    const ofMessages = convert(session.buildSessionContext().messages, {});
    const { issues, ...ofSession } = convert(session, {});
    expect({ ...ofSession, issues: issues.map(({ entryId: _id, ...issue }) => issue) }).toEqual(ofMessages);
    for (const { index, entryId } of issues)
      if (convert !== toUIMessages && index >= 0) expect(entryId).toBe(session.getPathIds()[index]);
    session.appendMessage(user("And?"));
    const { issues: _later, ...atLeaf } = convert(session, { leafId });
    expect(atLeaf).toEqual(ofSession);
  });
});

it.each([
  ["toModelMessages", toModelMessages],
  ["toLangChain", toLangChain],
] as const)("%s omits Claude's void thinking, and nothing else", (_, convert) => {
  const chat = new BindingChat(SessionManager.inMemory());
  chat.say("One.");
  chat.ask();
  const second = chat.say("Two.");
  const void2 = chat.ask();
  const edit = chat.session.appendContextEdit(second, { content: "Other." });
  chat.say("Three.");
  chat.ask();
  const { messages, issues } = convert(chat.session, { model: chat.model });
  expect(JSON.stringify(messages).match(/"signature"/g)).toHaveLength(2);
  expect(issues).toMatchObject([{ code: "THINKING_DROPPED", entryId: void2, causedBy: edit }]);
});
