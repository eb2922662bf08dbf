import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { makePlaceholder, parseDataUrl, toImage } from "../images.ts";
import { findCustomInput } from "../openai-responses/openai-responses-content.ts";
import { CACHE_FIELDS, withoutFields } from "../raw-form.ts";
import type {
  ModelContentPart,
  ModelFilePart,
  ModelTextPart,
  ModelToolOutput,
  ModelToolResultPart,
} from "./model-message-types.ts";
import {
  type Family,
  getProviderState,
  readCallState,
  readReasoning,
  readTextSignature,
  writeReasoning,
  writeState,
} from "./provider-state.ts";

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): string | (ModelTextPart | ModelFilePart)[] {
  return typeof content === "string" ? content : content.map(writeUserBlock);
}

function writeUserBlock(block: UserBlock): ModelTextPart | ModelFilePart {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "file", data: block.data, mediaType: block.mimeType };
}

/**
 * Writes an answer.
 *
 * @param family - Provider whose state to include; undefined to include no state.
 * @param getId - Maps the stored id of a call to the id used in its result.
 */
export function writeAnswer(
  content: readonly AnswerBlock[],
  family: Family | undefined,
  getId: (id: string) => string,
): ModelContentPart[] {
  return content.flatMap((block): ModelContentPart[] => {
    if (block.type === "thinking") return writeReasoning(block, family);
    if (block.type === "text") return [{ type: "text", text: block.text, ...writeState(block, family) }];
    const { id, name } = block;
    const text = family === "openai" ? findCustomInput(block) : undefined;
    const input = text ?? block.arguments;
    return [
      { type: "tool-call", toolCallId: getId(id), toolName: name, input, ...writeState(block, family) },
    ];
  });
}

/** Writes a result. */
export function writeResult(
  { content, isError }: ReadResult | ToolResultMessage,
  toolName: string,
  toolCallId: string,
): ModelToolResultPart {
  const blocks = content.filter((block) => isJsonRecord(block));
  return { type: "tool-result", toolCallId, toolName, output: writeOutput(blocks, isError) };
}

function writeOutput(content: readonly UserBlock[], isError: boolean): ModelToolOutput {
  const texts = getTexts(content);
  if (isError) return { type: "error-text", value: texts.join("\n") };
  if (content.length === texts.length && texts.length < 2) return { type: "text", value: texts.join("") };
  return {
    type: "content",
    value: content.map((block) =>
      block.type === "text"
        ? { type: "text", text: block.text }
        : { type: "file", data: { type: "data", data: block.data }, mediaType: block.mimeType },
    ),
  };
}

/** Reads the content of a user message. */
export function readUser(content: unknown): UserMessage["content"] | undefined {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(readUserPart) : undefined;
}

function readUserPart(part: unknown): UserBlock {
  const { type, text } = toRecord(part);
  return type === "text" && typeof text === "string" ? { type: "text", text } : readFile(part);
}

/** Reads a file as an image, or as placeholder text if it is not an image. */
function readFile(part: unknown): UserBlock {
  const { type, filename, image, data = image, url = data } = toRecord(part);
  const base64 = toBase64(data);
  const mimeType = base64 === undefined ? undefined : findMediaType(part, base64);
  const address = toRecord(url)["url"] ?? url;
  const shown = address instanceof URL ? address.href : address;
  const isAddress = typeof shown === "string" && /^[a-z]+:\/\//i.test(shown);
  const kind = typeof mimeType === "string" && !mimeType.startsWith("image/") ? mimeType : toSafeString(type);
  return (
    toImage(mimeType, base64) ??
    parseDataUrl(shown) ??
    makePlaceholder(kind, filename ?? (isAddress ? shown : undefined))
  );
}

/** Reads an answer. Skips parts without a counterpart and provider-executed tools. */
export function readAnswer(content: unknown): AnswerBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const parts = toArray(content);
  const blocks: AnswerBlock[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    const { type, text } = toRecord(part);
    if (type === "text" && typeof text === "string")
      blocks.push({ type: "text", text, ...readTextSignature(part) });
    else if (type === "tool-call") blocks.push(...readCall(part));
    else if (type === "reasoning") {
      const group = parts.slice(at, findItemEnd(parts, at));
      blocks.push(readReasoning(group));
      at += group.length - 1;
    }
  }
  return blocks;
}

/** Returns the index after the reasoning parts of one OpenAI item. */
function findItemEnd(parts: readonly unknown[], start: number): number {
  const toItem = (part: unknown) => toRecord(getProviderState(part)["openai"])["itemId"];
  const id = toItem(parts[start]);
  let end = start + 1;
  if (id === undefined) return end;
  while (end < parts.length && toRecord(parts[end])["type"] === "reasoning" && toItem(parts[end]) === id)
    end++;
  return end;
}

function readCall(part: unknown): AnswerBlock[] {
  const { toolCallId, toolName, input, providerExecuted } = toRecord(part);
  if (typeof toolCallId !== "string" || typeof toolName !== "string" || providerExecuted === true) return [];
  return [
    { type: "toolCall", name: toolName, arguments: readInput(input), ...readCallState(part, toolCallId) },
  ];
}

/** Reads the input of a call: an object, the input text of a custom tool, or text that the SDK could not parse. */
function readInput(input: unknown): Record<string, unknown> {
  if (typeof input === "string") return { input };
  return isJsonRecord(input) ? input : {};
}

/** Reads a result; undefined for other parts. */
export function readResult(part: unknown): ReadResult | undefined {
  const { type, toolCallId, output } = toRecord(part);
  if (type !== "tool-result" || typeof toolCallId !== "string") return undefined;
  const { type: kind, value, reason } = toRecord(output);
  const isError = kind === "error-text" || kind === "error-json" || kind === "execution-denied";
  const said = kind === "execution-denied" ? (reason ?? "Tool execution was denied.") : value;
  return { toolCallId, content: readOutput(kind, said), isError };
}

/** Reads the output of a tool: text, JSON, or content. */
export function readOutput(kind: unknown, value: unknown): UserBlock[] {
  if (kind === "content" && Array.isArray(value)) return value.map(readUserPart);
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text === "" ? [] : [{ type: "text", text }];
}

/** Copies a part for storage, without cache options, with bytes as base64 and URLs as strings. */
export function toStorablePart(part: object): { [name: string]: unknown } {
  const { providerOptions, output, ...rest } = withoutFields(part);
  const options = Object.entries(toRecord(providerOptions)).flatMap(([name, state]) => {
    const kept = withoutFields(toRecord(state), CACHE_FIELDS);
    return Object.keys(kept).length === 0 ? [] : [[name, kept] as const];
  });
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, field]) => [name, toStorableData(field)])),
    ...(options.length > 0 && { providerOptions: Object.fromEntries(options) }),
    ...(output !== undefined && { output: withParts(output, toStorablePart) }),
  };
}

/** Maps the parts of an output. JSON values are unchanged, even if they are arrays. */
function withParts(output: unknown, change: (part: object) => object): object {
  const { type, value } = toRecord(output);
  const isContent = type === "content" && Array.isArray(value);
  return { ...toRecord(output), ...(isContent && { value: value.map((part) => change(toRecord(part))) }) };
}

function toStorableData(data: unknown): unknown {
  if (data instanceof URL) return data.href;
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return toBase64(data);
  const { type, data: inner } = toRecord(data);
  return type === "data" && inner !== undefined ? { type, data: toStorableData(inner) } : data;
}

/** Normalizes equivalent forms of a part: a bare file, a file in an object, or an image. */
export function normalizePart(part: object): object {
  const { data, image, output, ...rest } = toStorablePart(part);
  const file = data ?? image;
  return {
    ...rest,
    ...(file !== undefined && { data: toBase64(file) ?? file }),
    ...(image !== undefined && { type: "file", mediaType: findMediaType(part, toBase64(image) ?? "") }),
    ...(output !== undefined && { output: withParts(output, normalizePart) }),
  };
}

/** First base64 characters of image files, with their media types. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  iVBORw0KGgo: "image/png",
  "/9j/": "image/jpeg",
  R0lGOD: "image/gif",
  UklGR: "image/webp",
};

/** Maximum number of bytes per call, because the number of function arguments is limited. */
const PIECE = 0x8000;

/**
 * Returns the data of a file as base64.
 *
 * @param data - Base64 string, `data:` URL, bytes, or one of these in `{ type: "data", data }`.
 * @returns Undefined for other URLs and for references.
 */
export function toBase64(data: unknown): string | undefined {
  if (data instanceof URL) return parseDataUrl(data.href)?.data;
  if (data instanceof Uint8Array) return encodeBase64(data);
  if (data instanceof ArrayBuffer) return encodeBase64(new Uint8Array(data));
  const { type, data: inner } = toRecord(data);
  if (type === "data") return toBase64(inner);
  if (typeof data !== "string") return undefined;
  if (data.startsWith("data:")) return parseDataUrl(data)?.data;
  return /^[a-z]+:\/\//i.test(data) ? undefined : data;
}

function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(binary);
}

/** Returns the media type of a file, from its part or from the first bytes of an image. */
function findMediaType(part: unknown, base64: string): unknown {
  const { mediaType, type, image, data = image } = toRecord(part);
  if (typeof mediaType === "string" && /^[^*]+\/[^*]+$/.test(mediaType)) return mediaType;
  const url = data instanceof URL ? data.href : data;
  const known = Object.entries(BEGINNINGS).find(([beginning]) => base64.startsWith(beginning));
  return parseDataUrl(url)?.mimeType ?? known?.[1] ?? (type === "image" ? "image/png" : mediaType);
}
