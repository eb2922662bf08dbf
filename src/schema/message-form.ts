import { isJsonRecord, type JsonRecord } from "./json.ts";

/** The SDK whose messages an array contains. */
export type MessageForm =
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "model-messages"
  | "ui-messages";

/** Messages of an SDK, alone or with a request's instructions. */
export interface MessageDocument {
  readonly form: MessageForm;
  readonly items: readonly JsonRecord[];
  /** Instructions in the terms of the form; undefined if there are none. */
  readonly instructions: unknown;
  /** Id of the conversation, if the document names one. */
  readonly id: unknown;
}

/** Fields in which requests and stored chats keep their messages. */
const LISTS = ["messages", "input", "contents"] as const;

/** Finds the messages in a JSON value; undefined if it is neither an array of them nor a request. */
export function readMessageDocument(value: unknown): MessageDocument | undefined {
  const fields: JsonRecord = isJsonRecord(value) ? value : {};
  const list = Array.isArray(value) ? value : LISTS.map((name) => fields[name]).find(Array.isArray);
  const items = listOf(list).filter(isJsonRecord);
  if (items.length === 0 || items.length !== listOf(list).length) return undefined;
  const form = formOf(items, fields);
  const instructions = fields["system"] ?? fields["instructions"] ?? fields["systemInstruction"];
  return form === undefined ? undefined : { form, items, instructions, id: fields["id"] };
}

const RESPONSES_TYPES: ReadonlySet<unknown> = new Set([
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "compaction",
  "item_reference",
]);

/** Block types that only one SDK has, by SDK. */
const BLOCK_FORMS: readonly (readonly [form: MessageForm, types: ReadonlySet<unknown>])[] = [
  ["anthropic", new Set(["tool_use", "tool_result", "thinking", "redacted_thinking", "document"])],
  ["model-messages", new Set(["tool-call", "tool-result", "reasoning", "file"])],
  ["openai-responses", new Set(["input_text", "input_image", "output_text"])],
  ["openai-chat", new Set(["image_url", "input_audio", "refusal"])],
];

/** Detects the SDK from features that only it has; the rest are Anthropic's, or OpenAI's if there is a system message. */
function formOf(items: readonly JsonRecord[], { contents, input }: JsonRecord): MessageForm | undefined {
  if (contents !== undefined || items.some(({ role }) => role === "model")) return "gemini";
  if (items.every(({ parts, role }) => Array.isArray(parts) && role !== undefined)) {
    const isTyped = items.every(({ parts }) =>
      listOf(parts).every((part) => isJsonRecord(part) && "type" in part),
    );
    return isTyped ? "ui-messages" : "gemini";
  }
  if (input !== undefined || items.some(({ type }) => RESPONSES_TYPES.has(type))) return "openai-responses";
  const isMessage = ({ role, content, tool_calls: calls }: JsonRecord) =>
    typeof role === "string" &&
    (typeof content === "string" || Array.isArray(content) || Array.isArray(calls));
  if (!items.every(isMessage)) return undefined;
  if (items.some((item) => "tool_calls" in item || "tool_call_id" in item || item["role"] === "developer")) {
    return "openai-chat";
  }
  const types = new Set(
    items.flatMap(({ content }) =>
      listOf(content).map((block) => (isJsonRecord(block) ? block["type"] : undefined)),
    ),
  );
  const found = BLOCK_FORMS.find(([, own]) => [...own].some((type) => types.has(type)));
  if (found !== undefined) return found[0];
  return items.some(({ role }) => role === "system") ? "openai-chat" : "anthropic";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
