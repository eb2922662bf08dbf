import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { TextContent, ToolCall } from "../../../core/format/content.ts";
import { hashText } from "../../../core/format/ids.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import { parseJson } from "../../../core/jsonl/decode.ts";
import { encodeParsed } from "../../../core/jsonl/encode.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { makePlaceholder, parseDataUrl, toDataUrl } from "../images.ts";
import { withoutFields } from "../raw-form.ts";
import { normalizeArguments, parseArguments } from "../tool-arguments.ts";
import { withItemId } from "../tool-ids.ts";

/** Text part of an input message. */
interface OpenAIInputText {
  type: "input_text";
  text: string;
}

/** Inline image part of an input message, as a `data:` URL. */
interface OpenAIInputImage {
  type: "input_image";
  detail: "auto";
  image_url: string;
}

/** User or developer message, or an answer from a different model. */
export interface OpenAIInputMessage {
  role: "user" | "developer" | "assistant";
  content: string | (OpenAIInputText | OpenAIInputImage)[];
  phase?: "commentary" | "final_answer";
}

/** Part of an answer, in an item created by the model. */
interface OpenAIOutputMessage {
  type: "message";
  role: "assistant";
  id: string;
  status: "completed";
  content: { type: "output_text"; text: string; annotations: [] }[];
  phase?: "commentary" | "final_answer";
}

/** Reasoning from the provider, which must stay with the item that follows it. */
interface OpenAIReasoningItem {
  type: "reasoning";
  id: string;
  summary: { type: "summary_text"; text: string }[];
  content?: { type: "reasoning_text"; text: string }[];
  encrypted_content?: string | null;
}

/** Function call. `arguments` is a JSON string. */
interface OpenAIFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
  id?: string;
  namespace?: string;
}

/** Call to a custom tool, which accepts any text. */
export interface OpenAICustomToolCall {
  type: "custom_tool_call";
  call_id: string;
  name: string;
  input: string;
  id?: string;
  namespace?: string;
}

/** Result of a call. */
export interface OpenAICallOutput {
  type: "function_call_output" | "custom_tool_call_output";
  call_id: string;
  output: string | (OpenAIInputText | OpenAIInputImage)[];
}

/** Item in a request. */
export type OpenAIResponsesItem =
  | OpenAIInputMessage
  | OpenAIOutputMessage
  | OpenAIReasoningItem
  | OpenAIFunctionCall
  | OpenAICustomToolCall
  | OpenAICallOutput;

/** Options for `toOpenAIResponses`. */
export interface OpenAIResponsesOptions extends RequestOptions {
  /**
   * The request's `store` option. If false, reasoning without `encrypted_content` and references to stored items are
   * dropped, because the provider cannot read them. Default: true, as for the provider.
   */
  readonly store?: boolean;
}

/**
 * Result of `toOpenAIResponses`: use `const { issues, ...request } = toOpenAIResponses(messages)` and pass `request` to
 * `responses.create`.
 */
export interface OpenAIResponsesRequest {
  /** Absent if the request has no leading system message. */
  instructions?: string;
  input: OpenAIResponsesItem[];
  issues: ConversionIssue[];
}

/** Item from the SDK or from `toOpenAIResponses`. Messages and references may have no type. */
export type OpenAIResponsesItemLike =
  | Open<{ readonly type: string }>
  | Open<{ readonly id: string }>
  | Open<{ readonly role: string; readonly content: unknown }>;

/** Request from the SDK or from `toOpenAIResponses`. */
export type OpenAIResponsesRequestLike = Open<{
  readonly instructions?: string | null | undefined;
  readonly input?: string | readonly OpenAIResponsesItemLike[] | undefined;
}>;

/** Response from the SDK. */
export type OpenAIResponsesResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly output: readonly Open<{ readonly type: string }>[];
  readonly status?: string | undefined;
  readonly usage?: Open<{ readonly input_tokens: number; readonly output_tokens: number }> | undefined;
}>;

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): OpenAIInputMessage {
  return { role: "user", content: typeof content === "string" ? content : content.map(writePart) };
}

function writePart(block: UserBlock): OpenAIInputText | OpenAIInputImage {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", detail: "auto", image_url: toDataUrl(block) };
}

/** Options for writing the items of an answer. */
export interface AnswerStyle {
  /** Whether to include reasoning and the item ids that the provider uses to pair it with other items. */
  readonly hasItemIds: boolean;
  /** Whether to write calls to custom tools as custom tool calls rather than function calls. */
  readonly isOwn: boolean;
  /** Maps the stored id of a call to the id used in the request. */
  readonly getId: (id: string) => string;
}

/** Writes an answer as items. */
export function writeAnswer(content: readonly AnswerBlock[], style: AnswerStyle): OpenAIResponsesItem[] {
  const items: OpenAIResponsesItem[] = [];
  for (const block of content) {
    if (block.type === "toolCall") items.push(writeCall(block, style));
    else if (block.type === "text") addText(items, block, style.hasItemIds);
    else {
      const reasoning = style.hasItemIds ? parseReasoningItem(block.thinkingSignature, false) : undefined;
      if (reasoning !== undefined) items.push(reasoning);
    }
  }
  return items;
}

/** Adds text as an item, or as a part of the previous item if both have the same id. */
function addText(
  items: OpenAIResponsesItem[],
  { text, textSignature }: TextContent,
  hasItemIds: boolean,
): void {
  const item = parseTextItem(textSignature);
  const phase = item?.phase === undefined ? {} : { phase: item.phase };
  if (item === undefined || !hasItemIds) {
    if (text !== "") items.push({ role: "assistant", content: text, ...phase });
    return;
  }
  const part = { type: "output_text" as const, text, annotations: [] as [] };
  const last = items.at(-1);
  if (isOutputMessage(last) && last.id === item.id) last.content.push(part);
  else
    items.push({
      type: "message",
      role: "assistant",
      id: item.id,
      status: "completed",
      content: [part],
      ...phase,
    });
}

function isOutputMessage(item: OpenAIResponsesItem | undefined): item is OpenAIOutputMessage {
  return toRecord(item)["type"] === "message";
}

function writeCall(call: ToolCall, { hasItemIds, isOwn, getId }: AnswerStyle): OpenAIResponsesItem {
  const { name, namespace } = call;
  const call_id = getId(call.id);
  const input = isOwn ? findCustomInput(call) : undefined;
  const itemId = hasItemIds ? findCallItem(call.id, input === undefined ? "fc" : "ctc") : undefined;
  const id = itemId === undefined ? {} : { id: itemId };
  const more = { ...id, ...(namespace !== undefined && isOwn && { namespace }) };
  if (input !== undefined) return { type: "custom_tool_call", call_id, name, input, ...more };
  return { type: "function_call", call_id, name, arguments: JSON.stringify(call.arguments), ...more };
}

/** Returns the input of a custom tool call; undefined for a function call. */
export function findCustomInput({ id, arguments: args }: ToolCall): string | undefined {
  const { input, ...others } = args;
  const isCustom = findCallItem(id, "ctc") !== undefined && Object.keys(others).length === 0;
  return isCustom && typeof input === "string" ? input : undefined;
}

/** Writes a result. */
export function writeResult(
  { content }: ReadResult | ToolResultMessage,
  type: OpenAICallOutput["type"],
  call_id: string,
): OpenAICallOutput {
  const [first] = content;
  if (first === undefined) return { type, call_id, output: "" };
  const isText = content.length === 1 && first.type === "text";
  return { type, call_id, output: isText ? first.text : content.map(writePart) };
}

/** Fields of responses that requests may omit. */
const SILENT_FIELDS = ["status", "logprobs"];

/** Reads the content of a user message from an item: a message, or the host's result for a tool that is not a function. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  const { type, role, content, output } = toRecord(raw);
  if (isHostOutput(raw)) {
    const name = makePlaceholder(toSafeString(type).replaceAll("_", " "));
    const image = parseDataUrl(toRecord(output)["image_url"]);
    const said = typeof output === "string" && output !== "" ? [{ type: "text" as const, text: output }] : [];
    return [name, ...said, ...(image === undefined ? [] : [image])];
  }
  if (role !== "user") return undefined;
  return typeof content === "string" ? content : toArray(content).map(readPart);
}

/** Reads the text of an item with instructions; undefined for other items. Items that add tools have no text. */
export function readSystem(raw: unknown): string | undefined {
  const { role, content } = toRecord(raw);
  if (role !== "system" && role !== "developer") return undefined;
  if (typeof content === "string") return content;
  const texts = toArray(content).map((part) => toRecord(part)["text"]);
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n");
}

/** Reads the items of an answer. Skips items without a counterpart. */
export function readAnswer(raw: unknown): AnswerBlock[] | undefined {
  return Array.isArray(raw) ? raw.flatMap(readAnswerItem) : undefined;
}

function readAnswerItem(item: unknown): AnswerBlock[] {
  const { type, role, call_id, id, name, namespace, input } = toRecord(item);
  if (role === "assistant") return readMessage(toRecord(item));
  if (type === "reasoning") {
    return [{ type: "thinking", thinking: getReasoningText(item), thinkingSignature: encodeParsed(item) }];
  }
  const isCustom = type === "custom_tool_call";
  if ((type !== "function_call" && !isCustom) || typeof call_id !== "string" || typeof name !== "string")
    return [];
  return [
    {
      type: "toolCall",
      id: withItemId(call_id, id),
      name,
      arguments: isCustom ? { input } : (parseArguments(toRecord(item)["arguments"]) ?? {}),
      ...(typeof namespace === "string" && { namespace }),
    },
  ];
}

function readMessage(item: { readonly [name: string]: unknown }): AnswerBlock[] {
  const { content, id, phase } = item;
  const signature = makeTextSignature(id, phase);
  return toContentBlocks(content)
    .map(toRecord)
    .flatMap(({ text, refusal }): AnswerBlock[] => {
      const said = text ?? refusal;
      return typeof said === "string" ? [{ type: "text", text: said, ...signature }] : [];
    });
}

/** Reads a result from an item. */
export function readResult(raw: unknown): ReadResult | undefined {
  const { type, call_id, output } = toRecord(raw);
  if (!OUTPUT_TYPES.has(type) || typeof call_id !== "string") return undefined;
  const isSaid = (block: UserBlock) => block.type !== "text" || block.text !== "";
  return {
    toolCallId: call_id,
    content: toContentBlocks(output).map(readPart).filter(isSaid),
    isError: false,
  };
}

function readPart(part: unknown): UserBlock {
  const { type, text, image_url, file_id, filename } = toRecord(part);
  if (typeof text === "string") return { type: "text", text };
  if (type !== "input_image")
    return makePlaceholder(toSafeString(type).replace("input_", ""), filename ?? file_id);
  const isData = typeof image_url === "string" && image_url.startsWith("data:");
  return parseDataUrl(image_url) ?? makePlaceholder("image", isData ? undefined : (image_url ?? file_id));
}

/** Normalizes equivalent forms of an item. */
export function normalizeItem(item: object): object {
  const {
    arguments: args,
    annotations,
    content,
    output,
    detail,
    type,
    ...rest
  } = withoutFields(item, SILENT_FIELDS);
  return {
    ...rest,
    ...(type !== "message" && { type }),
    ...(args !== undefined && { arguments: normalizeArguments(args) }),
    ...(toArray(annotations).length > 0 && { annotations }),
    ...(content !== undefined && { content: normalizeParts(content, rest["role"]) }),
    ...(output !== undefined && { output: normalizeParts(output, "user") }),
    ...(detail !== undefined && detail !== "auto" && { detail }),
  };
}

function normalizeParts(content: unknown, role: unknown): unknown {
  const type = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type, text: content }] : toArray(content);
  return parts.filter((part) => toRecord(part)["text"] !== "").map((part) => normalizeItem(toRecord(part)));
}

/** Item types of results. */
const OUTPUT_TYPES: ReadonlySet<unknown> = new Set(["function_call_output", "custom_tool_call_output"]);

/** Returns whether an item is the host's result for a tool that is not a function, such as a shell or a computer. */
export function isHostOutput(item: unknown): boolean {
  const { type } = toRecord(item);
  if (typeof type !== "string" || OUTPUT_TYPES.has(type)) return false;
  return type.endsWith("_call_output") || type === "mcp_approval_response";
}

/** Returns whether an item calls a host tool that is not a function. Calls run by the provider have no `call_id`. */
export function isHostCall(item: unknown): boolean {
  const { type, call_id } = toRecord(item);
  if (type === "function_call" || type === "custom_tool_call") return false;
  return typeof type === "string" && type.endsWith("_call") && typeof call_id === "string";
}

/** Maximum length of an id. */
export const MAX_ID = 64;

const DIGEST_LENGTH = 24;

/** Item that a text block belongs to, parsed from the block's signature. */
interface TextItem {
  readonly id: string;
  readonly phase: "commentary" | "final_answer" | undefined;
}

/** Returns the signature field that identifies a text block's item; an empty object if there is no id. */
export function makeTextSignature(id: unknown, phase: unknown): { textSignature?: string } {
  if (typeof id !== "string") return {};
  return { textSignature: JSON.stringify({ v: 1, id, ...(typeof phase === "string" && { phase }) }) };
}

/** Returns the visible text of a reasoning item: the summary or, if there is no summary, the content. */
export function getReasoningText(item: unknown): string {
  const { summary, content } = toRecord(item);
  return getReasoningParts(summary).join("\n\n") || getReasoningParts(content).join("\n\n");
}

/** Returns the text of each part in a reasoning item. */
export function getReasoningParts(parts: unknown): string[] {
  return toArray(parts).flatMap((part) => {
    const { text } = toRecord(part);
    return typeof text === "string" ? [text] : [];
  });
}

/** Parses the signature of a text block: `{ v, id, phase }` as JSON, or only an id, as stored by older versions. */
export function parseTextItem(signature: string | undefined): TextItem | undefined {
  if (signature === undefined) return undefined;
  const { id = signature, phase } = toRecord(parseJson(signature)?.value);
  if (typeof id !== "string" || !id.startsWith("msg")) return undefined;
  return {
    id: id.length <= MAX_ID ? id : `msg_${hashText(id).slice(0, DIGEST_LENGTH)}`,
    phase: phase === "commentary" || phase === "final_answer" ? phase : undefined,
  };
}

/**
 * Returns whether a server accepts a reasoning item with this id. OpenAI's servers reject foreign ids; other servers, such as
 * Copilot's, create opaque ids of any length.
 */
export function isReasoningId(provider: string, id: string): boolean {
  const isStrict = provider.startsWith("openai") || provider.startsWith("azure");
  return !isStrict || (id.startsWith("rs") && id.length <= MAX_ID);
}

/**
 * Parses the reasoning item in a thinking signature; undefined if there is no item or it lacks required encrypted content.
 */
export function parseReasoningItem(
  signature: string | undefined,
  needsContent: boolean,
): OpenAIReasoningItem | undefined {
  const item = signature === undefined ? undefined : parseJson(signature)?.value;
  if (!isReasoning(item)) return undefined;
  return needsContent && typeof item.encrypted_content !== "string" ? undefined : item;
}

function isReasoning(item: unknown): item is OpenAIReasoningItem {
  const { type, id, summary } = toRecord(item);
  return type === "reasoning" && typeof id === "string" && id !== "" && Array.isArray(summary);
}

/**
 * Returns the item id in a call's id; undefined if the provider would reject it.
 *
 * @param prefix - Required prefix of the item id. Default: any, as for tools that the AI SDK runs locally.
 */
export function findCallItem(id: string, prefix: "fc" | "ctc" | "" = ""): string | undefined {
  const [, item] = id.split("|");
  return item !== undefined && item !== "" && item.startsWith(prefix) && item.length <= MAX_ID
    ? item
    : undefined;
}
