import type {
  ImageContent,
  TextContent,
  ThinkingContent,
  ToolCall,
} from "../../../../src/core/format/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  Message,
  ToolResultMessage,
} from "../../../../src/core/format/message.ts";
import { type AnswerFields, assistantMessage } from "../../../../src/interop/convert/answer.ts";
import fc from "../../../support/fast-check.ts";

/** Content that a form of messages can express, so that our messages are restored from it unchanged. */
export interface Sayable {
  /** Identity of the answering model. */
  readonly identity: { readonly api: string; readonly provider: string; readonly model: string };
  readonly thinking: fc.Arbitrary<ThinkingContent[]>;
  /** Texts of an answer; may be empty only if it makes a call. */
  readonly texts: fc.Arbitrary<TextContent[]>;
  readonly callId: fc.Arbitrary<string>;
  /** Converts a call to one that this form can express. */
  readonly call?: (call: ToolCall) => fc.Arbitrary<ToolCall>;
  readonly user: fc.Arbitrary<string | (TextContent | ImageContent)[]>;
  readonly result: fc.Arbitrary<Pick<ToolResultMessage, "content" | "isError">>;
  /** Whether two user messages, or two answers, can follow one another. */
  readonly repeatsRoles: boolean;
  /** Allowed positions of system messages. Default: at the front. */
  readonly system?: "front" | "anywhere";
}

/** A text with at least one character that is not white space. */
export const words = fc
  .string({ minLength: 1, maxLength: 12, unit: "grapheme" })
  .filter((text) => text.trim() !== "");

export const textBlock = words.map((text): TextContent => ({ type: "text", text }));

/** An image whose data is valid base64. */
export const imageBlock = fc
  .tuple(
    fc.base64String({ minLength: 4, maxLength: 16 }),
    fc.constantFrom("image/png", "image/jpeg", "image/webp"),
  )
  .map(([data, mimeType]): ImageContent => ({ type: "image", data, mimeType }));

const toolArguments = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));
const toolName = fc.constantFrom("read", "write", "run_command", "a-b");

interface Part {
  readonly kind: "user" | "answer" | "system";
  readonly user: string | (TextContent | ImageContent)[];
  readonly thinking: ThinkingContent[];
  readonly texts: TextContent[];
  readonly calls: ToolCall[];
  readonly results: Pick<ToolResultMessage, "content" | "isError">[];
}

/** Generates conversations that a form can express in full. Times are 0 and no tokens are counted, as after an import. */
export function sayable(form: Sayable): fc.Arbitrary<Message[]> {
  const call = fc
    .record({
      type: fc.constant("toolCall" as const),
      id: form.callId,
      name: toolName,
      arguments: toolArguments,
    })
    .chain((one): fc.Arbitrary<ToolCall> => form.call?.(one) ?? fc.constant(one));
  const part: fc.Arbitrary<Part> = fc.record({
    kind: fc.constantFrom("user", "answer", "answer", "system"),
    user: form.user,
    thinking: form.thinking,
    texts: form.texts,
    calls: fc.array(call, { maxLength: 3 }),
    results: fc.array(form.result, { minLength: 3, maxLength: 3 }),
  });
  return fc
    .tuple(form.user, fc.option(words), fc.array(part, { maxLength: 8 }))
    .map(([first, instructions, parts]) => {
      const messages: Message[] =
        instructions === null ? [] : [{ role: "system", content: instructions, timestamp: 0 }];
      messages.push({ role: "user", content: first, timestamp: 0 });
      const used = new Set<string>();
      for (const one of parts) messages.push(...makeMessages(one, form, used, messages.at(-1)?.role));
      return messages;
    });
}

function makeMessages(
  part: Part,
  form: Sayable,
  used: Set<string>,
  last: Message["role"] | undefined,
): Message[] {
  if (part.kind === "system") {
    if (form.system !== "anywhere" || typeof part.user !== "string") return [];
    return [{ role: "system", content: part.user, timestamp: 0 }];
  }
  if (part.kind === "user") {
    return last === "user" && !form.repeatsRoles ? [] : [{ role: "user", content: part.user, timestamp: 0 }];
  }
  const calls = part.calls.filter(({ id }) => !used.has(id) && used.add(id) !== undefined);
  if (last === "assistant" && !form.repeatsRoles) return [];
  if (calls.length === 0 && part.texts.length === 0) return [];
  const answer = makeAnswer([...part.thinking, ...part.texts, ...calls], form.identity);
  return [
    answer,
    ...calls.map(({ id, name }, at): ToolResultMessage => {
      const { content, isError } = part.results[at] ?? { content: [], isError: false };
      return { role: "toolResult", toolCallId: id, toolName: name, content, isError, timestamp: 0 };
    }),
  ];
}

/** Creates an answer as an import does. */
export function makeAnswer(
  content: AssistantMessage["content"],
  fields: Partial<AnswerFields> = {},
): AssistantMessage {
  return assistantMessage(content, { timestamp: 0, ...fields });
}

/** Identities, some of which share fields. */
const someIdentity = (home: Sayable["identity"]) =>
  fc.constantFrom(
    home,
    home,
    { ...home, model: `${home.model}-20260101` },
    { ...home, model: "other" },
    { ...home, provider: "other" },
    { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" },
    { api: "openai-responses", provider: "openai", model: "gpt-5" },
    { api: "google-generative-ai", provider: "google", model: "gemini-2.5-pro" },
    { api: "openai-completions", provider: "openrouter", model: "kimi" },
  );

/** Halves of an emoji, alone and in other orders than the right one. */
const halfPair = fc.constantFrom(
  "\ud83d",
  "\ude00",
  "cut \ud83d",
  "\ude00\ud83d",
  "\ud83d\ude00 whole, half \ud83d",
);
const oddText = fc.oneof(
  { weight: 8, arbitrary: words },
  { weight: 6, arbitrary: fc.constantFrom("", " ", "\n", "ends with space ", "\u00a0", "[image]") },
  { weight: 2, arbitrary: halfPair },
);
const oddId = fc.constantFrom(
  "a",
  "b",
  "c",
  "a|fc_1",
  "a|fc_2",
  "b|ctc_3",
  "a b",
  "ä",
  "__proto__",
  "",
  "x".repeat(70),
  `${"x".repeat(64)}y`,
  "a_b",
  "a.b",
  "functions.read:0",
  "a\ud83d",
  "a\ude00",
  `${"x".repeat(39)}😀`,
  `${"x".repeat(63)}😀`,
);
const oddSignature = fc.constantFrom(
  undefined,
  "",
  "sig",
  "AAAA",
  "not base64!",
  "reasoning_content",
  '[{"type":"reasoning.text","text":"x"}]',
  '{"type":"reasoning","id":"rs_1","summary":[]}',
  '{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"e"}',
  '{"type":"reasoning","id":"rs_2"}',
  "{",
  '{"v":1,"id":"msg_1"}',
  '{"v":1,"id":"msg_2","phase":"commentary"}',
  "msg_3",
  `{"v":1,"id":"msg_${"x".repeat(70)}"}`,
  "half \ud83d",
  '[{"type":"reasoning.text","text":"\\ud83d"}]',
  '{"type":"reasoning","id":"rs_3","summary":[{"type":"summary_text","text":"\\ud83d"}]}',
);
const oddContent = fc.oneof(
  oddText,
  fc.array(
    fc.oneof(
      oddText.map((text) => ({ type: "text", text })),
      imageBlock,
      fc.constantFrom(
        { type: "image", data: "", mimeType: "image/tiff" },
        { type: "image", data: "AAAA", mimeType: "image/tiff" },
        { type: "video" },
        null,
      ),
    ),
    { maxLength: 3 },
  ),
);
/** Signatures of thinking that an API accepts back; other APIs use field names or base64. */
const goodSignatures = (api: string) =>
  api === "openai-responses"
    ? fc.nat(99).map((n) => {
        const item = {
          type: "reasoning",
          id: `rs_${n}`,
          summary: [],
          ...(n % 2 === 0 && { encrypted_content: "e" }),
        };
        return JSON.stringify(item);
      })
    : fc.constantFrom(api === "openai-completions" ? "reasoning_content" : "AAAA", "c2ln");
const oddName = fc.constantFrom(
  "read",
  "a tool",
  "",
  "x".repeat(200),
  "1st",
  "-x",
  "mcp.read:a",
  "half \ud83d",
);
const oddArguments = fc.constantFrom<unknown>(
  null,
  [1],
  "text",
  { input: "free text" },
  { input: "cut \ud83d" },
  { "\ude00": [{ "\ud83d": "\ud83d" }], json: '{"a":"\\ud83d"}' },
);
const oddBlock = (api: string) =>
  fc.oneof(
    fc.record({ type: fc.constant("text"), text: oddText, textSignature: oddSignature }),
    fc.record({
      type: fc.constant("thinking"),
      thinking: oddText,
      thinkingSignature: fc.oneof(oddSignature, goodSignatures(api)),
      redacted: fc.constantFrom(undefined, true),
    }),
    fc.record({
      type: fc.constant("toolCall"),
      id: oddId,
      name: oddName,
      arguments: fc.oneof(toolArguments, oddArguments),
      thoughtSignature: oddSignature,
    }),
    fc.constantFrom<object | null>(null, { type: "video" }, { type: "toolCall" }),
  );

/**
 * Generates lists of messages of every kind, in any order, with much that no provider accepts.
 *
 * @param home - The most frequent identity.
 */
export function hostile(home: Sayable["identity"]): fc.Arbitrary<AgentMessage[]> {
  const answer = fc
    .tuple(
      fc.array(oddBlock(home.api), { maxLength: 4 }),
      someIdentity(home),
      fc.constantFrom("stop", "stop", "stop", "toolUse", "length", "error", "aborted", "pending"),
    )
    .map(([content, identity, stopReason]) => ({ role: "assistant", content, ...identity, stopReason }));
  const result = fc.record({
    role: fc.constant("toolResult"),
    toolCallId: oddId,
    toolName: oddName,
    content: oddContent,
    isError: fc.boolean(),
  });
  /** An answer with results of its calls, some of which may be missing, and the user's reply. */
  const turn = fc
    .tuple(answer, fc.array(result, { minLength: 3, maxLength: 3 }), oddContent, fc.nat(4))
    .map(([said, results, content, missing]): object[] => {
      const ids = said.content.flatMap((block) => (block !== null && "id" in block ? [block.id] : []));
      const given = ids.flatMap((id, at) => {
        const one = results[at];
        return one === undefined || at === missing ? [] : [{ ...one, toolCallId: id }];
      });
      return [said, ...given, { role: "user", content }];
    });
  const message = fc.oneof(
    { weight: 3, arbitrary: fc.record({ role: fc.constant("user"), content: oddContent }) },
    {
      weight: 1,
      arbitrary: fc.record({
        role: fc.constant("system"),
        content: oddText,
        sections: fc.constantFrom(
          ...[undefined, undefined, { rules: "r" }, { rules: null }],
          ...[{ rules: " " }, { "\ud83d": "\ud83d" }],
        ),
        toolsAdded: fc.constantFrom(undefined, [{ name: "read" }]),
      }),
    },
    { weight: 4, arbitrary: answer },
    { weight: 4, arbitrary: result },
    {
      weight: 1,
      arbitrary: fc.constantFrom<object>(
        { role: "bashExecution", command: "ls", output: "a" },
        { role: "bashExecution", command: "\ud83d", output: "\ude00" },
        { role: "compactionSummary", summary: "s" },
        { role: "branchSummary", summary: "\ud83d" },
        { role: "custom", customType: "x", content: "" },
        { role: "note" },
      ),
    },
  );
  // A file's content is read as data: no undefined keys, and types as the reader declares them.
  const some = fc.oneof(
    { weight: 2, arbitrary: message.map((one): object[] => [one]) },
    { weight: 1, arbitrary: turn },
  );
  return fc
    .array(some, { maxLength: 10 })
    .map((list): AgentMessage[] => JSON.parse(JSON.stringify(list.flat())));
}
