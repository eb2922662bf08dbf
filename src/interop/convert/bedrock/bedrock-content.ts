import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { isJsonRecord, type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import { toBase64 } from "../ai-sdk/model-parts.ts";
import { toUsage } from "../answer.ts";
import { makeRedactedThinking } from "../anthropic/anthropic-content.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { makePlaceholder, toImage } from "../images.ts";
import { parseArguments } from "../tool-arguments.ts";

/** Fields that are bytes in the SDK, and base64 strings in the JSON sent over the wire. */
const BYTES: ReadonlySet<string> = new Set(["bytes", "redactedContent"]);

/** Fields that contain a tool's own JSON. */
const OF_TOOLS: ReadonlySet<string> = new Set(["input", "json"]);

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Returns whether a string is base64 data, which the SDK expects as bytes. */
export function isBase64(text: string): boolean {
  return text !== "" && BASE64.test(text);
}

/** Converts a copy of a value from the SDK's form to the wire form. */
export function toWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return toBase64(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (!isJsonRecord(value)) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
  return Object.fromEntries(
    fields.map(([name, one]) => {
      if (OF_TOOLS.has(name)) return [name, one];
      return [name, toWire(BYTES.has(name) ? (readStoredBytes(one) ?? one) : one)];
    }),
  );
}

/**
 * Returns bytes that were converted to JSON when messages were stored: a Buffer, or an object of numbers; undefined for
 * other values.
 */
function readStoredBytes(value: unknown): Uint8Array | undefined {
  if (!isJsonRecord(value) || value instanceof Uint8Array) return undefined;
  const numbers = value["type"] === "Buffer" ? toArray(value["data"]) : Object.values(value);
  return numbers.every((one) => typeof one === "number") ? Uint8Array.from(numbers) : undefined;
}

/** Converts a copy of a value from the wire form to the SDK's form. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (!isJsonRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (OF_TOOLS.has(name)) return [name, one];
      return [name, BYTES.has(name) && typeof one === "string" ? decodeBase64(one) : fromWire(one)];
    }),
  );
}

function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(isBase64(base64) ? base64 : ""), (character) => character.charCodeAt(0));
}

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): object[] {
  return typeof content === "string" ? [{ text: content }] : content.map(writeUserBlock);
}

function writeUserBlock(block: UserBlock): object {
  if (block.type === "text") return { text: block.text };
  if (!isBase64(block.data)) return { text: makePlaceholder("image", block.mimeType).text };
  const format = block.mimeType.slice("image/".length);
  return { image: { format, source: { bytes: block.data } } };
}

/** Writes a block of an answer. */
export function writeAnswerBlock(block: AnswerBlock, getId: (id: string) => string): object {
  if (block.type === "text") return { text: block.text };
  if (block.type === "toolCall")
    return { toolUse: { toolUseId: getId(block.id), name: block.name, input: block.arguments } };
  const { thinking: text, thinkingSignature: signature = "", redacted } = block;
  if (redacted) return { reasoningContent: { redactedContent: signature } };
  return { reasoningContent: { reasoningText: { text, ...(signature !== "" && { signature }) } } };
}

/** Writes a result. */
export function writeResult({ content, isError }: ReadResult | ToolResultMessage, toolUseId: string): object {
  return { toolUseId, content: content.map(writeUserBlock), ...(isError && { status: "error" }) };
}

/** Reads the content of a user message; undefined if the content is not an array. */
export function readUser(raw: unknown): UserBlock[] | undefined {
  return Array.isArray(raw) ? raw.flatMap(readUserBlock) : undefined;
}

function readUserBlock(block: unknown): UserBlock[] {
  const { text, image, guardContent, citationsContent, json } = toRecord(block);
  if (typeof text === "string") return [{ type: "text", text }];
  if (guardContent !== undefined) return readUserBlock(toGuardContent(guardContent));
  if (citationsContent !== undefined) return [{ type: "text", text: getCitedText(citationsContent) }];
  if (json !== undefined) return [{ type: "text", text: JSON.stringify(json) }];
  const { format, source } = toRecord(image);
  const read = toImage(`image/${toSafeString(format)}`, toRecord(source)["bytes"]);
  if (read !== undefined) return [read];
  const [kind = "content", value] = Object.entries(toRecord(block))[0] ?? [];
  // A cache marker belongs to a single request.
  return kind === "cachePoint" ? [] : [makePlaceholder(kind, toRecord(value)["name"])];
}

function toGuardContent(value: unknown): JsonRecord {
  const { text, ...others } = toRecord(value);
  return text === undefined ? others : { text: toRecord(text)["text"] };
}

function getCitedText(value: unknown): string {
  const texts = toArray(toRecord(value)["content"]).map((part) => toRecord(part)["text"]);
  return texts.filter((text) => typeof text === "string").join("");
}

/** Reads the blocks of an answer. Skips blocks without a counterpart. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  return Array.isArray(raw) ? raw.flatMap(readAnswerBlock) : undefined;
}

function readAnswerBlock(block: unknown): AnswerBlock[] {
  const { text, toolUse, reasoningContent, citationsContent } = toRecord(block);
  if (typeof text === "string") return [{ type: "text", text }];
  if (citationsContent !== undefined) return [{ type: "text", text: getCitedText(citationsContent) }];
  const { toolUseId: id, name, input } = toRecord(toolUse);
  if (typeof id === "string" && typeof name === "string")
    return [{ type: "toolCall", id, name, arguments: parseArguments(input) ?? {} }];
  const { reasoningText, redactedContent } = toRecord(reasoningContent);
  if (typeof redactedContent === "string") return [makeRedactedThinking(redactedContent)];
  const { text: thinking, signature } = toRecord(reasoningText);
  if (typeof thinking !== "string") return [];
  const isSigned = typeof signature === "string" && signature !== "";
  return [{ type: "thinking", thinking, ...(isSigned && { thinkingSignature: signature }) }];
}

/** Reads a result without its enclosing field; undefined for other values. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { toolUseId, content, status } = toRecord(raw);
  if (typeof toolUseId !== "string") return undefined;
  return { toolCallId: toolUseId, content: readUser(content) ?? [], isError: status === "error" };
}

/** Returns whether an answer ends with reasoning, which no model can continue. */
export function isEndingInReasoning(raw: unknown): boolean {
  return toRecord(toArray(raw).at(-1))["reasoningContent"] !== undefined;
}

/** Reads the usage of a response. */
export function readUsage(usage: unknown): Usage {
  const counts = toRecord(usage);
  const details = toArray(counts["cacheDetails"]).map(toRecord);
  return toUsage({
    input: counts["inputTokens"],
    output: counts["outputTokens"],
    cacheRead: counts["cacheReadInputTokens"],
    cacheWrite: counts["cacheWriteInputTokens"],
    cacheWrite1h: details.find(({ ttl }) => ttl === "1h")?.["inputTokens"],
    total: counts["totalTokens"],
  });
}

/** Inline image. */
interface BedrockImage {
  format: "png" | "jpeg" | "gif" | "webp";
  source: { bytes: Uint8Array };
}

/** JSON value from the SDK. */
type BedrockDocument =
  | null
  | boolean
  | number
  | string
  | BedrockDocument[]
  | { [name: string]: BedrockDocument };

/** Block in a request. Each block has one of these fields. */
export type BedrockBlock =
  | { text: string }
  | { image: BedrockImage }
  | { reasoningContent: { reasoningText: { text: string; signature: string } } }
  | { reasoningContent: { redactedContent: Uint8Array } }
  | { toolUse: { toolUseId: string; name: string; input: BedrockDocument } }
  | { toolResult: BedrockToolResult };

/** Result of a tool call. */
interface BedrockToolResult {
  toolUseId: string;
  content: ({ text: string } | { image: BedrockImage })[];
  status?: "error";
}

/** Message in a request. */
export interface BedrockMessage {
  role: "user" | "assistant";
  content: BedrockBlock[];
}

/** Result of `toBedrock`: use `const { issues, ...request } = toBedrock(messages)` and pass `request` to `ConverseCommand`. */
export interface BedrockRequest {
  /** Absent if the request has no system message. */
  system?: { text: string }[];
  messages: BedrockMessage[];
  issues: ConversionIssue[];
}

/** Message from the SDK or from `toBedrock`. */
export interface BedrockMessageLike {
  readonly role: string | undefined;
  readonly content: readonly object[] | undefined;
}

/** Request from the SDK or from `toBedrock`. */
export type BedrockRequestLike = Open<{
  readonly system?: readonly object[] | undefined;
  readonly messages?: readonly BedrockMessageLike[] | undefined;
}>;

/** Response from the SDK. */
export interface BedrockResponseLike {
  readonly output?: object | undefined;
  readonly stopReason?: string | undefined;
  readonly usage?: object | undefined;
  readonly $metadata?: object | undefined;
}
