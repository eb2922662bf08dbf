import { getTexts } from "../../../core/context/content-text.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { ToolResultMessage, UserMessage } from "../../../core/format/message.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open } from "../conversion-options.ts";
import type { AnswerBlock, ReadResult, UserBlock } from "../dialect.ts";
import { toDataUrl } from "../images.ts";
import { findRaw, getCallState, isSameJson, keepRaw, withoutFields } from "../raw-form.ts";
import type { ModelProviderOptions } from "./model-message-types.ts";
import { readAnswer, readOutput, readUser, writeAnswer } from "./model-parts.ts";
import type { Family } from "./provider-state.ts";

/** Result of a call that the user denied. */
const DENIED = "Tool execution was denied.";

/** Writes the content of a user message. */
export function writeUserParts(content: UserMessage["content"]): (UITextPart | UIFilePart)[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((block) =>
    block.type === "text"
      ? { type: "text", text: block.text }
      : { type: "file", mediaType: block.mimeType, url: toDataUrl(block) },
  );
}

/**
 * Reads the content of a user message. Skips parts intended only for the host, such as data. A single text part is converted to a
 * string.
 */
export function readUserParts(parts: readonly object[]): UserMessage["content"] {
  const said = parts.filter((part) => ["text", "file"].includes(toSafeString(toRecord(part)["type"])));
  const blocks = readUser(said) ?? [];
  const [first] = blocks;
  return blocks.length === 1 && typeof first === "object" && first.type === "text" ? first.text : blocks;
}

/** Call result to write. */
export interface PartResult {
  readonly message: Pick<ToolResultMessage, "content" | "isError" | "details">;
  /** Whether the result is still missing and may be added by the user interface. */
  readonly isOpen: boolean;
}

/** Writes one model call. `results` contains the results by stored call id. */
export function writeStep(
  content: readonly AnswerBlock[],
  results: ReadonlyMap<string, PartResult>,
  family: Family | undefined,
  getId: (id: string) => string,
): UIPart[] {
  const calls = content.filter((block) => block.type === "toolCall");
  const parts = writeAnswer(content, family, getId).map((part): UIPart => {
    const { providerOptions } = part;
    if (part.type !== "tool-call") {
      const { type, text } = part;
      return { type, text, ...(providerOptions !== undefined && { providerMetadata: providerOptions }) };
    }
    const call = calls.shift();
    const state = providerOptions === undefined ? {} : { callProviderMetadata: providerOptions };
    const { toolName, toolCallId, input } = part;
    return {
      type: `tool-${toolName}`,
      toolCallId,
      input,
      ...state,
      ...writeOutcome(results.get(call?.id ?? "")),
    };
  });
  return [{ type: "step-start" }, ...parts];
}

type Outcome = UIToolPart extends infer Part
  ? Part extends UIToolPart
    ? Omit<Part, "type" | "toolCallId" | "input">
    : never
  : never;

/** Writes the outcome of a call. */
export function writeOutcome(result: PartResult | undefined): Outcome {
  if (result === undefined || result.isOpen) return { state: "input-available" };
  const { message } = result;
  const texts = getTexts(message.content);
  if (message.isError) return { state: "output-error", errorText: texts.join("\n") };
  return { state: "output-available", output: toOutput(message, texts) };
}

function toOutput(message: PartResult["message"], texts: readonly string[]): unknown {
  const kept = toRecord(findRaw(message, "uiMessage"));
  if ("output" in kept && isSameJson(readToolOutput(kept["output"]), message.content)) return kept["output"];
  if (toArray(message.content).length === texts.length && texts.length < 2) return texts.join("");
  return { type: "content", value: message.content };
}

function readToolOutput(output: unknown): UserBlock[] {
  const { type, value } = toRecord(output);
  if (type !== "content" || !Array.isArray(value))
    return readOutput("json", output === undefined ? "" : output);
  return value.flatMap((block): UserBlock[] => {
    const { type: kind, text, data, mimeType } = toRecord(block);
    if (kind === "text" && typeof text === "string") return [{ type: "text", text }];
    if (typeof data !== "string" || typeof mimeType !== "string") return readOutput("content", [block]);
    return [{ type: "image", data, mimeType }];
  });
}

/** Model call. */
export interface ReadStep {
  readonly content: AnswerBlock[];
  readonly results: readonly {
    readonly result: ReadResult;
    readonly toolName: string;
    readonly details: ReturnType<typeof keepRaw> | undefined;
  }[];
}

/** Reads one model call: its content, its tool calls, and their outcomes. */
export function readStep(parts: readonly object[]): ReadStep {
  const readable = parts.map((part) => (isToolPart(part) ? asCallPart(part) : part));
  return { content: readAnswer(readable), results: parts.flatMap(readOutcome) };
}

/** Returns whether a part is a call to a static or dynamic tool. */
export function isToolPart(part: object): boolean {
  const { type } = toRecord(part);
  return typeof type === "string" && (type.startsWith("tool-") || type === "dynamic-tool");
}

/** Returns the name of the tool that a part calls. */
export function getToolName(part: object): unknown {
  const { type, toolName } = toRecord(part);
  return type === "dynamic-tool" ? toolName : toSafeString(type).slice("tool-".length);
}

function asCallPart(part: object): object {
  const { input, rawInput, toolCallId, providerExecuted } = toRecord(part);
  return {
    type: "tool-call",
    toolCallId,
    toolName: getToolName(part),
    input: input ?? rawInput,
    providerExecuted,
    callProviderMetadata: getCallState(part),
  };
}

function readOutcome(part: object): ReadStep["results"] {
  const { state, output, errorText, approval, toolCallId, providerExecuted, preliminary } = toRecord(part);
  const toolName = getToolName(part);
  const isOurs = isToolPart(part) && providerExecuted !== true && preliminary !== true;
  if (!isOurs || typeof toolCallId !== "string" || typeof toolName !== "string") return [];
  if (state === "output-available") {
    const isText = typeof output === "string" || output === undefined;
    const details = isText ? undefined : keepRaw("uiMessage", { output });
    return [{ result: { toolCallId, content: readToolOutput(output), isError: false }, toolName, details }];
  }
  const { reason, approved } = toRecord(approval);
  const isDenied = state === "output-denied" || (state === "approval-responded" && approved === false);
  if (state !== "output-error" && !isDenied) return [];
  const text = isDenied ? (typeof reason === "string" ? reason : DENIED) : errorText;
  return [
    {
      result: { toolCallId, content: readOutput("text", text), isError: true },
      toolName,
      details: undefined,
    },
  ];
}

/** Returns whether a part marks the start of a model call. */
export function isStepStart(part: object): boolean {
  return toRecord(part)["type"] === "step-start";
}

/** Splits the parts of an assistant message into its model calls. */
export function splitSteps(parts: readonly object[]): object[][] {
  const steps: object[][] = [[]];
  for (const part of parts) {
    if (isStepStart(part)) steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

/** Normalizes equivalent forms of a part. */
export function normalizeUIPart(part: object): object {
  const { type, ...rest } = withoutFields(part, isToolPart(part) ? [] : ["state", "id"]);
  return { type, ...rest };
}

/** Text part. */
interface UITextPart {
  type: "text";
  text: string;
  providerMetadata?: ModelProviderOptions;
}

/** Thinking by the model. */
interface UIReasoningPart {
  type: "reasoning";
  text: string;
  providerMetadata?: ModelProviderOptions;
}

/** File, as a `data:` URL. */
interface UIFilePart {
  type: "file";
  mediaType: string;
  url: string;
}

/** Start of a model call. */
interface UIStepStartPart {
  type: "step-start";
}

/** Tool call and its outcome. */
type UIToolPart = {
  type: `tool-${string}`;
  toolCallId: string;
  input: unknown;
  callProviderMetadata?: ModelProviderOptions;
} & (
  | { state: "input-available" }
  | { state: "output-available"; output: unknown }
  | { state: "output-error"; errorText: string }
);

/** Part of a UI message. */
export type UIPart = UITextPart | UIReasoningPart | UIFilePart | UIStepStartPart | UIToolPart;

/** Message in the AI SDK's user interfaces: a user message, or all content up to the next user message. */
export interface UIMessage {
  id: string;
  role: "user" | "assistant";
  /** Data stored by the host; absent if the host stored no data. */
  metadata?: unknown;
  parts: UIPart[];
}

/** Options for `toUIMessages`. */
export interface UIMessagesOptions {
  /**
   * Returns the id of a UI message from the index of its first message. Default: a digest of index and content that is
   * stable across conversions.
   */
  readonly id?: (index: number) => string;
  /** Leaf to convert. Default: the session's leaf. */
  readonly leafId?: string;
}

/** Result of `toUIMessages`. */
export interface UIMessagesResult {
  /**
   * Absent if the source has no system message. Since version 7, the AI SDK requires instructions to be separate from
   * messages.
   */
  instructions?: string;
  messages: UIMessage[];
  issues: ConversionIssue[];
}

/** Message from the SDK or from `toUIMessages`. */
export type UIMessageLike = Open<{
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Open<{ readonly type: string }>[];
}>;
