import {
  fromAnthropic,
  fromGemini,
  fromModelMessages,
  fromOpenAIChat,
  fromOpenAIResponses,
  fromUIMessages,
  toAnthropic,
  toOpenAIChat,
  toOpenAIResponses,
} from "sessiontree/convert";
import { describe, expect, it } from "vitest";

const timestamp = 1;
const codes = (issues: readonly { code: string; index: number }[]) =>
  issues.map(({ code, index }) => [code, index]);

describe("system messages of OpenAI's responses", () => {
  const shown = [
    { type: "input_text", text: "Look like this." },
    { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AAAA" },
    { type: "input_file", file_id: "f1", filename: "style.pdf" },
  ];
  const tools = { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "read" }] };
  const question = { role: "user", content: "Go" };
  const rule = { role: "developer", content: "Be brief." };

  it.each([
    ["images and files", [question, { role: "developer", content: shown }, question]],
    ["images in front, where instructions have none", [{ role: "system", content: shown }, rule, question]],
    ["tools", [question, tools, question]],
  ])("are restored with %s", (_, input) => {
    const { messages, issues } = fromOpenAIResponses(input, { timestamp });
    expect(issues.map(({ code }) => code)).toEqual(["KEPT_IN_DETAILS"]);
    expect(toOpenAIResponses(messages)).toEqual({ input, issues: [] });
  });

  it("report what other requests cannot express and what a change of the text affects", () => {
    const { messages } = fromOpenAIResponses([question, { role: "developer", content: shown }], {
      timestamp,
    });
    expect(codes(toAnthropic(messages).issues)).toContainEqual(["DETAILS_DROPPED", 1]);
    expect(codes(toOpenAIChat(messages).issues)).toContainEqual(["DETAILS_DROPPED", 1]);
    const edited = messages.map((message) =>
      message.role === "system" ? { ...message, content: "Be blue." } : message,
    );
    expect(toOpenAIResponses(edited)).toMatchObject({
      input: [question, { role: "developer", content: "Be blue." }],
      issues: [{ code: "DETAILS_DROPPED", index: 1 }],
    });
    const sections = { role: "system" as const, content: "", sections: { rules: "None." }, timestamp };
    const { input, issues } = toOpenAIResponses([...messages, sections]);
    expect(input).toEqual([question]);
    expect(codes(issues)).toContainEqual(["DETAILS_DROPPED", 1]);
  });
});

describe("system messages of others", () => {
  it("of OpenAI's chat are restored with their name, in the requested role", () => {
    const { messages, issues } = fromOpenAIChat(
      [
        { role: "system", name: "host", content: "Be brief." },
        { role: "user", content: "Go" },
      ],
      { timestamp },
    );
    expect(codes(issues)).toEqual([["KEPT_IN_DETAILS", 0]]);
    expect(toOpenAIChat(messages, { systemRole: "developer" })).toEqual({
      messages: [
        { role: "developer", name: "host", content: "Be brief." },
        { role: "user", content: "Go" },
      ],
      issues: [],
    });
  });

  it("report non-text content", () => {
    const image = { type: "image", source: { type: "url", url: "https://example.com/a" } };
    const text = { type: "text", text: "Be brief." };
    const go = { role: "user" as const, content: "Go" };
    expect(
      codes(fromAnthropic([go, { role: "system", content: [text, image] }], { timestamp }).issues),
    ).toEqual([["BLOCK_DROPPED", 1]]);
    const systemInstruction = {
      parts: [{ text: "Be brief." }, { inlineData: { mimeType: "image/png", data: "AAAA" } }],
    };
    expect(codes(fromGemini({ systemInstruction, contents: [] }, { timestamp }).issues)).toEqual([
      ["BLOCK_DROPPED", -1],
    ]);
    const providerOptions = { openai: { reasoningEffortUpdate: "high" }, anthropic: { cacheControl: {} } };
    const told = { role: "system" as const, content: "", providerOptions };
    expect(codes(fromModelMessages([told], { timestamp }).issues)).toEqual([["FLAG_DROPPED", 0]]);
    const cached = { ...told, providerOptions: { anthropic: { cacheControl: {} } } };
    expect(fromModelMessages([cached], { timestamp }).issues).toEqual([]);
  });

  it("of UI messages report data, files, and metadata", () => {
    const parts = [
      { type: "text", text: "Be brief.", providerMetadata: { acme: { a: 1 } } },
      { type: "data-theme", data: "dark" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
    ];
    const { messages, issues } = fromUIMessages(
      [{ id: "s1", role: "system", metadata: { tenant: "a" }, parts }],
      { timestamp },
    );
    expect(messages).toMatchObject([{ role: "system", content: "Be brief." }]);
    expect(issues.map(({ message }) => message)).toEqual([
      "Dropped metadata of a system message.",
      "Dropped providerMetadata of a system message.",
      "Dropped data-theme, file from a system message; only text is kept.",
    ]);
  });
});

it("take the name of an old chat function's result from its tool, even without its call", () => {
  const result = { role: "function" as const, name: "lookup", content: "42" };
  const { messages } = fromOpenAIChat([{ role: "user", content: "Go" }, result], { timestamp });
  expect(messages[1]).toMatchObject({ role: "toolResult", toolName: "lookup" });
});
