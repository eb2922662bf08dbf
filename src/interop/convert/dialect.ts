import type { ImageContent, TextContent, ThinkingContent } from "../../core/format/content.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolResultMessage,
  UNKNOWN_NAME,
  type UserMessage,
} from "../../core/format/message.ts";
import type { RequestOptions } from "./conversion-options.ts";
import type { FormName } from "./raw-form.ts";
import { normalizeName, type ToolIds } from "./tool-ids.ts";

/** Block in an answer. */
export type AnswerBlock = AssistantMessage["content"][number];

/** Block in a user message or a tool result. */
export type UserBlock = TextContent | ImageContent;

/** Limits of a request form, and readers for originals stored in this form. */
export interface Dialect {
  /** Key of originals in this form in `details`. */
  readonly form: FormName;
  /** APIs whose signatures this form supports; undefined if it supports all signatures. */
  readonly apis: ReadonlySet<string> | undefined;
  /** Default provider for this API. */
  readonly provider: string | undefined;
  /** Whether this form is for display rather than for a model, and so includes all answers and thinking. */
  readonly isForDisplay: boolean;
  /**
   * System messages to move to the front of the request: all messages, messages before the first answer, only leading messages,
   * or no messages.
   */
  readonly systemInFront: "all" | "unanswered" | "leading" | "none";
  /** Whether the first message must be a user message. */
  readonly startsWithUser: boolean;
  /** Supported image types; undefined if all types are supported. */
  readonly imageTypes: ReadonlySet<string> | undefined;
  /** Returns whether a result may contain images. If not, images are moved after the results. */
  takesImages(result: ToolResultMessage, target: ModelIdentity | undefined): boolean;
  /** Changes a tool name to match the provider's pattern. */
  fitName(name: string): string;
  newIds(): ToolIds;
  /** Returns whether a string is treated as empty. */
  isBlank(text: string): boolean;
  /** Whether an answer must contain either all of its thinking, in order and not at the end, or no thinking. */
  readonly wantsThinkingWhole: boolean;
  /** Returns whether an empty text block from an API is kept because of its signature. */
  keepsSignedText(signature: string, api: string): boolean;
  /** Returns whether the signature of a text block or a call can be sent back through an API to the model that created it. */
  isSignature(signature: string, api: string): boolean;
  /** Returns whether thinking can be sent back to the model that wrote it. */
  canReplay(thinking: ThinkingContent, answer: Pick<AssistantMessage, "api" | "provider">): boolean;
  /**
   * Reads the text of a system message's stored original. Absent if all system messages are at the front of the request.
   */
  readonly readSystem?: (raw: unknown) => string | undefined;
  /** Reads the stored original of a user message; undefined if it does not have this form. */
  readUser(raw: unknown): UserMessage["content"] | undefined;
  /** Reads the stored original of an answer; undefined if it cannot be sent. */
  readAnswer(raw: unknown): AnswerBlock[] | undefined;
  /** Reads the stored original of a result. */
  readResult(raw: unknown): ReadResult | undefined;
}

/** Image types that most providers accept. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Maximum length of a tool name for most providers, in characters. */
const MAX_NAME = 64;

/** Defaults for most request forms. Each form overrides the fields that differ. */
export const USUAL_DIALECT = {
  isForDisplay: false,
  systemInFront: "all",
  startsWithUser: false,
  imageTypes: IMAGE_TYPES,
  takesImages: () => true,
  fitName: (name: string) => normalizeName(name, MAX_NAME),
  isBlank: (text) => text === "",
  wantsThinkingWhole: false,
  keepsSignedText: () => false,
  isSignature: () => true,
} satisfies Partial<Dialect>;

/** Readers for a form that cannot send stored originals. */
export const NO_ORIGINALS = {
  readUser: () => undefined,
  readAnswer: () => undefined,
  readResult: () => undefined,
} satisfies Partial<Dialect>;

/** Returns whether a string is blank. Models write blank text, but several providers reject it. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Returns whether thinking has a signature. Its provider rejects thinking without a signature. */
export function isSigned({ thinkingSignature }: ThinkingContent): boolean {
  return thinkingSignature !== undefined && thinkingSignature !== "";
}

/** Content of a tool result. */
export interface ReadResult {
  /** Id that the provider assigned to the call. */
  readonly toolCallId: string;
  readonly content: UserBlock[];
  readonly isError: boolean;
}

/** Identity of a model. Thinking and signatures can be sent back only to a model with the same identity. */
export interface ModelIdentity {
  /** APIs that support this model's thinking; undefined if all APIs support it. */
  readonly apis: ReadonlySet<string> | undefined;
  readonly provider: string;
  readonly model: string;
}

/** Matches a model name with a snapshot date. */
const SNAPSHOT = /^(.+?)-(?:\d{8}|\d{4}-\d\d-\d\d)$/;

/**
 * Determines the target model of a request.
 *
 * @param apis - APIs of the request.
 * @param provider - Provider to use if neither the options nor the conversation specifies one.
 * @returns Undefined if neither the options nor the last answer identifies the model. In this case, thinking cannot be
 *   sent.
 */
export function findTarget(
  messages: readonly Message[],
  apis: ReadonlySet<string> | undefined,
  provider: string | undefined,
  options: RequestOptions,
): ModelIdentity | undefined {
  const all = messages.filter((message) => message.role === "assistant");
  // An answer without a provider does not identify the recipient of the request.
  const named = all.filter((answer) => answer.provider !== UNKNOWN_NAME);
  const answers = named.length > 0 ? named : all;
  const speaks = (api: string) => apis === undefined || apis.has(api);
  const last = answers.findLast((answer) => speaks(answer.api));
  const target = { apis, provider: options.provider ?? last?.provider ?? provider ?? UNKNOWN_NAME };
  if (options.model !== undefined) return { ...target, model: options.model };
  return last !== undefined && last === answers.at(-1) ? { ...target, model: last.model } : undefined;
}

/** Returns whether the target model wrote a message. */
export function isWrittenBy(target: ModelIdentity | undefined, message: Message): boolean {
  if (target === undefined || message.role !== "assistant") return false;
  if (target.apis !== undefined && !target.apis.has(message.api)) return false;
  if (message.provider !== target.provider) return false;
  return [message.model, message.responseModel].some(
    (model) => model !== undefined && isSame(model, target.model),
  );
}

/** Returns whether two names refer to the same model. A name with a snapshot date also matches the name without it. */
function isSame(a: string, b: string): boolean {
  return a === b || SNAPSHOT.exec(a)?.[1] === b || SNAPSHOT.exec(b)?.[1] === a;
}
