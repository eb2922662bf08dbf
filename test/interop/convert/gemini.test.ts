import { fromGemini, toGemini } from "sessiontree/convert";
import { describe, expect, it } from "vitest";
import { toolResult, user } from "../../support/messages.ts";
import { makeAnswer } from "./support/conversations.ts";

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

  it("with only an error is a failure, even if the error is empty", () => {
    expect(read({ error: "No network." }).at(-1)).toMatchObject({
      isError: true,
      content: text("No network."),
    });
    expect(read({ error: "" }).at(-1)).toMatchObject({ isError: true, content: [] });
  });
});

describe("results of parallel calls", () => {
  const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: { id } });
  const messages = [
    user("Go"),
    makeAnswer([call("a"), call("b"), call("c")], { api: "google-generative-ai", provider: "google" }),
    toolResult("c", "c"),
    toolResult("a", "a"),
    user("So?"),
  ];
  const sent = (model: string) =>
    (toGemini(messages, { model }).contents[2]?.parts ?? []).flatMap(
      ({ functionResponse }) => functionResponse ?? [],
    );

  it("are in call order, generated ones included, for models that receive no ids", () => {
    expect(sent("gemini-2.5-flash")).toMatchObject([
      { response: { output: "a" } },
      { response: { error: expect.stringContaining("interrupted") } },
      { response: { output: "c" } },
    ]);
  });

  it("stay with a call whose id is also the beginning of another call's id", () => {
    const calls = ["b", "b|ctc_3"].map((id) => ({ functionCall: { id, name: "read", args: {} } }));
    const result = { functionResponse: { id: "b", name: "read", response: { output: "found" } } };
    const contents = [
      { role: "model", parts: calls },
      { role: "user", parts: [result] },
    ];
    const { messages } = fromGemini({ contents }, { timestamp: 1 });
    expect(messages.at(-1)).toMatchObject({ role: "toolResult", toolCallId: "b" });
  });

  it("name their calls for newer models", () => {
    expect(sent("gemini-3-pro").map(({ id }) => id)).toEqual(["c", "a", "b"]);
  });
});

describe("names of functions", () => {
  const named = (name: string) => {
    const call = { type: "toolCall" as const, id: "c1", name, arguments: {} };
    const { contents, issues } = toGemini([
      user("Go"),
      makeAnswer([call]),
      { ...toolResult("c1", "a"), toolName: name },
    ]);
    const names = contents.flatMap(({ parts }) =>
      parts.flatMap(({ functionCall, functionResponse }) => (functionCall ?? functionResponse)?.name ?? []),
    );
    return { names, codes: issues.map(({ code }) => code) };
  };

  it.each(["read", "_read", "mcp.read", "mcp:read-it"])("stay if they fit: %s", (name) => {
    expect(named(name)).toEqual({ names: [name, name], codes: [] });
  });

  it.each([
    ["1st", "_1st"],
    ["-x", "_-x"],
    ["a tool", "a_tool"],
    ["9".repeat(64), `_${"9".repeat(63)}`],
  ])("begin with a letter or an underscore: %s", (name, fitting) => {
    expect(named(name)).toEqual({ names: [fitting, fitting], codes: ["ID_CHANGED"] });
  });

  it("change in a kept result as well", () => {
    const { messages } = fromGemini(
      [
        { role: "user", parts: [{ text: "Go" }] },
        { role: "model", parts: [{ functionCall: { id: "c1", name: "1st", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id: "c1", name: "1st", response: { result: 1 } } }] },
      ],
      { timestamp: 1 },
    );
    expect(JSON.stringify(toGemini(messages).contents)).not.toContain('"1st"');
  });
});
