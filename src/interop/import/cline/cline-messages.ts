import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import {
  type AssistantMessage,
  type CustomMessage,
  type ToolResultMessage,
  UNKNOWN_NAME,
  type UserMessage,
} from "../../../core/format/message.ts";
import { parseRecord } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import { chooseStopReason, toUsage } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { convertAnswer, convertInput } from "../anthropic-blocks.ts";
import { getMember, joinContentText, toNonemptyText } from "../source-text.ts";

/** A message that Cline sent or received. */
export type SentMessage = UserMessage | AssistantMessage | ToolResultMessage | CustomMessage;

/** Converts messages in order. Results and answers depend on earlier messages. */
export class MessageReader {
  /** Blocks of the last message that could be represented only as short descriptions. */
  others: unknown[] = [];
  /** Cline's additions to the last message, which are not part of any context. */
  added: UserBlock[] = [];
  readonly #toolNames = new Map<string, string>();
  /** Call ids, keyed by the alternative id that a provider assigns. */
  readonly #callIds = new Map<string, string>();
  #model: string | undefined;

  /** Converts a message. If it contains tool results, it is split into several messages. */
  read(message: JsonRecord, usage: Usage | undefined, timestamp: number): SentMessage[] {
    this.others = [];
    this.added = [];
    if (message["role"] === "assistant") return [this.#answer(message, usage, timestamp)];
    const blocks = toContentBlocks(message["content"]).map(toRecord);
    const results = blocks.filter(({ type }) => type === "tool_result");
    const rest = blocks.filter(({ type }) => type !== "tool_result");
    this.added = convertInput(rest.filter(isContext)).content;
    this.#model = MODEL.exec(joinContentText(this.added))?.[1] ?? this.#model;
    return [
      ...results.map((block) => this.#result(block, timestamp)),
      ...this.#said(rest.filter((block) => !isContext(block))).map((one) => ({ ...one, timestamp })),
    ];
  }

  #answer(message: JsonRecord, usage: Usage | undefined, timestamp: number): AssistantMessage {
    const raw = toContentBlocks(message["content"]).map(normalizeBlock);
    const { content, others } = convertAnswer(raw);
    this.others = others;
    for (const block of content) if (block.type === "toolCall") this.#toolNames.set(block.id, block.name);
    for (const { id, call_id: named } of raw)
      if (typeof id === "string" && typeof named === "string") this.#callIds.set(named, id);
    if (others.length === 0) for (const [i, block] of content.entries()) signBlock(block, toRecord(raw[i]));
    const { id, modelId = id, provider, providerId = provider } = getMember(message, "modelInfo");
    return {
      role: "assistant",
      content,
      ...getApi(toNonemptyText(providerId)),
      model: toNonemptyText(modelId) ?? this.#model ?? UNKNOWN_NAME,
      usage: usage ?? convertMetrics(getMember(message, "metrics")),
      stopReason: chooseStopReason("stop", content),
      timestamp,
    };
  }

  #result(block: JsonRecord, timestamp: number): ToolResultMessage {
    const named = toNonemptyText(block["tool_use_id"]) ?? "";
    const toolCallId = this.#toolNames.has(named) ? named : (this.#callIds.get(named) ?? named);
    const { content, images } = withoutImages(block["content"]);
    const { content: blocks, others } = convertInput(content);
    this.others.push(...others);
    return {
      role: "toolResult",
      toolCallId,
      toolName: toNonemptyText(block["name"]) ?? this.#toolNames.get(toolCallId) ?? UNKNOWN_NAME,
      content: [...blocks, ...images],
      isError: isFailed(block),
      timestamp,
    };
  }

  #said(
    blocks: readonly JsonRecord[],
  ): (Omit<UserMessage, "timestamp"> | Omit<CustomMessage, "timestamp">)[] {
    const { content, others } = convertInput(blocks.map(normalizeBlock));
    this.others.push(...others);
    if (content.length === 0) return [];
    const [first] = content;
    const isReport = first?.type === "text" && REPORT.test(first.text);
    const said = content.map(unwrapBlock);
    return isReport
      ? [{ role: "custom", customType: "cline.report", content: said, display: true }]
      : [{ role: "user", content: said }];
  }
}

/** Pattern for the start of Cline's additions to a prompt. */
const CONTEXT = /^\s*<(?:environment_details|SYSTEM_NOTICE|explicit_instructions|hook_context)\b/;

/** Pattern for the model name in the text that Roo Code and Kilo add to a prompt. */
const MODEL = /<model>([^<]+)<\/model>/;

/** Beginnings of text that Cline sends as the user: reminders, and results of tools that older versions request in XML. */
const REPORT = /^\s*\[(?:(?:ERROR|TASK RESUMPTION)\]|\w+(?: for [^\n]*)?\] Result:)/;

/** Tags that programs put around the user's text. */
const WRAPPED = /^\s*<(user_input|user_message|task|feedback|answer)\b[^>]*>\n?([\s\S]*?)\n?<\/\1>\s*$/;

function isContext({ type, text }: JsonRecord): boolean {
  return type === "text" && typeof text === "string" && CONTEXT.test(text);
}

function unwrapBlock(block: UserBlock): UserBlock {
  const inner = block.type === "text" ? WRAPPED.exec(block.text)?.[2] : undefined;
  return inner === undefined ? block : { type: "text", text: inner };
}

/** Converts a block to Anthropic's format. Images and files differ, as does thinking in editors. */
function normalizeBlock(block: unknown): JsonRecord {
  const { type, data, mediaType, path, content, text } = toRecord(block);
  if (type === "reasoning" && typeof text === "string") return { type: "thinking", thinking: text };
  if (type === "image" && typeof data === "string") {
    return { type, source: { type: "base64", media_type: mediaType, data } };
  }
  if (type !== "file" || typeof content !== "string") return toRecord(block);
  return { type: "document", title: path, source: { type: "text", data: content } };
}

/** Adds the provider's signature to a text block or call. Anthropic does not have such signatures. */
function signBlock(block: AnswerBlock, { signature }: JsonRecord): void {
  if (typeof signature !== "string" || signature === "") return;
  if (block.type === "text") block.textSignature = signature;
  if (block.type === "toolCall") block.thoughtSignature = signature;
}

/** Separates images from a tool's result. Values that are not blocks are returned as JSON, as they were sent. */
function withoutImages(content: unknown): { content: unknown; images: UserBlock[] } {
  const items = toArray(content);
  if (items.length === 0 || items.every((item) => typeof toRecord(item)["type"] === "string")) {
    return { content: Array.isArray(content) ? content.map(normalizeBlock) : content, images: [] };
  }
  const images: UserBlock[] = [];
  const told = items.map((item) => {
    const { result } = toRecord(item);
    if (!Array.isArray(result)) return item;
    const found = result.map(normalizeBlock).filter(({ type }) => type === "image");
    images.push(...convertInput(found).content);
    return { ...toRecord(item), result: result.filter((one) => toRecord(one)["type"] !== "image") };
  });
  return { content: encodeParsed(told), images };
}

/** Returns whether a tool failed. Most programs report a failure only within the content. */
function isFailed({ is_error, content }: JsonRecord): boolean {
  if (is_error === true) return true;
  if (typeof content !== "string")
    return toArray(content).some((item) => toRecord(item)["success"] === false);
  // Most results are long and are not JSON.
  const mayFail = content.startsWith('{"error"') || content.includes('"success":false');
  if (!mayFail || !content.startsWith("{")) return false;
  const { success, error } = parseRecord(content) ?? {};
  return success === false || toNonemptyText(error) !== undefined;
}

/** Converts a call's token counts. The source's input count includes both caches. */
function convertMetrics(metrics: JsonRecord): Usage {
  return toUsage({
    inputWithCache: metrics["inputTokens"],
    output: metrics["outputTokens"],
    cacheRead: metrics["cacheReadTokens"],
    cacheWrite: metrics["cacheWriteTokens"],
    cost: metrics["cost"],
  });
}

/** Providers and their APIs, by Cline's name for the provider. */
const PROVIDERS: ReadonlyMap<string, readonly [provider: string, api: string]> = new Map([
  ["anthropic", ["anthropic", "anthropic-messages"]],
  ["gemini", ["google", "google-generative-ai"]],
  ["openai-native", ["openai", "openai-responses"]],
  ["openai", ["openai", "openai-completions"]],
  ["openai-compatible", ["openai-compatible", "openai-completions"]],
  ["openrouter", ["openrouter", "openai-completions"]],
]);

function getApi(name: string | undefined): { provider: string; api: string } {
  const [provider, api] = PROVIDERS.get(name ?? "") ?? [name ?? UNKNOWN_NAME, UNKNOWN_NAME];
  return { provider, api };
}
