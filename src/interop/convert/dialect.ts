import type { ImageContent, TextContent, ThinkingContent } from "../../core/format/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../core/format/message.ts";
import type { ModelIdentity } from "./model-identity.ts";
import type { FormName } from "./raw-form.ts";
import { plainName, type ToolIds } from "./tool-ids.ts";

/** A block of an answer. */
export type AnswerBlock = AssistantMessage["content"][number];

/** A block of a user message or a tool result. */
export type UserBlock = TextContent | ImageContent;

/** What a form of request allows, and how to read originals kept in this form. */
export interface Dialect {
  /** Key in `details` of originals in this form. */
  readonly form: FormName;
  /** The APIs whose signatures this form can carry; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  /** Default provider of this API. */
  readonly provider: string | undefined;
  /** Whether this form is for people rather than a model: it shows all answers and thinking. */
  readonly isForDisplay: boolean;
  /** Which system messages go in front of the request: all, only the leading ones, or none. */
  readonly systemInFront: "all" | "leading" | "none";
  /** Whether the first message must be a user's. */
  readonly startsWithUser: boolean;
  /** Types of images that are supported; undefined for any. */
  readonly imageTypes: ReadonlySet<string> | undefined;
  /** Whether a result may hold images; if not, they move behind the results. */
  takesImages(result: ToolResultMessage, target: ModelIdentity | undefined): boolean;
  /** Makes the name of a tool fit the provider's pattern. */
  fitName(name: string): string;
  newIds(): ToolIds;
  /** Whether a text counts as empty. */
  isBlank(text: string): boolean;
  /** Whether an answer must keep all its thinking, in order and not at the end, or none of it. */
  readonly wantsThinkingWhole: boolean;
  /** Whether an empty text from this API is kept for the sake of its signature. */
  keepsSignedText(signature: string, api: string): boolean;
  /** Whether a signature of a text or a call can go back to the model that made it over this API. */
  isSignature(signature: string, api: string): boolean;
  /** Whether thinking can be sent back to the model that wrote it. */
  canReplay(thinking: ThinkingContent, answer: Pick<AssistantMessage, "api" | "provider">): boolean;
  /** Reads the text of the kept original of a system message within the request; absent if all are in front. */
  readonly readSystem?: (raw: unknown) => string | undefined;
  /** Reads the kept original of a user message; undefined if it is not of this form. */
  readUser(raw: unknown): UserMessage["content"] | undefined;
  /** Reads the kept original of an answer; undefined if it cannot be sent. */
  readAnswer(raw: unknown): AnswerBlock[] | undefined;
  /** Reads the kept original of a result. */
  readResult(raw: unknown): ReadResult | undefined;
}

/** Types of images that most providers take. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** Characters of a tool's name that most providers take. */
const MAX_NAME = 64;

/** What most forms of request allow; each says what differs. */
export const USUAL_DIALECT = {
  isForDisplay: false,
  systemInFront: "all",
  startsWithUser: false,
  imageTypes: IMAGE_TYPES,
  takesImages: () => true,
  fitName: (name: string) => plainName(name, MAX_NAME),
  isBlank: (text) => text === "",
  wantsThinkingWhole: false,
  keepsSignedText: () => false,
  isSignature: () => true,
} satisfies Partial<Dialect>;

/** Tells whether a text is blank: models write such texts, and several providers reject them. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Tells whether thinking has the signature without which its provider rejects it. */
export function isSigned({ thinkingSignature }: ThinkingContent): boolean {
  return thinkingSignature !== undefined && thinkingSignature !== "";
}

/** The content of a tool result. */
export interface ReadResult {
  /** The provider's id of the call. */
  readonly toolCallId: string;
  readonly content: UserBlock[];
  readonly isError: boolean;
}
