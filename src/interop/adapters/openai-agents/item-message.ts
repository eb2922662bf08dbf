import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { TextContent, Usage } from "../../../core/format/content.ts";
import type { JsonObject } from "../../../core/format/json.ts";
import type {
  AssistantMessage,
  Message,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "../../../core/format/message.ts";
import { assistantMessage } from "../../convert/answer.ts";
import type { AnswerBlock, UserBlock } from "../../convert/dialect.ts";
import { makePlaceholder, parseDataUrl, toImage } from "../../convert/images.ts";
import { parseArguments } from "../../convert/tool-arguments.ts";

/** The model that responded. Items do not contain this information. */
export interface Answerer {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  /** Usage of the answer, if the SDK reports it. */
  readonly usage?: Usage;
}

/** Tool call types, with the tool name to use if the item does not specify one. */
const CALLS: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "function"],
  ["computer_call", "computer"],
  ["shell_call", "shell"],
  ["apply_patch_call", "apply_patch"],
]);

/** Result types for such calls, with the tool name to use if the item does not specify one. */
const RESULTS: ReadonlyMap<unknown, string> = new Map([
  ["function_call_result", "function"],
  ["computer_call_result", "computer"],
  ["shell_call_output", "shell"],
  ["apply_patch_call_output", "apply_patch"],
]);

/** Returns whether an item is part of an answer. Consecutive items of an answer form a single message. */
export function isAnswerItem(item: JsonObject): boolean {
  return item["role"] !== "user" && item["role"] !== "system" && !RESULTS.has(item["type"]);
}

/**
 * Creates a message with the content of an item, or of several items of one answer, for readers that do not use the SDK;
 * undefined if it would be empty.
 */
export function makeItemMessage(
  items: readonly JsonObject[],
  answerer: Answerer,
  timestamp: number,
): Message | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  if (isAnswerItem(first)) return toAnswer(items, answerer, timestamp);
  if (first["role"] === "user") return toUserMessage(first, timestamp);
  return first["role"] === "system" ? toSystemMessage(first, timestamp) : toToolResult(first, timestamp);
}

function toSystemMessage({ content }: JsonObject, timestamp: number): SystemMessage {
  return { role: "system", content: typeof content === "string" ? content : "", timestamp };
}

function toUserMessage({ content }: JsonObject, timestamp: number): UserMessage {
  return { role: "user", content: typeof content === "string" ? content : toBlocks(content), timestamp };
}

function toAnswer(
  items: readonly JsonObject[],
  answerer: Answerer,
  timestamp: number,
): AssistantMessage | undefined {
  const content = items.flatMap(toAnswerBlocks);
  if (content.length === 0) return undefined;
  return assistantMessage(content, { ...answerer, timestamp });
}

function toAnswerBlocks(item: JsonObject): AnswerBlock[] {
  const { type, role, content, rawContent } = item;
  if (role === "assistant") return toBlocks(content).map(asText);
  if (type === "reasoning") {
    const texts = [...toArray(content), ...toArray(rawContent)].map((part) => toRecord(part)["text"]);
    const thinking = texts.filter((text) => typeof text === "string" && text !== "").join("\n\n");
    return thinking === "" ? [] : [{ type: "thinking", thinking }];
  }
  return toCall(item);
}

function toCall(item: JsonObject): AnswerBlock[] {
  const { type, callId, name, arguments: json, action, operation } = item;
  const tool = CALLS.get(type);
  if (tool === undefined || typeof callId !== "string") return [];
  // Arguments that are not a JSON object are kept in the item itself.
  const asked = type === "function_call" ? (parseArguments(json) ?? {}) : { action, operation };
  const args = Object.entries(asked).filter(([, value]) => value !== undefined);
  return [{ type: "toolCall", id: callId, name: toTextOr(name, tool), arguments: Object.fromEntries(args) }];
}

function toToolResult(item: JsonObject, timestamp: number): ToolResultMessage | undefined {
  const { type, callId, name, output, status } = item;
  if (typeof callId !== "string") return undefined;
  return {
    role: "toolResult",
    toolCallId: callId,
    toolName: toTextOr(name, RESULTS.get(type) ?? "function"),
    content: typeof output === "string" ? [{ type: "text", text: output }] : toResultBlocks(output),
    isError: status === "incomplete" || status === "failed",
    timestamp,
  };
}

function toResultBlocks(output: unknown): UserBlock[] {
  const blocks = toBlocks(Array.isArray(output) ? output : [output]);
  if (blocks.length > 0 || output === undefined) return blocks;
  return [{ type: "text", text: JSON.stringify(output) }];
}

/** Returns content blocks, with a bracketed note for anything that a message cannot contain. */
function toBlocks(content: unknown): UserBlock[] {
  return toArray(content).flatMap(toBlock);
}

function toBlock(part: unknown): UserBlock[] {
  const { type, text, refusal, transcript, filename, data } = toRecord(part);
  switch (type) {
    case "input_text":
    case "output_text":
    case "text":
      return typeof text === "string" ? [{ type: "text", text }] : [];
    case "refusal":
      return typeof refusal === "string" ? [{ type: "text", text: refusal }] : [];
    case "input_image":
    case "image":
      return [toImageBlock(toRecord(part)["image"])];
    case "computer_screenshot":
      return [toImageBlock(data)];
    case "audio":
      return [typeof transcript === "string" ? { type: "text", text: transcript } : makePlaceholder("audio")];
    case "input_file":
    case "file":
      return [makePlaceholder("file", filename ?? toRecord(toRecord(part)["file"])["filename"])];
    default:
      return [];
  }
}

function toImageBlock(image: unknown): UserBlock {
  const { data, mediaType, url, id, fileId } = toRecord(image);
  const address = [image, url, id, fileId].find((one) => typeof one === "string");
  return parseDataUrl(address) ?? toImage(mediaType, data) ?? makePlaceholder("image", address);
}

function asText(block: UserBlock): TextContent {
  return block.type === "text" ? block : makePlaceholder("image");
}

function toTextOr(value: unknown, instead: string): string {
  return typeof value === "string" && value !== "" ? value : instead;
}
