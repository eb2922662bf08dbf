import { toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { ThinkingContent, Usage } from "../../../core/format/content.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import { toUsage } from "../answer.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";
import { type AnswerBlock, isBlank, type ReadResult, type UserBlock } from "../dialect.ts";
import { makePlaceholder, toImage } from "../images.ts";
import { isSameJson, withoutFields } from "../raw-form.ts";
import { parseArguments } from "../tool-arguments.ts";

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): string | (AnthropicText | AnthropicImage)[] {
  return typeof content === "string" ? content : content.map(writeUserBlock);
}

function writeUserBlock(block: UserBlock): AnthropicText | AnthropicImage {
  if (block.type === "text") return { type: "text", text: block.text };
  const { mimeType, data } = block;
  if (isImageType(mimeType)) return { type: "image", source: { type: "base64", media_type: mimeType, data } };
  return makePlaceholder("image", mimeType);
}

/** Returns whether the API accepts images of this type. */
function isImageType(mimeType: string): mimeType is AnthropicImage["source"]["media_type"] {
  return ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(mimeType);
}

/** Writes a block of an answer. */
export function writeAnswerBlock(
  block: AnswerBlock,
  getId: (id: string) => string,
): AnthropicText | AnthropicThinking | AnthropicRedactedThinking | AnthropicToolUse {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "toolCall") {
    return { type: "tool_use", id: getId(block.id), name: block.name, input: block.arguments };
  }
  const signature = block.thinkingSignature ?? "";
  return block.redacted
    ? { type: "redacted_thinking", data: signature }
    : { type: "thinking", thinking: block.thinking, signature };
}

/** Writes a result, whether or not the API accepts it. */
export function writeResult(result: ReadResult | ToolResultMessage, id: string): AnthropicToolResult {
  const content = result.content.map(writeUserBlock);
  return {
    type: "tool_result",
    tool_use_id: id,
    ...(content.length > 0 && { content }),
    ...(result.isError && { is_error: true as const }),
  };
}

/** Reads the content of a user message from blocks. Skips results. */
export function readUser(raw: unknown): UserBlock[] | undefined {
  if (!isBlocks(raw)) return undefined;
  return raw.flatMap((block) => (block.type === "tool_result" ? [] : [readUserBlock(block)]));
}

function readUserBlock(block: unknown): UserBlock {
  const { type, text, source, title } = toRecord(block);
  const from = toRecord(source);
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "document" && from["type"] === "text" && typeof from["data"] === "string") {
    return { type: "text", text: from["data"] };
  }
  const image = from["type"] === "base64" ? toImage(from["media_type"], from["data"]) : undefined;
  if (type === "image" && image !== undefined) return image;
  return makePlaceholder(
    toSafeString(type).replaceAll("_", " "),
    title ?? from["url"] ?? from["file_id"] ?? source,
  );
}

/** Reads the blocks of an answer. Skips blocks without a counterpart. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  return isBlocks(raw) ? raw.flatMap(readAnswerBlock) : undefined;
}

/** Reads a block of an answer; empty if the block has no counterpart. */
export function readAnswerBlock(block: unknown): AnswerBlock[] {
  const { type, text, thinking, signature, data, id, name, input } = toRecord(block);
  if (type === "text" && typeof text === "string") return [{ type: "text", text }];
  if (type === "thinking" && typeof thinking === "string") {
    const isSigned = typeof signature === "string" && signature !== "";
    return [{ type: "thinking", thinking, ...(isSigned && { thinkingSignature: signature }) }];
  }
  if (type === "redacted_thinking" && typeof data === "string") return [makeRedactedThinking(data)];
  if (type !== "tool_use" || typeof id !== "string" || typeof name !== "string") return [];
  return [{ type: "toolCall", id, name, arguments: parseArguments(input) ?? {} }];
}

/** Creates a block for withheld thinking from the data that the provider sent instead. */
export function makeRedactedThinking(data: string): ThinkingContent {
  return { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: data, redacted: true };
}

/** Reads the usage of a response. */
export function readUsage(usage: unknown): Usage {
  const counts = toRecord(usage);
  return toUsage({
    input: counts["input_tokens"],
    output: counts["output_tokens"],
    cacheRead: counts["cache_read_input_tokens"],
    cacheWrite: counts["cache_creation_input_tokens"],
    cacheWrite1h: toRecord(counts["cache_creation"])["ephemeral_1h_input_tokens"],
    reasoning: toRecord(counts["output_tokens_details"])["thinking_tokens"],
  });
}

/** Omits blank text. */
export function withoutBlanks<Block extends object>(blocks: readonly Block[]): Block[] {
  return blocks.filter((block) => {
    const { type, text } = toRecord(block);
    return type !== "text" || typeof text !== "string" || !isBlank(text);
  });
}

/** Reads a result; undefined for other values. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { type, tool_use_id, content, is_error } = toRecord(raw);
  if (type !== "tool_result" || typeof tool_use_id !== "string") return undefined;
  const blocks = typeof content === "string" || isBlocks(content) ? toContentBlocks(content) : [];
  return { toolCallId: tool_use_id, content: blocks.map(readUserBlock), isError: is_error === true };
}

/** Copies a block without empty fields or cache markers, which belong to a single request. */
export function stripBlock(block: object): { [name: string]: unknown } {
  const { cache_control: _, ...unmarked } = toRecord(block);
  // A compaction's summary is sent back unchanged and may be null.
  if (unmarked["type"] === "compaction") return unmarked;
  const { content, is_error, caller, ...rest } = withoutFields(unmarked);
  const inner =
    typeof content === "string" && rest["type"] === "tool_result" ? toContentBlocks(content) : content;
  const isTold = Array.isArray(inner) ? inner.length > 0 : inner !== undefined;
  return {
    ...rest,
    ...(isTold && { content: isBlocks(inner) ? inner.map(stripBlock) : inner }),
    ...(is_error === true && { is_error }),
    ...(caller !== undefined && !isSameJson(caller, { type: "direct" }) && { caller }),
  };
}

/** Returns whether a value is an array of blocks. Unknown types are sent unchanged. */
export function isBlocks(value: unknown): value is AnthropicBlock[] {
  return Array.isArray(value) && value.every((block) => typeof toRecord(block)["type"] === "string");
}

/** Text block in Anthropic's Messages API. */
interface AnthropicText {
  type: "text";
  text: string;
}

/** Inline image. */
interface AnthropicImage {
  type: "image";
  source: {
    type: "base64";
    media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
    data: string;
  };
}

/** Thinking with its signature. */
interface AnthropicThinking {
  type: "thinking";
  thinking: string;
  signature: string;
}

/** Redacted thinking. */
interface AnthropicRedactedThinking {
  type: "redacted_thinking";
  data: string;
}

/** Tool call. */
interface AnthropicToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** Result of a tool call. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content?: (AnthropicText | AnthropicImage)[];
  is_error?: true;
}

/** Block in a request. */
type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicThinking
  | AnthropicRedactedThinking
  | AnthropicToolUse
  | AnthropicToolResult;

/** Message in a request. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content: string | AnthropicBlock[];
}

/** Instructions and tools that changed during the conversation, at the position of the change. */
export interface AnthropicSystemMessage {
  role: "system";
  content: (AnthropicText | AnthropicToolChange)[];
}

/** Tool that is added or removed from this position on. */
type AnthropicToolChange =
  | { type: "tool_addition"; tool: { type: "tool_definition"; definition: AnthropicTool } }
  | { type: "tool_removal"; tool: { type: "tool_reference"; name: string } };

interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [field: string]: unknown };
}

/** Options for `toAnthropic`. */
export interface AnthropicOptions extends RequestOptions {
  /**
   * Specifies what the API does with thinking that does not match the preceding messages. If the model binds its
   * thinking, adds `thinking` and `betas` for `beta.messages.create`.
   */
  readonly blockBinding?: "drop_block" | "error";
  /**
   * Position of instructions and tools that change after the first answer: at the front (default), or inline, which
   * keeps earlier thinking valid. Inline positions require Claude 5.1 or later.
   */
  readonly systemMessages?: "front" | "inline";
}

/**
 * Result of `toAnthropic`: use `const { issues, ...request } = toAnthropic(messages)` and pass `request` to
 * `messages.create`.
 */
export interface AnthropicRequest {
  /** Absent if the request has no system message. */
  system?: string;
  messages: AnthropicMessage[];
  /** Present only with `blockBinding`. */
  thinking?: { type: "adaptive"; block_binding: { prefix_mismatch_behavior: "drop_block" | "error" } };
  /** Names of beta features used by the request; absent if it uses no beta features. */
  betas?: string[];
  issues: ConversionIssue[];
}

/** Any block that the API supports, including future blocks. */
type AnthropicBlockLike = Open<{ readonly type: string }>;

/** Message from the SDK or from `toAnthropic`. */
export type AnthropicMessageLike = Open<{
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly AnthropicBlockLike[];
}>;

/** Request from the SDK or from `toAnthropic`. */
export type AnthropicRequestLike = Open<{
  readonly system?: string | readonly Open<{ readonly type: "text"; readonly text: string }>[] | undefined;
  readonly messages: readonly AnthropicMessageLike[];
}>;

/** Response from the SDK. */
export type AnthropicResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly content: readonly AnthropicBlockLike[];
  readonly stop_reason: string | null;
  readonly usage: Open<{ readonly input_tokens: number; readonly output_tokens: number }>;
}>;
