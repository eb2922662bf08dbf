import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { ImageContent, TextContent, ThinkingContent } from "../../../core/format/content.ts";
import { isJsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { makePlaceholder, toImage } from "../images.ts";
import { withoutFields } from "../raw-form.ts";
import { parseArguments } from "../tool-arguments.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns whether a signature may have been created by Gemini. */
export function isSignature(signature: string | undefined): signature is string {
  return signature !== undefined && signature !== "" && BASE64.test(signature);
}

/** Writes the content of a user message. */
export function writeUser(content: UserMessage["content"]): GeminiPart[] {
  return typeof content === "string" ? [{ text: content }] : content.map(writeUserBlock);
}

function writeUserBlock(block: UserBlock): GeminiPart {
  return block.type === "text" ? { text: block.text } : writeImage(block);
}

function writeImage({ mimeType, data }: ImageContent): { inlineData: GeminiBlob } {
  return { inlineData: { mimeType, data } };
}

/** Style for writing calls and results. */
export interface CallStyle {
  /** Whether the model requires signatures on calls and accepts ids and images in results. */
  readonly isNew: boolean;
  /** Maps a stored id to the id used in the request. */
  readonly getId: (id: string) => string;
}

/** Writes an answer with one part per block, because signatures belong to parts. */
export function writeAnswer(content: readonly AnswerBlock[], { isNew, getId }: CallStyle): GeminiPart[] {
  const firstCall = content.find(({ type }) => type === "toolCall");
  return content.map((block): GeminiPart => {
    if (block.type === "text") return { text: block.text, ...makeSignature(block.textSignature) };
    if (block.type === "thinking")
      return { thought: true, text: block.thinking, ...makeSignature(block.thinkingSignature) };
    const { name, arguments: args, thoughtSignature } = block;
    return {
      functionCall: { name, args, ...(isNew && { id: getId(block.id) }) },
      ...(isNew && block === firstCall && { thoughtSignature: NO_SIGNATURE }),
      ...makeSignature(thoughtSignature),
    };
  });
}

/** Writes a kept part. For older models, omits ids. */
export function writeKeptPart(part: GeminiPart, { isNew }: CallStyle): GeminiPart {
  const { functionCall, functionResponse } = part;
  if (isNew || (functionCall === undefined && functionResponse === undefined)) return part;
  return {
    ...part,
    ...(functionCall !== undefined && { functionCall: withoutId(functionCall) }),
    ...(functionResponse !== undefined && { functionResponse: withoutId(functionResponse) }),
  };
}

function withoutId<T extends { id?: string }>({ id: _, ...rest }: T): Omit<T, "id"> {
  return rest;
}

function makeSignature(signature: string | undefined): { thoughtSignature?: string } {
  return isSignature(signature) ? { thoughtSignature: signature } : {};
}

/** Writes a result. */
export function writeResponse(
  { content, isError, toolCallId }: ReadResult,
  name: string,
  { isNew, getId }: CallStyle,
): GeminiPart {
  const text = getTexts(content).join("\n");
  const parts = content.filter((block) => block.type === "image").map(writeImage);
  return {
    functionResponse: {
      name,
      response: isError ? { error: text } : { output: text },
      ...(isNew && { id: getId(toolCallId) }),
      ...(parts.length > 0 && { parts }),
    },
  };
}

/** Bytes in a part, as base64. */
interface GeminiBlob {
  mimeType: string;
  data: string;
}

/** Text, thought, image, call, or result. Any part can have a signature and must keep it. */
export interface GeminiPart {
  text?: string;
  /** Whether the text is a thought from the model. */
  thought?: true;
  /** Base64. */
  thoughtSignature?: string;
  inlineData?: GeminiBlob;
  functionCall?: { name: string; args: Record<string, unknown>; id?: string };
  functionResponse?: {
    name: string;
    response: { output: string } | { error: string };
    id?: string;
    parts?: { inlineData: GeminiBlob }[];
  };
}

/** Consecutive parts of one role. */
export interface GeminiContent {
  role: "user" | "model";
  parts: GeminiPart[];
}

/** Result of `toGemini`. `systemInstruction` belongs in the request's `config`. */
export interface GeminiRequest {
  /** Absent if the request has no system message. */
  systemInstruction?: { parts: { text: string }[] };
  contents: GeminiContent[];
  issues: ConversionIssue[];
}

/** Content from the SDK or from `toGemini`. */
export type GeminiContentLike = Open<{
  readonly role?: string | undefined;
  readonly parts?: readonly object[] | undefined;
}>;

/** Request with contents from the SDK or from `toGemini`. */
export type GeminiRequestLike = Open<{
  readonly systemInstruction?: string | GeminiContentLike | undefined;
  readonly contents: readonly (GeminiContentLike | GeminiResponseLike)[];
}>;

/** Response from the SDK. */
export type GeminiResponseLike = Open<{
  readonly candidates?:
    | readonly Open<{
        readonly content?: GeminiContentLike | undefined;
        readonly finishReason?: string | undefined;
      }>[]
    | undefined;
  readonly responseId?: string | undefined;
  readonly modelVersion?: string | undefined;
  readonly usageMetadata?: Open<{ readonly promptTokenCount?: number | undefined }> | undefined;
}>;

/** Value that newer models accept instead of a missing signature, for example on another model's call. */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Reads the content of a user message from parts. Skips results. A single text part is converted to a string. */
export function readUser(raw: unknown): UserMessage["content"] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const blocks = raw.filter((part) => !isResponse(part)).map(readUserPart);
  const [first] = blocks;
  return blocks.length === 1 && first?.type === "text" ? first.text : blocks;
}

function readUserPart(part: unknown): UserBlock {
  const { text, inlineData, fileData } = toRecord(part);
  if (typeof text === "string") return { type: "text", text };
  if (inlineData !== undefined) return readBlob(inlineData);
  const { fileUri, mimeType } = toRecord(fileData);
  return makePlaceholder(typeof mimeType === "string" ? mimeType : "part", fileUri);
}

function readBlob(blob: unknown): UserBlock {
  const { mimeType, data, displayName } = toRecord(blob);
  return toImage(mimeType, data) ?? makePlaceholder(toSafeString(mimeType), displayName);
}

/**
 * Assigns an id to each call that has no id, so that its result can refer to it. The seed distinguishes calls in different
 * answers.
 */
export function withCallIds(parts: readonly object[], seed: string): object[] {
  return parts.map((part, at) => {
    const { functionCall } = toRecord(part);
    if (!isJsonRecord(functionCall) || isId(functionCall["id"])) return part;
    const id = `${toSafeString(functionCall["name"])}_${seed}_${at}`;
    return { ...part, functionCall: { ...functionCall, id } };
  });
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id !== "";
}

/** Reads the parts of an answer whose calls have ids. Skips parts without a counterpart. */
export function readAnswerParts(parts: readonly unknown[]): AnswerBlock[] {
  return parts.flatMap((part): AnswerBlock[] => {
    const { functionCall } = toRecord(part);
    if (!isJsonRecord(functionCall)) return [readSpokenPart(part)].filter((block) => block !== undefined);
    const { id, name, args } = functionCall;
    if (typeof name !== "string" || !isId(id)) return [];
    const signature = findSignature(part);
    const call = { type: "toolCall", id, name, arguments: parseArguments(args) ?? {} } as const;
    return [{ ...call, ...(signature !== undefined && { thoughtSignature: signature }) }];
  });
}

/** Reads text or a thought from the model; undefined for other parts. */
export function readSpokenPart(part: unknown): TextContent | ThinkingContent | undefined {
  const { text, thought } = toRecord(part);
  const signature = findSignature(part);
  if (typeof text !== "string") return undefined;
  return thought === true
    ? { type: "thinking", thinking: text, ...(signature !== undefined && { thinkingSignature: signature }) }
    : { type: "text", text, ...(signature !== undefined && { textSignature: signature }) };
}

function findSignature(part: unknown): string | undefined {
  const { thoughtSignature } = toRecord(part);
  return isId(thoughtSignature) && thoughtSignature !== NO_SIGNATURE ? thoughtSignature : undefined;
}

/** Returns whether a part is a result. */
export function isResponse(part: unknown): boolean {
  return isJsonRecord(toRecord(part)["functionResponse"]);
}

/** Assigns an id to a result without an id: the id of its call, which is found by name. */
export function withResponseId(part: object, getId: (name: unknown) => string): object {
  const functionResponse = toRecord(toRecord(part)["functionResponse"]);
  const { id, name } = functionResponse;
  return isId(id) ? part : { ...part, functionResponse: { ...functionResponse, id: getId(name) } };
}

/** Reads a result from a part; undefined if the part has no id. */
export function readResponse(part: unknown): ReadResult | undefined {
  const { id, response, parts } = toRecord(toRecord(part)["functionResponse"]);
  if (!isId(id)) return undefined;
  const { output, error, ...others } = toRecord(response);
  // Some tools include the field in every result and leave it empty if they succeeded.
  const isEmpty = error === undefined || error === null || error === "";
  const isError = !isEmpty || (error === "" && output === undefined && Object.keys(others).length === 0);
  return {
    toolCallId: id,
    content: [
      ...getOutputTexts(isError ? error : (output ?? response)),
      ...toArray(parts).map((blob) => readBlob(toRecord(blob)["inlineData"])),
    ],
    isError,
  };
}

function getOutputTexts(output: unknown): TextContent[] {
  const text = typeof output === "string" ? output : JSON.stringify(output ?? "");
  return text === "" ? [] : [{ type: "text", text }];
}

/** Normalizes equivalent forms of a part by removing ids, which may be generated, and the placeholder for a missing signature. */
export function normalizePart(part: object): object {
  const { functionCall, functionResponse, thoughtSignature, ...rest } = withoutFields(part);
  return {
    ...rest,
    ...(thoughtSignature !== NO_SIGNATURE && { thoughtSignature }),
    ...(functionCall !== undefined && {
      functionCall: { args: {}, ...withoutFields(toRecord(functionCall), ["id"]) },
    }),
    ...(functionResponse !== undefined && {
      functionResponse: withoutFields(toRecord(functionResponse), ["id"]),
    }),
  };
}
