import { isJsonRecord, type JsonRecord } from "./json.ts";

/** Roles of other SDKs' messages, which a host must not use for its own. */
const FOREIGN_ROLES: ReadonlySet<unknown> = new Set(["tool", "function", "developer", "model"]);

/** The functions of `sessiontree/convert` that turn an SDK's messages into ours. */
type Converter =
  | "fromAnthropic"
  | "fromOpenAIChat"
  | "fromOpenAIResponses"
  | "fromGemini"
  | "fromModelMessages"
  | "fromUIMessages";

/** Types of content blocks that only SDKs have. */
const CONVERTERS: { readonly [type: string]: Converter } = {
  tool_use: "fromAnthropic",
  tool_result: "fromAnthropic",
  server_tool_use: "fromAnthropic",
  web_search_tool_result: "fromAnthropic",
  redacted_thinking: "fromAnthropic",
  document: "fromAnthropic",
  search_result: "fromAnthropic",
  image_url: "fromOpenAIChat",
  input_audio: "fromOpenAIChat",
  refusal: "fromOpenAIChat",
  input_text: "fromOpenAIResponses",
  output_text: "fromOpenAIResponses",
  input_image: "fromOpenAIResponses",
  input_file: "fromOpenAIResponses",
  "tool-call": "fromModelMessages",
  "tool-result": "fromModelMessages",
  "tool-approval-request": "fromModelMessages",
  reasoning: "fromModelMessages",
  file: "fromModelMessages",
};

const CONVERTER_OF_BLOCK: ReadonlyMap<unknown, Converter> = new Map(Object.entries(CONVERTERS));

/** Items without a role that stand among the messages of OpenAI's Responses API. */
const RESPONSES_ITEM = /^(?:reasoning|compaction|item_reference|\w+_call|\w+_call_output)$/;

/** Tells whether a role belongs to messages of other SDKs. */
export function isForeignRole(role: unknown): boolean {
  return FOREIGN_ROLES.has(role);
}

/** Tells whether content blocks of a type belong to other SDKs only. */
export function isForeignBlockType(type: string): boolean {
  return CONVERTER_OF_BLOCK.has(type);
}

/** Names a field in which an SDK's message carries what no reader of this format would find. */
export function foreignFieldOf(message: JsonRecord): string | undefined {
  if (hasCalls(message)) return message["tool_calls"] === undefined ? "function_call" : "tool_calls";
  if (message["tool_call_id"] !== undefined) return "tool_call_id";
  return message["content"] === undefined && Array.isArray(message["parts"]) ? "parts" : undefined;
}

/**
 * Names the function of `sessiontree/convert` that turns a value into messages of this format.
 *
 * @returns Undefined if the value could belong to several SDKs, or to none.
 */
export function converterFor(value: unknown): Converter | undefined {
  if (!isJsonRecord(value)) return undefined;
  const { role, type, parts } = value;
  if (Array.isArray(parts) || role === "model") return ofParts(role, Array.isArray(parts) ? parts : []);
  if (Array.isArray(value["toolInvocations"])) return "fromUIMessages";
  if (role === undefined) {
    return typeof type === "string" && RESPONSES_ITEM.test(type) ? "fromOpenAIResponses" : undefined;
  }
  return ofContent(value["content"]) ?? (type === "message" ? "fromOpenAIResponses" : ofFields(value));
}

/** Gemini's parts have no type; the AI SDK's do. */
function ofParts(role: unknown, parts: readonly unknown[]): Converter {
  const isTyped = parts.some((part) => isJsonRecord(part) && typeof part["type"] === "string");
  return role === "model" || role === undefined || !isTyped ? "fromGemini" : "fromUIMessages";
}

function ofContent(content: unknown): Converter | undefined {
  for (const block of Array.isArray(content) ? content : []) {
    const converter = isJsonRecord(block) ? ofBlock(block) : undefined;
    if (converter !== undefined) return converter;
  }
  return undefined;
}

function ofBlock({ type, source, image, signature }: JsonRecord): Converter | undefined {
  if (type === "image" && isJsonRecord(source)) return "fromAnthropic";
  if (type === "image" && image !== undefined) return "fromModelMessages";
  if (type === "thinking" && signature !== undefined) return "fromAnthropic";
  return CONVERTER_OF_BLOCK.get(type);
}

function ofFields(message: JsonRecord): Converter | undefined {
  const { role, content } = message;
  const isEmptyAnswer = role === "assistant" && content === null;
  const isChat = isEmptyAnswer || foreignFieldOf(message) !== undefined || isForeignRole(role);
  return isChat ? "fromOpenAIChat" : undefined;
}

function hasCalls({ tool_calls: calls, function_call: call }: JsonRecord): boolean {
  return (Array.isArray(calls) && calls.length > 0) || isJsonRecord(call);
}
