import type { ImageContent, TextContent, ThinkingContent } from "../schema/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../schema/message.ts";
import type { ModelIdentity } from "./model-identity.ts";
import type { FormName } from "./raw-form.ts";
import type { ToolIds } from "./tool-ids.ts";

/** A block of an answer. */
export type AnswerBlock = AssistantMessage["content"][number];

/** A block of what the user says, or a tool gives back. */
export type UserBlock = TextContent | ImageContent;

/** What a form of request allows, and how to read what was kept in this form. */
export interface Dialect {
  /** Key in `details` of what was kept in this form. */
  readonly form: FormName;
  /** The APIs whose signatures this form can carry; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  /** Who serves this API if nobody else is named. */
  readonly provider: string | undefined;
  /** Whether this form is for people, not for a model: it shows every answer and all thinking. */
  readonly isForDisplay: boolean;
  /** Which system messages go in front of the request: all, only the leading ones, or none. */
  readonly systemInFront: "all" | "leading" | "none";
  /** Whether an answer cannot come first. */
  readonly startsWithUser: boolean;
  /** Types of images that are supported; undefined for any. */
  readonly imageTypes: ReadonlySet<string> | undefined;
  /** Whether a result may hold images; if not, they move behind the results. */
  takesImages(result: ToolResultMessage, target: ModelIdentity | undefined): boolean;
  /** Maximum length of a tool's name; undefined if any name will do. */
  readonly maxNameLength: number | undefined;
  /** Makes the ids of one request. */
  newIds(): ToolIds;
  /** Whether a text counts as empty. */
  isBlank(text: string): boolean;
  /** Whether an answer must keep all of its thinking, in place and not at the end, or none. */
  readonly wantsThinkingWhole: boolean;
  /** Whether an empty text from this API is kept for its signature. */
  keepsSignedText(api: string): boolean;
  /** Whether a signature of a text or a call can go back to the model that made it over this API. */
  isSignature(signature: string, api: string): boolean;
  /** Whether thinking of the model that is asked can be sent back to it. */
  canReplay(thinking: ThinkingContent, api: string): boolean;
  /** Reads what was kept of a user message; undefined if it is not of this form. */
  readUser(raw: unknown): UserMessage["content"] | undefined;
  /** Reads what was kept of an answer; undefined if it cannot be sent. */
  readAnswer(raw: unknown): AnswerBlock[] | undefined;
  /** Reads what was kept of a result. */
  readResult(raw: unknown): ReadResult | undefined;
}

/** What a result says. */
export interface ReadResult {
  /** The provider's id of the call. */
  readonly toolCallId: string;
  readonly content: UserBlock[];
  readonly isError: boolean;
}
