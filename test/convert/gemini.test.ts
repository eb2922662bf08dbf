import { fromGemini, toGemini } from "sessiontree/convert";
import { describe, expect, it } from "vitest";

describe("a response of a function", () => {
  const read = (response: Record<string, unknown>) =>
    fromGemini(
      [
        { role: "user", parts: [{ text: "How warm is it?" }] },
        { role: "model", parts: [{ functionCall: { id: "c1", name: "weather", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id: "c1", name: "weather", response } }] },
      ],
      { timestamp: 1 },
    ).messages;
  const text = (said: string) => [{ type: "text", text: said }];

  it.each([null, ""])("whose error is %j is a success, and keeps its content", (error) => {
    const response = { result: { temp: 20 }, error };
    const messages = read(response);
    expect(messages.at(-1)).toMatchObject({ isError: false, content: text(JSON.stringify(response)) });
    expect(toGemini(messages).contents.at(-1)?.parts[0]).toMatchObject({ functionResponse: { response } });
    expect(read({ output: "20", error }).at(-1)).toMatchObject({ isError: false, content: text("20") });
  });

  it("that has only an error is a failure, also if the error says nothing", () => {
    expect(read({ error: "No network." }).at(-1)).toMatchObject({
      isError: true,
      content: text("No network."),
    });
    expect(read({ error: "" }).at(-1)).toMatchObject({ isError: true, content: [] });
  });
});
