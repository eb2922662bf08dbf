import { fromModelMessages, toAnthropic, toModelMessages } from "sessiontree/convert";
import { describe, expect, it } from "vitest";

const data = "iVBORw0KGgo=";
const mediaType = "image/png";

describe("an image in a tool's result", () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "shoot", input: {} };
  const result = { type: "tool-result", toolCallId: "c1", toolName: "shoot" };
  const text = { type: "text", text: "Here." };
  const given = (image: { type: string }) => [
    { role: "user" as const, content: "Go" },
    { role: "assistant" as const, content: [call] },
    { role: "tool" as const, content: [{ ...result, output: { type: "content", value: [text, image] } }] },
  ];

  it.each([
    ["5", { type: "media", data, mediaType }],
    ["6", { type: "image-data", data, mediaType }],
    ["6, as a file", { type: "file-data", data, mediaType }],
    ["7", { type: "file", data: { type: "data", data }, mediaType }],
  ])("of version %s is an image for all, and goes back in the shape of that version", (_, image) => {
    const { messages } = fromModelMessages(given(image), { timestamp: 1, model: "m" });
    expect(messages[2]?.content).toEqual([text, { type: "image", data, mimeType: mediaType }]);
    expect(toModelMessages(messages, { model: "m" })).toEqual({ messages: given(image), issues: [] });
    expect(JSON.stringify(toAnthropic(messages).messages)).toContain(`"data":"${data}"`);
  });

  it.each([
    ["an address", { type: "image-url", url: "https://example.com/a.png" }],
    ["an id", { type: "image-file-id", fileId: "f1" }],
    [
      "an address of a file",
      { type: "file-url", url: "https://example.com/a.pdf", mediaType: "application/pdf" },
    ],
    ["something of a provider", { type: "custom", providerOptions: { acme: { a: 1 } } }],
  ])("comes back as %s", (_, image) => {
    const { messages } = fromModelMessages(given(image), { timestamp: 1, model: "m" });
    expect(toModelMessages(messages, { model: "m" })).toEqual({ messages: given(image), issues: [] });
  });
});
