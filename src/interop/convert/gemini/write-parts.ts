import { textsOf } from "../../../core/context/content-text.ts";
import type { ImageContent } from "../../../core/format/content.ts";
import type { UserMessage } from "../../../core/format/message.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { NO_SIGNATURE } from "./read-parts.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Tells whether a signature may be Gemini's. */
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

/** How calls and results are written. */
export interface CallStyle {
  /** Whether the model requires signatures of calls, and accepts ids and images in results. */
  readonly isNew: boolean;
  /** Maps our id to the provider's. */
  readonly idOf: (id: string) => string;
}

/** Writes an answer: a part for each block, since signatures belong to parts. */
export function writeAnswer(content: readonly AnswerBlock[], { isNew, idOf }: CallStyle): GeminiPart[] {
  const firstCall = content.find(({ type }) => type === "toolCall");
  return content.map((block): GeminiPart => {
    if (block.type === "text") return { text: block.text, ...signed(block.textSignature) };
    if (block.type === "thinking")
      return { thought: true, text: block.thinking, ...signed(block.thinkingSignature) };
    const { name, arguments: args, thoughtSignature } = block;
    return {
      functionCall: { name, args, ...(isNew && { id: idOf(block.id) }) },
      ...(isNew && block === firstCall && { thoughtSignature: NO_SIGNATURE }),
      ...signed(thoughtSignature),
    };
  });
}

/** Writes a kept part; without ids for older models. */
export function keptPart(part: GeminiPart, { isNew }: CallStyle): GeminiPart {
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

function signed(signature: string | undefined): { thoughtSignature?: string } {
  return isSignature(signature) ? { thoughtSignature: signature } : {};
}

/** Writes a result. */
export function writeResponse(
  { content, isError, toolCallId }: ReadResult,
  name: string,
  { isNew, idOf }: CallStyle,
): GeminiPart {
  const text = textsOf(content).join("\n");
  const parts = content.filter((block) => block.type === "image").map(writeImage);
  return {
    functionResponse: {
      name,
      response: isError ? { error: text } : { output: text },
      ...(isNew && { id: idOf(toolCallId) }),
      ...(parts.length > 0 && { parts }),
    },
  };
}

/** Bytes in a part, as base64. */
interface GeminiBlob {
  mimeType: string;
  data: string;
}

/** Something said, thought, shown, called or returned. Any part can have a signature, and has to keep it. */
export interface GeminiPart {
  text?: string;
  /** Whether the text is what the model thought. */
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

/** What one side says until the other does. */
export interface GeminiContent {
  role: "user" | "model";
  parts: GeminiPart[];
}

/** What `toGemini` makes. `systemInstruction` belongs into the request's `config`. */
export interface GeminiRequest {
  /** Absent if there is no system message. */
  systemInstruction?: { parts: { text: string }[] };
  contents: GeminiContent[];
  issues: ConversionIssue[];
}

/** A content as the SDK types it, and as `toGemini` makes it. */
export type GeminiContentLike = Open<{
  readonly role?: string | undefined;
  readonly parts?: readonly object[] | undefined;
}>;

/** A request with its contents as the SDK types them, and as `toGemini` makes it. */
export type GeminiRequestLike = Open<{
  readonly systemInstruction?: string | GeminiContentLike | undefined;
  readonly contents: readonly (GeminiContentLike | GeminiResponseLike)[];
}>;

/** A response as the SDK types it. */
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
