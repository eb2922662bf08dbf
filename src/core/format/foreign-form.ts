import { isJsonRecord, type JsonRecord } from "./json.ts";

/** SDK whose messages an array contains. */
export type MessageForm =
  | "anthropic"
  | "bedrock"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "langchain"
  | "model-messages"
  | "ui-messages";

/** Messages of an SDK, with or without a request's instructions. */
export interface MessageDocument {
  readonly form: MessageForm;
  readonly items: readonly JsonRecord[];
  /** Instructions in the SDK's format; undefined if there are none. */
  readonly instructions: unknown;
  /** Id of the conversation, if the document has one. */
  readonly id: unknown;
}

/** Functions of `sessiontree/convert` that convert an SDK's messages to this format. */
const CONVERTERS = {
  anthropic: "fromAnthropic",
  bedrock: "fromBedrock",
  "openai-chat": "fromOpenAIChat",
  "openai-responses": "fromOpenAIResponses",
  gemini: "fromGemini",
  langchain: "fromLangChain",
  "model-messages": "fromModelMessages",
  "ui-messages": "fromUIMessages",
} as const satisfies Readonly<Record<MessageForm, string>>;

/**
 * Types of content blocks that only one SDK uses. If blocks of several SDKs are mixed, the first SDK in this list takes
 * precedence.
 */
const BLOCK_TYPES: readonly (readonly [form: MessageForm, types: readonly string[]])[] = [
  [
    "anthropic",
    [
      "tool_use",
      "tool_result",
      "server_tool_use",
      "web_search_tool_result",
      "redacted_thinking",
      "document",
      "search_result",
    ],
  ],
  ["model-messages", ["tool-call", "tool-result", "tool-approval-request", "reasoning", "file"]],
  ["openai-responses", ["input_text", "output_text", "input_image", "input_file"]],
  ["openai-chat", ["image_url", "input_audio", "refusal"]],
];

const FORM_OF_BLOCK: ReadonlyMap<unknown, MessageForm> = new Map(
  BLOCK_TYPES.flatMap(([form, types]) => types.map((type) => [type, form] as const)),
);

/** Field names that identify Bedrock content blocks, which have no type. */
const BEDROCK_BLOCKS: ReadonlySet<string> = new Set([
  ...["text", "image", "document", "video", "audio", "searchResult"],
  ...["toolUse", "toolResult", "reasoningContent", "citationsContent", "guardContent", "cachePoint"],
  ...["toolAddition", "toolRemoval"],
]);

/** Roles of other SDKs' messages, which hosts must not use for their own messages. */
const FOREIGN_ROLES: ReadonlySet<unknown> = new Set(["tool", "function", "developer", "model"]);

/** Items without a role among the messages of OpenAI's Responses API. */
const RESPONSES_ITEM = /^(?:reasoning|compaction|item_reference|\w+_call|\w+_call_output)$/;

/** Returns whether a role belongs to messages of other SDKs. */
export function isForeignRole(role: unknown): boolean {
  return FOREIGN_ROLES.has(role);
}

/** Returns whether content blocks of a type are used only by other SDKs. */
export function isForeignBlockType(type: string): boolean {
  return FORM_OF_BLOCK.has(type);
}

/** Returns the name of a field in an SDK's message that readers of this format would ignore. */
export function findForeignField(message: JsonRecord): string | undefined {
  const { tool_calls: calls, function_call: call } = message;
  if ((Array.isArray(calls) && calls.length > 0) || isJsonRecord(call)) {
    return calls === undefined ? "function_call" : "tool_calls";
  }
  if (message["tool_call_id"] !== undefined) return "tool_call_id";
  return message["content"] === undefined && Array.isArray(message["parts"]) ? "parts" : undefined;
}

/** Returns the name of a field that distinguishes an SDK's block from this format's block of the same type. */
export function findForeignBlockField({ type, signature }: JsonRecord): string | undefined {
  return type === "thinking" && signature !== undefined ? "signature" : undefined;
}

/**
 * Returns the name of the function in `sessiontree/convert` that converts a value to messages of this format.
 *
 * @returns Undefined if several SDKs match, or none.
 */
export function findConverter(value: unknown): (typeof CONVERTERS)[MessageForm] | undefined {
  const form = isJsonRecord(value) ? detectMessageForm(value) : undefined;
  return form === undefined ? undefined : CONVERTERS[form];
}

/** Detects the SDK of one value, which may also be a message of this format. */
function detectMessageForm(value: JsonRecord): MessageForm | undefined {
  const { role, type, parts, content } = value;
  if (isLangChain(value)) return "langchain";
  if (role === "model" || (Array.isArray(parts) && (role === undefined || !hasTypes(parts)))) return "gemini";
  if (Array.isArray(parts) || Array.isArray(value["toolInvocations"])) return "ui-messages";
  if (role === undefined) return isResponsesItem(type) ? "openai-responses" : undefined;
  for (const block of toArray(content)) {
    const form = isJsonRecord(block) ? detectBlockForm(block) : undefined;
    if (form !== undefined) return form;
  }
  if (type === "message") return "openai-responses";
  const isEmptyAnswer = role === "assistant" && content === null;
  const isChat = isEmptyAnswer || findForeignField(value) !== undefined || isForeignRole(role);
  return isChat ? "openai-chat" : undefined;
}

/** Types of LangChain messages, which are not roles. */
const LANGCHAIN_TYPES: ReadonlySet<unknown> = new Set(["human", "ai", "system", "tool"]);

/** Returns whether a value is a LangChain message: an instance, its stored form, or a checkpointer's serialization. */
function isLangChain({ type, data, content, lc, kwargs, role }: JsonRecord): boolean {
  if (lc === 1) return isJsonRecord(kwargs) && kwargs["content"] !== undefined;
  if (role !== undefined || !LANGCHAIN_TYPES.has(type)) return false;
  return content !== undefined || (isJsonRecord(data) && data["content"] !== undefined);
}

/** Returns whether parts have a type. The AI SDK's parts have types; Gemini's parts do not. */
function hasTypes(parts: readonly unknown[]): boolean {
  return parts.some((part) => isJsonRecord(part) && typeof part["type"] === "string");
}

function detectBlockForm(block: JsonRecord): MessageForm | undefined {
  const { type, source, image } = block;
  // A plain text block is ambiguous.
  if (isBedrockBlock(block)) return block["text"] === undefined ? "bedrock" : undefined;
  if (type === "image" && isJsonRecord(source)) return "anthropic";
  if (type === "image" && image !== undefined) return "model-messages";
  return findForeignBlockField(block) === undefined ? FORM_OF_BLOCK.get(type) : "anthropic";
}

function isBedrockBlock(block: unknown): boolean {
  const names = isJsonRecord(block) ? Object.keys(block) : [];
  return names.length > 0 && names.every((name) => BEDROCK_BLOCKS.has(name));
}

function isResponsesItem(type: unknown): boolean {
  return typeof type === "string" && RESPONSES_ITEM.test(type);
}

/** Fields in which requests and stored chats contain their messages. */
const LISTS = ["messages", "input", "contents"] as const;

/** Finds the messages in a JSON value. Returns undefined if the value is neither an array of messages nor a request. */
export function readMessageDocument(value: unknown): MessageDocument | undefined {
  const fields: JsonRecord = isJsonRecord(value) ? value : {};
  const list = toArray(Array.isArray(value) ? value : LISTS.map((name) => fields[name]).find(Array.isArray));
  const items = list.filter(isJsonRecord);
  if (items.length === 0 || items.length !== list.length) return undefined;
  const form = detectItemsForm(items, fields);
  const instructions = fields["system"] ?? fields["instructions"] ?? fields["systemInstruction"];
  return form === undefined ? undefined : { form, items, instructions, id: fields["id"] };
}

/**
 * Detects the SDK from features that are unique to it. Other messages are treated as Anthropic's, or as OpenAI's if there is a
 * system message.
 */
function detectItemsForm(
  items: readonly JsonRecord[],
  { contents, input, system, instructions }: JsonRecord,
): MessageForm | undefined {
  if (items.every(isLangChain)) return "langchain";
  if (contents !== undefined || items.some(({ role }) => role === "model")) return "gemini";
  if (items.every(({ parts, role }) => Array.isArray(parts) && role !== undefined)) {
    const isTyped = items.every(({ parts }) =>
      toArray(parts).every((part) => isJsonRecord(part) && "type" in part),
    );
    return isTyped ? "ui-messages" : "gemini";
  }
  if (input !== undefined || items.some(({ role, type }) => role === undefined && isResponsesItem(type))) {
    return "openai-responses";
  }
  const isMessage = ({ role, content, tool_calls: calls }: JsonRecord) =>
    typeof role === "string" &&
    (typeof content === "string" || Array.isArray(content) || Array.isArray(calls));
  if (!items.every(isMessage)) return undefined;
  if (items.some((item) => "tool_calls" in item || "tool_call_id" in item || item["role"] === "developer")) {
    return "openai-chat";
  }
  const blocks = items.flatMap(({ content }) => toArray(content));
  const types = new Set(blocks.map((block) => (isJsonRecord(block) ? block["type"] : undefined)));
  if (blocks.some(isBedrockBlock) && types.size === 1) return "bedrock";
  // Messages of this format also use that type, but this document comes from an SDK.
  if (types.has("thinking")) return "anthropic";
  const found = BLOCK_TYPES.find(([, own]) => own.some((type) => types.has(type)));
  if (found !== undefined) return found[0];
  if ([system ?? instructions].flat().some(isSystemMessage)) return "model-messages";
  return items.some(({ role }) => role === "system") ? "openai-chat" : "anthropic";
}

/** Returns whether a value is a system message, whose content is a string. Only the AI SDK has such instructions. */
export function isSystemMessage(
  value: unknown,
): value is JsonRecord & { readonly role: "system"; readonly content: string } {
  return isJsonRecord(value) && value["role"] === "system" && typeof value["content"] === "string";
}

function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
