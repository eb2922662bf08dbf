import type { ImageContent, TextContent, ThinkingContent } from "../schema/content.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../schema/message.ts";
import type { ModelIdentity } from "./model-identity.ts";
import type { FormName } from "./raw-form.ts";
import type { ToolIds } from "./tool-ids.ts";

/** A block of an answer. */
export type AnswerBlock = AssistantMessage["content"][number];

/** A block of what the user says, or a tool gives back. */
export type UserBlock = TextContent | ImageContent;

/** What a request's form allows, and how what was kept of it is read. */
export interface Dialect {
  /** Key of what is kept raw. */
  readonly form: FormName;
  /** The APIs whose signatures this form can carry; undefined for any. */
  readonly apis: ReadonlySet<string> | undefined;
  /** Who serves this API if nobody else is named. */
  readonly provider: string | undefined;
  /** Whether this is to be shown and not to be asked: all answers are there, with all that was thought. */
  readonly isForDisplay: boolean;
  /** Where system messages go: all before the request, only the first ones, or none of them. */
  readonly systemInFront: "all" | "leading" | "none";
  /** Whether an answer cannot come first. */
  readonly startsWithUser: boolean;
  /** The images that are understood; undefined for any. */
  readonly imageTypes: ReadonlySet<string> | undefined;
  /** Whether a result may hold images; else they follow it. */
  takesImages(result: ToolResultMessage, target: ModelIdentity | undefined): boolean;
  /** Characters that a tool's name may have; undefined if it may have any. */
  readonly maxNameLength: number | undefined;
  /** Makes the ids of one request. */
  newIds(): ToolIds;
  /** Whether a text is as good as none. */
  isBlank(text: string): boolean;
  /** Whether thinking goes back whole, in its place and with something behind it, or not at all. */
  readonly wantsThinkingWhole: boolean;
  /** Whether an empty text of an API stays for its signature. */
  keepsSignedText(api: string): boolean;
  /** Whether a signature of a text or a call can go back to the model that made it over this API. */
  isSignature(signature: string, api: string): boolean;
  /** Whether thinking of the model asked can be sent back to it. */
  canReplay(thinking: ThinkingContent, api: string): boolean;
  /** Reads what was kept of a user message; undefined if it is nothing of this form. */
  readUser(raw: unknown): UserMessage["content"] | undefined;
  /** Reads what was kept of an answer. */
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
