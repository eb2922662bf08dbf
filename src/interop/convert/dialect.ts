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

/** A block of an answer. */
export type AnswerBlock = AssistantMessage["content"][number];

/** A block of a user message or a tool result. */
export type UserBlock = TextContent | ImageContent;

/** Limits of a request's form, and readers of originals kept in this form. */
export interface Dialect {
  /** Key in `details` of originals in this form. */
  readonly form: FormName;
  /** APIs whose signatures this form can carry; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  /** Default provider of this API. */
  readonly provider: string | undefined;
  /** Whether this form is for display rather than for a model: it includes all answers and thinking. */
  readonly isForDisplay: boolean;
  /**
   * System messages that move to the front of the request: all, those before the first answer, only the leading ones,
   * or none.
   */
  readonly systemInFront: "all" | "unanswered" | "leading" | "none";
  /** Whether the first message must be a user message. */
  readonly startsWithUser: boolean;
  /** Types of images that are supported; undefined for any. */
  readonly imageTypes: ReadonlySet<string> | undefined;
  /** Whether a result may contain images; if not, they move after the results. */
  takesImages(result: ToolResultMessage, target: ModelIdentity | undefined): boolean;
  /** Changes a tool name to fit the provider's pattern. */
  fitName(name: string): string;
  newIds(): ToolIds;
  /** Whether a text counts as empty. */
  isBlank(text: string): boolean;
  /** Whether an answer must keep all its thinking, in order and not at the end, or none of it. */
  readonly wantsThinkingWhole: boolean;
  /** Whether an empty text from this API is kept because of its signature. */
  keepsSignedText(signature: string, api: string): boolean;
  /** Whether a signature of a text or a call can be sent back over this API to the model that created it. */
  isSignature(signature: string, api: string): boolean;
  /** Whether thinking can be sent back to the model that wrote it. */
  canReplay(thinking: ThinkingContent, answer: Pick<AssistantMessage, "api" | "provider">): boolean;
  /**
   * Reads the text of a system message's kept original within the request; absent if all system messages are at the
   * front.
   */
  readonly readSystem?: (raw: unknown) => string | undefined;
  /** Reads the kept original of a user message; undefined if it is not of this form. */
  readUser(raw: unknown): UserMessage["content"] | undefined;
  /** Reads the kept original of an answer; undefined if it cannot be sent. */
  readAnswer(raw: unknown): AnswerBlock[] | undefined;
  /** Reads the kept original of a result. */
  readResult(raw: unknown): ReadResult | undefined;
}

/** Types of images that most providers accept. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Maximum length of a tool name for most providers, in characters. */
const MAX_NAME = 64;

/** Defaults for most forms of requests; each form overrides what differs. */
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

/** Readers for a form that cannot send kept originals. */
export const NO_ORIGINALS = {
  readUser: () => undefined,
  readAnswer: () => undefined,
  readResult: () => undefined,
} satisfies Partial<Dialect>;

/** Returns whether a text is blank: models write such texts, and several providers reject them. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Returns whether thinking has a signature, without which its provider rejects it. */
export function isSigned({ thinkingSignature }: ThinkingContent): boolean {
  return thinkingSignature !== undefined && thinkingSignature !== "";
}

/** Content of a tool result. */
export interface ReadResult {
  /** The provider's id of the call. */
  readonly toolCallId: string;
  readonly content: UserBlock[];
  readonly isError: boolean;
}

/** Identity of a model: messages with the same identity can exchange thinking and signatures. */
export interface ModelIdentity {
  /** APIs that can carry this model's thinking; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  readonly provider: string;
  readonly model: string;
}

/** A model's name with the date of its snapshot. */
const SNAPSHOT = /^(.+?)-(?:\d{8}|\d{4}-\d\d-\d\d)$/;

/**
 * Finds the model of a request.
 *
 * @param apis - APIs of the request.
 * @param provider - Provider if neither the options nor the conversation names one.
 * @returns Undefined if neither the options nor the last answer names the model; then no thinking can be sent.
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

/** Returns whether the model of the request wrote a message. */
export function isWrittenBy(target: ModelIdentity | undefined, message: Message): boolean {
  if (target === undefined || message.role !== "assistant") return false;
  if (target.apis !== undefined && !target.apis.has(message.api)) return false;
  if (message.provider !== target.provider) return false;
  return [message.model, message.responseModel].some(
    (model) => model !== undefined && isSame(model, target.model),
  );
}

/** Returns whether two names mean one model: a name with a snapshot date also matches the name without it. */
function isSame(a: string, b: string): boolean {
  return a === b || SNAPSHOT.exec(a)?.[1] === b || SNAPSHOT.exec(b)?.[1] === a;
}
