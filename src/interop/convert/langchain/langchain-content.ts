import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { ThinkingContent, Usage } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import { toBase64 } from "../ai-sdk/model-parts.ts";
import { toUsage } from "../answer.ts";
import { readAnswerBlock, writeAnswerBlock } from "../anthropic/anthropic-content.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../conversion-options.ts";
import { type AnswerBlock, isSigned, type ReadResult, type UserBlock } from "../dialect.ts";
import { makePlaceholder, parseDataUrl, toDataUrl, toImage } from "../images.ts";
import { readAnswer as readOpenAIAnswer } from "../openai-chat/openai-chat-content.ts";
import { withoutFields } from "../raw-form.ts";
import { parseArguments } from "../tool-arguments.ts";

/** LangChain message in its stored form. */
export interface LangChainRecord {
  readonly type: string;
  readonly data: JsonRecord;
}

/** Message types by class name and by equivalent role. */
const TYPES: ReadonlyMap<unknown, string> = new Map([
  ["HumanMessage", "human"],
  ["AIMessage", "ai"],
  ["SystemMessage", "system"],
  ["ToolMessage", "tool"],
  ["ChatMessage", "generic"],
  ["FunctionMessage", "function"],
  ["RemoveMessage", "remove"],
  ["user", "human"],
  ["assistant", "ai"],
  ["developer", "system"],
]);

/** Block type for reasoning without a signature. Also used as the signature that marks such reasoning. */
const REASONING = "reasoning";

/**
 * Converts a message in any form to the stored form, with bytes as base64; undefined if the value is not a message. The
 * type may be unknown.
 */
export function toStoredRecord(message: unknown): LangChainRecord | undefined {
  const { lc, id, kwargs, type, role, data, ...rest } = toRecord(message);
  if (lc === 1 && isJsonRecord(kwargs)) {
    const name = toSafeString(toArray(id).at(-1));
    return { type: TYPES.get(name.replace(/Chunk$/, "")) ?? name, data: withBase64(kwargs) };
  }
  const named = type ?? role;
  if (typeof named !== "string") return undefined;
  if (isJsonRecord(data)) return { type: named, data: withBase64(data) };
  const all: JsonRecord = { ...rest, ...(id !== undefined && { id }) };
  const { lc_kwargs: made } = all;
  // An instance has its constructor arguments and fields that may have changed since then.
  const said = isJsonRecord(made)
    ? Object.fromEntries(Object.keys(made).map((name) => [name, all[name] ?? made[name]]))
    : all;
  return { type: TYPES.get(named) ?? named, data: withBase64(said) };
}

function withBase64(data: JsonRecord): JsonRecord {
  const { content } = data;
  if (!Array.isArray(content) || !content.some(hasBytes)) return data;
  const encoded = content.map((part: unknown) =>
    hasBytes(part) ? { ...toRecord(part), data: toBase64(toRecord(part)["data"]) } : part,
  );
  return { ...data, content: encoded };
}

function hasBytes(part: unknown): boolean {
  return toRecord(part)["data"] instanceof Uint8Array;
}

/** Writes a user message. */
export function writeUser(content: UserMessage["content"]): LangChainRecord {
  return { type: "human", data: { content: typeof content === "string" ? content : content.map(writePart) } };
}

function writePart(block: UserBlock): JsonRecord {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "image_url", image_url: { url: toDataUrl(block) } };
}

/** Writes an answer. */
export function writeAnswer(content: readonly AnswerBlock[], getId: (id: string) => string): LangChainRecord {
  const said = content.filter((block) => block.type !== "toolCall");
  const calls = content.filter((block) => block.type === "toolCall");
  const [first] = said;
  const text = first === undefined ? "" : first.type === "text" && said.length === 1 ? first.text : undefined;
  const toolCalls = calls.map(({ id, name, arguments: args }) => ({
    name,
    args,
    id: getId(id),
    type: "tool_call",
  }));
  return {
    type: "ai",
    data: {
      content: text ?? said.map((block) => writeSaid(block)),
      ...(calls.length > 0 && { tool_calls: toolCalls }),
    },
  };
}

function writeSaid(block: AnswerBlock): object {
  if (block.type === "thinking" && block.thinkingSignature === REASONING)
    return { type: REASONING, reasoning: block.thinking };
  return writeAnswerBlock(block, (id) => id);
}

/** Returns whether thinking can be sent back to the model that wrote it. */
export function isReplayable(block: ThinkingContent, { api }: { readonly api: string }): boolean {
  if (block.thinkingSignature === REASONING) return api === "langchain" && block.thinking !== "";
  return api === "anthropic-messages" && isSigned(block);
}

/** Writes a result. */
export function writeResult(
  result: ReadResult | ToolResultMessage,
  id: string,
  name: string,
): LangChainRecord {
  const [first, ...more] = result.content;
  const text = first === undefined ? "" : first.type === "text" && more.length === 0 ? first.text : undefined;
  return {
    type: "tool",
    data: {
      content: text ?? result.content.map(writePart),
      tool_call_id: id,
      name,
      ...(result.isError && { status: "error" }),
    },
  };
}

/** Reads the content of a user message; undefined for other messages. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  const { type, data } = toRecord(raw);
  if (type !== "human" && type !== "generic") return undefined;
  const { content } = toRecord(data);
  return typeof content === "string" ? content : toArray(content).map(readPart);
}

function readPart(part: unknown): UserBlock {
  if (typeof part === "string") return { type: "text", text: part };
  const {
    type,
    text,
    image_url,
    source,
    data,
    url,
    mime_type,
    mimeType = mime_type,
    ...rest
  } = toRecord(part);
  if (type === "text" && typeof text === "string") return { type: "text", text };
  const address = toRecord(image_url)["url"] ?? image_url ?? url;
  if (type === "image_url" || type === "image") {
    const { media_type, data: inner } = toRecord(source);
    const image = parseDataUrl(address) ?? toImage(mimeType ?? media_type, data ?? inner);
    if (image !== undefined) return image;
  }
  const isShown = typeof address === "string" && !address.startsWith("data:");
  return makePlaceholder(
    toSafeString(type).replace("image_url", "image").replaceAll("_", " "),
    rest["filename"] ?? rest["title"] ?? (isShown ? address : undefined),
  );
}

/** Reads an answer: text and thinking, then calls. Calls with invalid arguments have no counterpart. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  const { type, data } = toRecord(raw);
  if (type !== "ai") return undefined;
  const { content, tool_calls, additional_kwargs } = toRecord(data);
  const calls = toArray(tool_calls).flatMap(readCall);
  // Until 2024, calls were only in this field, in OpenAI's form.
  const old = { role: "assistant", tool_calls: toRecord(additional_kwargs)["tool_calls"] };
  const said = toContentBlocks(content).flatMap(readSaid);
  return [...said, ...(calls.length > 0 ? calls : (readOpenAIAnswer(old) ?? []))];
}

function readSaid(block: unknown): AnswerBlock[] {
  if (typeof block === "string") return block === "" ? [] : [{ type: "text", text: block }];
  const { type, reasoning } = toRecord(block);
  if (type === REASONING && typeof reasoning === "string")
    return [{ type: "thinking", thinking: reasoning, thinkingSignature: REASONING }];
  // Calls are also in a separate array.
  return readAnswerBlock(block).filter((one) =>
    one.type === "text" ? one.text !== "" : one.type === "thinking",
  );
}

function readCall(call: unknown): AnswerBlock[] {
  const { id, name, args } = toRecord(call);
  if (typeof id !== "string" || typeof name !== "string") return [];
  return [{ type: "toolCall", id, name, arguments: parseArguments(args) ?? {} }];
}

/** Reads a result; undefined for other messages. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { type, data } = toRecord(raw);
  const { tool_call_id, content, status } = toRecord(data);
  if (type !== "tool" || typeof tool_call_id !== "string") return undefined;
  const isSaid = (block: UserBlock) => block.type !== "text" || block.text !== "";
  const blocks = toContentBlocks(content).map(readPart).filter(isSaid);
  return { toolCallId: tool_call_id, content: blocks, isError: status === "error" };
}

/** Reads `usage_metadata`, whose input includes cached tokens. */
export function readUsage(usage: unknown): Usage {
  const counts = toRecord(usage);
  const input = toRecord(counts["input_token_details"]);
  return toUsage({
    inputWithCache: counts["input_tokens"],
    output: counts["output_tokens"],
    cacheRead: input["cache_read"],
    cacheWrite: input["cache_creation"],
    reasoning: toRecord(counts["output_token_details"])["reasoning"],
    total: counts["total_tokens"],
  });
}

/** Normalizes a message by removing the empty fields that every instance has. */
export function normalizeMessage(message: object): LangChainRecord {
  const { type, data } = toRecord(message);
  const said = Object.entries(withoutFields(toRecord(data))).filter(([, value]) => !isEmpty(value));
  return { type: toSafeString(type), data: Object.fromEntries(said) };
}

/** Returns whether a field is empty: an empty array or object, or the serialized form of `undefined`. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonRecord(value)) return false;
  const { lc, type } = value;
  return Object.keys(value).length === 0 || (lc === 2 && type === "undefined");
}

/**
 * Fields of a stored message, as declared by LangChain.
 *
 * `content` may also be an array of blocks, and an answer may have `tool_calls`, although LangChain's type declares
 * neither.
 */
export interface LangChainMessageData {
  content: string;
  role: string | undefined;
  name: string | undefined;
  tool_call_id: string | undefined;
  id?: string;
}

/** Message in LangChain's stored form, for `mapStoredMessagesToChatMessages`. */
export interface LangChainMessage {
  type: string;
  data: LangChainMessageData;
}

/** Result of `toLangChain`. */
export interface LangChainRequest {
  /** Messages, beginning with the instructions as a message of type `system`. */
  messages: LangChainMessage[];
  issues: ConversionIssue[];
}

/** LangChain message: an instance, its stored form, a checkpointer's serialized form, or fields with a type or role. */
export type LangChainMessageLike =
  | Open<{ readonly type: string }>
  | Open<{ readonly role: string; readonly content: unknown }>;
