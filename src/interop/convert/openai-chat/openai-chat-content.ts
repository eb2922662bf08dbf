import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { ThinkingContent, ToolCall } from "../../../core/format/content.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { makePlaceholder, parseDataUrl, toDataUrl } from "../images.ts";
import { withoutFields } from "../raw-form.ts";
import { normalizeArguments, parseArguments } from "../tool-arguments.ts";

/** Fields that servers use to return reasoning. The field's name is used as the signature. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

type ReasoningField = (typeof REASONING_FIELDS)[number];

/** Returns the reasoning field that a signature specifies; undefined for other signatures. */
export function findReasoningField(signature: string | undefined): ReasoningField | undefined {
  return REASONING_FIELDS.find((field) => field === signature);
}

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): OpenAIChatUserMessage {
  return { role: "user", content: typeof content === "string" ? content : content.map(writePart) };
}

function writePart(block: UserBlock): OpenAIChatText | OpenAIChatImage {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "image_url", image_url: { url: toDataUrl(block) } };
}

/** Writes an answer. Joins its text blocks, because many servers accept only one text block. */
export function writeAnswer(
  content: readonly AnswerBlock[],
  getId: (id: string) => string,
): OpenAIChatAssistantMessage {
  const texts = content.filter((block) => block.type === "text");
  const calls = content.filter((block) => block.type === "toolCall");
  const thinking = content.filter((block) => block.type === "thinking");
  return {
    role: "assistant",
    content: texts.length === 0 ? null : texts.map(({ text }) => text).join(""),
    ...writeReasoning(thinking, calls),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, getId(call.id))) }),
  };
}

function writeReasoning(thinking: readonly ThinkingContent[], calls: readonly ToolCall[]) {
  const details = [
    ...thinking.flatMap(({ thinkingSignature }) => findReasoningDetails(thinkingSignature) ?? []),
    // Older versions stored details with the call.
    ...calls.flatMap(({ thoughtSignature }) => {
      const detail = thoughtSignature === undefined ? undefined : parseJson(thoughtSignature)?.value;
      return typeof toRecord(detail)["type"] === "string" ? [detail] : [];
    }),
  ];
  // Details include the visible reasoning.
  if (details.length > 0) return { reasoning_details: details };
  const shown: Partial<Record<ReasoningField, string>> = {};
  for (const { thinking: text, thinkingSignature } of thinking) {
    const field = findReasoningField(thinkingSignature);
    if (field === undefined) continue;
    const before = shown[field];
    shown[field] = before === undefined ? text : `${before}\n${text}`;
  }
  return shown;
}

/**
 * Returns whether thinking can be written: it has text and its signature specifies a field, or its signature contains
 * details.
 */
export function isReplayable({ thinking, thinkingSignature: signature }: ThinkingContent): boolean {
  const isShown = thinking !== "" && findReasoningField(signature) !== undefined;
  return isShown || findReasoningDetails(signature) !== undefined;
}

function findReasoningDetails(signature: string | undefined): unknown[] | undefined {
  const details = signature?.startsWith("[") ? parseJson(signature)?.value : undefined;
  return Array.isArray(details) && details.length > 0 ? details : undefined;
}

function writeCall({ name, arguments: args }: ToolCall, id: string): OpenAIChatToolCall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
}

/** Writes a result. */
export function writeResult(result: ReadResult | ToolResultMessage, id: string): OpenAIChatToolMessage {
  return { role: "tool", tool_call_id: id, content: getTexts(result.content).join("\n") };
}

/** Reads the text of a system message; undefined for other messages. */
export function readSystem(raw: unknown): string | undefined {
  const { role, content } = toRecord(raw);
  return role === "system" || role === "developer" ? getTexts(content).join("\n") : undefined;
}

/** Reads the content of a user message. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  const { role, content } = toRecord(raw);
  if (role !== "user") return undefined;
  return typeof content === "string" ? content : toArray(content).map(readPart);
}

function readPart(part: unknown): UserBlock {
  const { type, text, image_url, file, refusal } = toRecord(part);
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if (type === "refusal" && typeof refusal === "string") return { type: "text", text: refusal };
  const { url } = toRecord(image_url);
  if (type === "image_url") return parseDataUrl(url) ?? makePlaceholder("image", toShownAddress(url));
  return makePlaceholder(type === "input_audio" ? "audio" : toSafeString(type), toRecord(file)["filename"]);
}

/** Returns a URL for display; undefined for a `data:` URL. */
function toShownAddress(url: unknown): unknown {
  return typeof url === "string" && !url.startsWith("data:") ? url : undefined;
}

/** Reads an answer: reasoning, text, and calls. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  const message = toRecord(raw);
  if (message["role"] !== "assistant") return undefined;
  const { content, refusal, audio, tool_calls } = message;
  const { transcript } = toRecord(audio);
  const said = [...toContentBlocks(content), { type: "text", text: transcript }, { type: "refusal", refusal }]
    .map(toRecord)
    .flatMap((part): AnswerBlock[] => {
      const text = part["type"] === "refusal" ? part["refusal"] : part["text"];
      return typeof text === "string" && text !== "" ? [{ type: "text", text }] : [];
    });
  return [...readReasoning(message), ...said, ...toArray(tool_calls).flatMap(readCall)];
}

function readReasoning(message: { readonly [name: string]: unknown }): ThinkingContent[] {
  const field = REASONING_FIELDS.find((name) => typeof message[name] === "string" && message[name] !== "");
  const shown = field === undefined ? undefined : message[field];
  const details = toArray(message["reasoning_details"]);
  if (details.length > 0) {
    const thinking = typeof shown === "string" ? shown : details.map(getDetailText).join("");
    return [{ type: "thinking", thinking, thinkingSignature: JSON.stringify(details) }];
  }
  if (field === undefined || typeof shown !== "string") return [];
  return [{ type: "thinking", thinking: shown, thinkingSignature: field }];
}

function getDetailText(detail: unknown): string {
  const { text, summary } = toRecord(detail);
  return typeof text === "string" ? text : typeof summary === "string" ? summary : "";
}

function readCall(call: unknown): AnswerBlock[] {
  const { id, function: called, custom } = toRecord(call);
  const { name, arguments: args } = toRecord(called);
  if (typeof id !== "string") return [];
  if (typeof name === "string")
    return [{ type: "toolCall", id, name, arguments: parseArguments(args) ?? {} }];
  const { name: customName, input } = toRecord(custom);
  return typeof customName === "string"
    ? [{ type: "toolCall", id, name: customName, arguments: { input } }]
    : [];
}

/** Reads a result from a message. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { role, tool_call_id, content } = toRecord(raw);
  if (role !== "tool" || typeof tool_call_id !== "string") return undefined;
  const isSaid = (block: UserBlock) => block.type !== "text" || block.text !== "";
  return {
    toolCallId: tool_call_id,
    content: toContentBlocks(content).map(readPart).filter(isSaid),
    isError: false,
  };
}

/** Returns a kept message in a form that can be sent. Replaces audio output with its id. */
export function writeKeptMessage(raw: OpenAIChatMessage): OpenAIChatMessage {
  const { id } = toRecord(toRecord(raw)["audio"]);
  const spoken: object = typeof id === "string" ? { audio: { id } } : {};
  return { ...raw, ...spoken };
}

/** Copies a message without the empty fields of responses. */
export function stripMessage(message: object): { [name: string]: unknown } {
  const { annotations, reasoning_details, ...rest } = withoutFields(message);
  const hasAnnotations = toArray(annotations).length > 0;
  const hasDetails = toArray(reasoning_details).length > 0;
  // The text of the details is also in a separate field, which some servers always send.
  const silent = REASONING_FIELDS.filter((field) => hasDetails || rest[field] === "");
  const said = withoutFields(rest, silent);
  return { ...said, ...(hasAnnotations && { annotations }), ...(hasDetails && { reasoning_details }) };
}

/** Returns the arguments of a message's calls, as JSON strings. */
export function listArguments(message: object): unknown[] {
  return toArray(toRecord(message)["tool_calls"]).map(
    (call) => toRecord(toRecord(call)["function"])["arguments"],
  );
}

/** Normalizes equivalent forms of a message, such as JSON with and without spaces, or a single text part and a string. */
export function normalizeMessage(message: object): object {
  const { content, tool_calls, ...rest } = stripMessage(message);
  const isSaid = (part: unknown) => toRecord(part)["text"] !== "";
  return {
    ...rest,
    content: toContentBlocks(content).filter(isSaid).map(normalizePart),
    tool_calls: toArray(tool_calls).map(normalizeCall),
  };
}

function normalizePart(part: unknown): unknown {
  const { image_url, ...rest } = toRecord(part);
  const { detail, ...address } = toRecord(image_url);
  if (image_url === undefined) return rest;
  return { ...rest, image_url: detail === "auto" ? address : image_url };
}

function normalizeCall(call: unknown): unknown {
  const { function: called, ...rest } = toRecord(call);
  const { arguments: args, ...facts } = toRecord(called);
  return { ...rest, function: { ...facts, arguments: normalizeArguments(args) } };
}

/** Text part in OpenAI's Chat Completions API. */
interface OpenAIChatText {
  type: "text";
  text: string;
}

/** Inline image part, as a `data:` URL. */
interface OpenAIChatImage {
  type: "image_url";
  image_url: { url: string };
}

/** Tool call. */
interface OpenAIChatToolCall {
  id: string;
  type: "function";
  /** `arguments` is JSON. */
  function: { name: string; arguments: string };
}

/** Instructions. */
interface OpenAIChatSystemMessage {
  role: "system" | "developer";
  content: string;
}

/** User message. */
interface OpenAIChatUserMessage {
  role: "user";
  content: string | (OpenAIChatText | OpenAIChatImage)[];
}

/** Answer, with the reasoning fields of other servers that support this API. */
interface OpenAIChatAssistantMessage {
  role: "assistant";
  content: string | null;
  tool_calls?: OpenAIChatToolCall[];
  reasoning?: string;
  reasoning_content?: string;
  reasoning_text?: string;
  reasoning_details?: unknown[];
}

/** Result of a tool call. */
interface OpenAIChatToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** Message in a request. */
export type OpenAIChatMessage =
  | OpenAIChatSystemMessage
  | OpenAIChatUserMessage
  | OpenAIChatAssistantMessage
  | OpenAIChatToolMessage;

/** Options for `toOpenAIChat`. */
export interface OpenAIChatOptions extends RequestOptions {
  /** Role of system messages. Default: `system`, which every server supports. */
  readonly systemRole?: "system" | "developer";
}

/**
 * Result of `toOpenAIChat`: use `const { issues, ...request } = toOpenAIChat(messages)` and pass `request` to
 * `completions.create`.
 */
export interface OpenAIChatRequest {
  messages: OpenAIChatMessage[];
  issues: ConversionIssue[];
}

/** Message from the SDK or from `toOpenAIChat`. */
export type OpenAIChatMessageLike = Open<{
  readonly role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
  readonly content?: string | readonly Open<{ readonly type: string }>[] | null | undefined;
}>;

/** Request from the SDK or from `toOpenAIChat`. */
export type OpenAIChatRequestLike = Open<{
  readonly messages: readonly (OpenAIChatMessageLike | OpenAIChatResponseLike)[];
}>;

/** Response from the SDK. */
export type OpenAIChatResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly choices: readonly Open<{
    readonly finish_reason: string | null;
    /** Message; in a stream snapshot, the part that has arrived. */
    readonly message: Open<{
      readonly role?: string | undefined;
      readonly content?: string | null | undefined;
    }>;
  }>[];
  readonly usage?:
    | Open<{ readonly prompt_tokens: number; readonly completion_tokens: number }>
    | null
    | undefined;
}>;
