import { SessionManager } from "sessiontree";
import { loadChat, saveChat } from "sessiontree/adapters";
import {
  fromOpenAIResponsesResponse,
  fromUIMessages,
  toModelMessages,
  toUIMessages,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { assistant, call, toolResult, user } from "../../support/messages.ts";

const timestamp = 1;
const question = { id: "u1", role: "user" as const, parts: [{ type: "text" as const, text: "Hi" }] };

describe("UI messages", () => {
  it("report the images of failed results", () => {
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    const failed = toolResult("c1", "No.", true);
    const messages = [
      user("Hi"),
      assistant("", {}, call("c1")),
      { ...failed, content: [...failed.content, image] },
    ];
    expect(toUIMessages(messages).issues).toContainEqual(
      expect.objectContaining({
        code: "BLOCK_DROPPED",
        index: 2,
        message: "Dropped the images in a failed result.",
      }),
    );
  });

  it("show the reasoning of models that give no summary", () => {
    const { message } = fromOpenAIResponsesResponse(
      {
        id: "resp_1",
        model: "gpt-oss",
        status: "completed",
        output: [
          { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
          { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "42" }] },
        ],
      },
      { timestamp },
    );
    const thought = expect.objectContaining({ type: "reasoning", text: "Hm." });
    expect(toUIMessages([user("Hi"), message]).messages[1]?.parts).toContainEqual(thought);
    expect(toModelMessages([user("Hi"), message]).messages[1]?.content).toContainEqual(thought);
  });

  it.each([
    ["bedrock", { signature: "s" }],
    ["azure", { itemId: "rs_1", reasoningEncryptedContent: "e" }],
    ["vertex", { thoughtSignature: "AAAA" }],
  ])("keep the state of %s for the model", (provider, state) => {
    const metadata = { [provider]: state };
    const tool = { type: "tool-read", toolCallId: "c1", state: "output-available", input: {}, output: "x" };
    const parts = [
      { type: "step-start" },
      { type: "reasoning", text: "Hm.", providerMetadata: metadata },
      { ...tool, callProviderMetadata: metadata },
    ];
    const { messages } = fromUIMessages([question, { id: "a1", role: "assistant", parts }], { timestamp });
    expect(toModelMessages(messages).messages[1]).toMatchObject({
      content: [
        { type: "reasoning", providerOptions: metadata },
        { type: "tool-call", providerOptions: metadata },
      ],
    });
  });

  it("remain two if each was saved as one", async () => {
    const said = (id: string) => ({ id, role: "assistant" as const, parts: [{ type: "text", text: id }] });
    const chat = [
      question,
      { ...said("a1"), metadata: { cost: 1 } },
      { ...said("a2"), metadata: { cost: 2 } },
    ];
    expect(toUIMessages(fromUIMessages(chat, { timestamp }).messages).messages).toMatchObject([
      { role: "user" },
      { metadata: { cost: 1 } },
      { metadata: { cost: 2 } },
    ]);
    const session = SessionManager.inMemory();
    await saveChat(session, [question, said("a1"), said("a2")]);
    const loaded = loadChat(session);
    expect(loaded.map(({ id }) => id)).toEqual(["u1", "a1", "a2"]);
    expect(await saveChat(session, loaded)).toMatchObject({ entryIds: [], hasBranched: false });
  });
});
