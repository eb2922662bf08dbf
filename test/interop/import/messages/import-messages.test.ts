import { expect, test } from "vitest";
import { readMessageDocument } from "../../../../src/core/format/foreign-form.ts";
import { detectSource } from "../../../../src/interop/import/detect-source.ts";
import { importMessages } from "../../../../src/interop/import/messages/import-messages.ts";
import { briefMessage, readView } from "../support/session-view.ts";

const startedAt = "2026-11-22T05:00:00.000Z";

function view(document: unknown) {
  const session = importMessages({ document, sourceId: "chat", startedAt, importedAt: startedAt });
  if (session === undefined) throw new Error("no session was made");
  return readView(session);
}

const DOCUMENTS: readonly (readonly [form: string, document: unknown])[] = [
  [
    "anthropic",
    {
      system: "Be brief.",
      messages: [
        { role: "user", content: "look" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "ok" },
            { type: "tool_use", id: "t1", name: "ls", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
      ],
    },
  ],
  [
    "bedrock",
    {
      system: [{ text: "Be brief." }],
      messages: [
        { role: "user", content: [{ text: "look" }] },
        {
          role: "assistant",
          content: [{ text: "ok" }, { toolUse: { toolUseId: "t1", name: "ls", input: {} } }],
        },
        { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ text: "a" }] } }] },
      ],
    },
  ],
  [
    "openai-chat",
    [
      { role: "system", content: "Be brief." },
      { role: "user", content: "look" },
      {
        role: "assistant",
        content: "ok",
        tool_calls: [{ id: "t1", type: "function", function: { name: "ls", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "t1", content: "a" },
    ],
  ],
  [
    "openai-responses",
    {
      instructions: "Be brief.",
      input: [
        { role: "user", content: "look" },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
        { type: "function_call", call_id: "t1", name: "ls", arguments: "{}" },
        { type: "function_call_output", call_id: "t1", output: "a" },
      ],
    },
  ],
  [
    "gemini",
    {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "look" }] },
        { role: "model", parts: [{ text: "ok" }, { functionCall: { id: "t1", name: "ls", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id: "t1", name: "ls", response: { output: "a" } } }] },
      ],
    },
  ],
  [
    "model-messages",
    {
      instructions: "Be brief.",
      messages: [
        { role: "user", content: "look" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "ok" },
            { type: "tool-call", toolCallId: "t1", toolName: "ls", input: {} },
          ],
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "t1", toolName: "ls", output: { type: "text", value: "a" } },
          ],
        },
      ],
    },
  ],
  [
    "ui-messages",
    [
      { id: "0", role: "system", parts: [{ type: "text", text: "Be brief." }] },
      { id: "1", role: "user", parts: [{ type: "text", text: "look" }] },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "text", text: "ok" },
          { type: "tool-ls", toolCallId: "t1", state: "output-available", input: {}, output: "a" },
        ],
      },
    ],
  ],
];

test.each(DOCUMENTS)("imports messages of the form %s as the same session", (form, document) => {
  expect(detectSource(JSON.stringify(document, null, 2))).toBe("messages");
  expect(readMessageDocument(document)?.form).toBe(form);
  const { messages, problems, repairs, session } = view(document);
  expect(problems).toEqual([]);
  expect(repairs).toEqual([]);
  expect(messages.map(briefMessage)).toEqual([
    "system Be brief.",
    "user look",
    "assistant ok+t1",
    "result t1",
  ]);
  const { counts } = session;
  expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
  expect(session.entries[0]).toMatchObject({ data: { source: "messages", sourceVersion: form } });
});

test.each([
  ["a system message", { role: "system", content: "Be brief." }, ["Be brief."]],
  [
    "system messages",
    ["Be brief.", "Be kind."].map((content) => ({ role: "system", content })),
    ["Be brief.", "Be kind."],
  ],
  ["something else", [{ role: "user", content: "Be brief." }, null], []],
])("imports the instructions of the AI SDK from %s", (_, system, texts) => {
  const content = [{ type: "tool-call", toolCallId: "t1", toolName: "ls", input: {} }];
  const { messages, session } = view({ system, messages: [{ role: "assistant", content }] });
  expect(session.entries[0]).toMatchObject({ data: { sourceVersion: "model-messages" } });
  expect(messages.map(briefMessage)).toEqual([...texts.map((text) => `system ${text}`), "assistant t1"]);
  const { counts } = session;
  expect(counts.mapped + counts.kept + counts.dropped).toBe(counts.records);
});

test.each(["system", "instructions"])("recognizes the AI SDK by system messages in %s alone", (field) => {
  const messages = [{ role: "user", content: "Go" }];
  for (const system of [
    { role: "system", content: "Be brief." },
    [{ role: "system", content: "Be brief." }],
  ]) {
    const imported = view({ [field]: system, messages });
    expect(imported.session.entries[0]).toMatchObject({ data: { sourceVersion: "model-messages" } });
    expect(imported.messages.map(briefMessage)).toEqual(["system Be brief.", "user Go"]);
  }
});

test("reports what is lost from instructions without an index, which they do not have", () => {
  const system = { role: "system", content: "Be brief.", providerOptions: { openai: { other: true } } };
  const { session } = view({ system, messages: [{ role: "user", content: "Go" }] });
  expect(session.issues.map(({ message }) => message)).toEqual([
    "Dropped providerOptions of a system message.",
  ]);
});

test("gives a longer array the entries of the shorter one, and equal messages different entries", () => {
  const messages = ["again", "again", "again"].flatMap((content, i) => [
    { role: "user", content },
    { role: "assistant", content: `answer ${i % 2}` },
  ]);
  const all = view(messages).entries.map(({ id }) => id);
  expect(new Set(all).size).toBe(7);
  expect(view(messages.slice(0, 3)).entries.map(({ id }) => id)).toEqual(all.slice(0, 4));
});

test("gives a message its own time if it has one, else that of the previous one", () => {
  const { entries } = view([
    {
      id: "1",
      role: "user",
      parts: [{ type: "text", text: "a" }],
      metadata: { createdAt: "2026-01-02T03:04:05.000Z" },
    },
    { id: "2", role: "assistant", parts: [{ type: "text", text: "b" }] },
  ]);
  expect(entries.map(({ timestamp }) => timestamp)).toEqual(Array(3).fill("2026-01-02T03:04:05.000Z"));
});

test("refuses values that are not an array of messages and a message with an unknown role", () => {
  for (const other of [[], [1], [{ a: 1 }], { messages: [] }, "text", null, [{ role: "user" }]]) {
    expect(readMessageDocument(other)).toBeUndefined();
    expect(
      importMessages({ document: other, sourceId: "x", startedAt, importedAt: startedAt }),
    ).toBeUndefined();
  }
  expect(() => view([{ role: "wizard", content: "abracadabra" }])).toThrow(TypeError);
});
