import { toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import type { AgentMessage, ToolResultMessage } from "../../../core/format/message.ts";
import type { ConversionIssues } from "../conversion-issue.ts";
import { type Dialect, isBlank, USUAL_DIALECT } from "../dialect.ts";
import { endsWithType, findRaw, isForModel, withoutFields } from "../raw-form.ts";
import type { PlannedItem } from "../request-plan.ts";
import { planRequest, writePlan } from "../session/plan-source.ts";
import { getMessages, type RequestSource } from "../session/session-steps.ts";
import { getCallId, ToolIds } from "../tool-ids.ts";
import type {
  AiSdkMajor,
  ModelAnswerPart,
  ModelMessage,
  ModelMessagesOptions,
  ModelMessagesRequest,
  ModelTextPart,
  ModelToolOutput,
  ModelToolOutputPart,
  ModelToolResultPart,
} from "./model-message-types.ts";
import {
  readAnswer,
  readOutput,
  readResult,
  readUser,
  toBase64,
  toStorablePart,
  writeAnswer,
  writeResult,
  writeUser,
} from "./model-parts.ts";
import { canReplay, canSign, findFamily } from "./provider-state.ts";
import { getToolName, isToolPart, splitSteps } from "./ui-parts.ts";

const MAX_ID = 64;

/** What model messages can hold, whatever the provider. */
export const MODEL_MESSAGES: Dialect = {
  ...USUAL_DIALECT,
  form: "modelMessage",
  apis: undefined,
  provider: undefined,
  startsWithUser: true,
  imageTypes: undefined,
  takesImages: ({ isError }) => !isError,
  fitName: (name) => name,
  wantsThinkingWhole: true,
  keepsSignedText: (_, api) => findFamily(api) === "google",
  isSignature: canSign,
  newIds: () => new ToolIds({ maxLength: MAX_ID, getPart: getCallId }),
  isBlank,
  canReplay,
  readUser: (raw) => (isMessage(raw) ? readUser(raw.content) : undefined),
  readAnswer: (raw) =>
    isMessage(raw) && !endsWithType(raw.content, "reasoning") ? readAnswer(raw.content) : undefined,
  readResult,
};

/**
 * Converts a session, or the messages of a context, to model messages of the AI SDK.
 *
 * Signatures and item ids go where the SDK's own providers look for them. The results of an answer form one message. Files
 * and provider-executed tools of saved UI messages become the parts that `convertToModelMessages` makes of them.
 *
 * @param source - A session, or messages such as `buildSessionContext().messages`; not changed.
 * @returns The instructions and `messages` for `generateText` and `streamText`, and the issues.
 * @throws {TypeError} If `sdk` is another version than 5, 6 or 7.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#ai-sdk
 */
export function toModelMessages<Major extends AiSdkMajor = 7>(
  source: RequestSource,
  options?: ModelMessagesOptions<Major>,
): ModelMessagesRequest<Major>;
export function toModelMessages(
  source: RequestSource,
  options: ModelMessagesOptions = {},
): ModelMessagesRequest<AiSdkMajor> {
  const form = { prepare: withModelParts, write: writePlan };
  const { system, items, ids, issues } = planRequest(source, MODEL_MESSAGES, options, form);
  const sdk = new SdkDialect(options.sdk, getMessages(source, options.leafId), issues);
  const request = items.flatMap((item) =>
    sdk.fit(
      writeItem(item, (id) => ids.of(id)),
      item.index,
    ),
  );
  // Each major ignores or prefers the other's name: a request that misses its major would lose the instructions silently.
  const instructions = system === "" ? {} : { system, instructions: system };
  return { ...instructions, messages: request, issues: issues.list() };
}

function writeItem(item: PlannedItem, getId: (id: string) => string): ModelMessage[] {
  if (item.kind === "system") return [];
  if (item.kind === "user")
    return [isMessage(item.raw) ? item.raw : { role: "user", content: writeUser(item.content) }];
  const family = item.isOwn ? findFamily(item.api) : undefined;
  const parts = writeAnswer(item.content, family, getId);
  const answer: ModelMessage = isMessage(item.raw)
    ? writeKeptAnswer(item.raw, item.isOwn)
    : { role: "assistant", content: item.isIncomplete ? parts.map(withoutItem) : parts };
  if (item.results.length === 0) return [answer];
  const results = item.results.map(
    ({ message, raw }): ModelToolResultPart =>
      isResult(raw) ? raw : writeResult(message, message.toolName, getId(message.toolCallId)),
  );
  return [answer, { role: "tool", content: results }];
}

/** Returns a kept answer; for another model with the text that a custom tool took as an object, as all can read it. */
function writeKeptAnswer(raw: ModelMessage, isOwn: boolean): ModelMessage {
  if (isOwn || raw.role !== "assistant" || typeof raw.content === "string") return raw;
  const content = raw.content.map((part) =>
    part.type === "tool-call" && typeof part.input === "string"
      ? { ...part, input: { input: part.input } }
      : part,
  );
  return { ...raw, content };
}

/** Returns a part without the id of its item: OpenAI rejects items with ids if their reasoning is missing. */
function withoutItem(part: ModelAnswerPart): ModelAnswerPart {
  const { providerOptions, ...rest } = part;
  const { openai, ...others } = providerOptions ?? {};
  if (openai === undefined) return part;
  const { itemId: _, ...kept } = openai;
  const options = { ...others, ...(Object.keys(kept).length > 0 && { openai: kept }) };
  return { ...rest, ...(Object.keys(options).length > 0 && { providerOptions: options }) };
}

/** Tells whether a value is a kept message. Unknown parts are sent unchanged. */
function isMessage(raw: unknown): raw is ModelMessage {
  return typeof toRecord(raw)["role"] === "string";
}

function isResult(raw: unknown): raw is ModelToolResultPart {
  return readResult(raw) !== undefined;
}

/**
 * Adds to messages, as parts of model messages, what only their UI messages hold, such as files, provider-executed
 * tools, and state that blocks cannot hold.
 *
 * A UI message is kept with the first of its answers; each of its steps belongs to one answer and its results.
 */
function withModelParts(messages: readonly AgentMessage[]): AgentMessage[] {
  let steps: object[][] = [];
  let step: object[] = [];
  return messages.map((message) => {
    const { uiMessage, ...others } = toRecord(toRecord(message)["details"]);
    if (message.role === "toolResult") {
      const modelMessage = makeResultPart(message, step);
      return modelMessage === undefined ? message : withDetails(message, { ...others, modelMessage });
    }
    const { role } = message;
    if (role !== "user" && role !== "assistant") return message;
    const { parts } = toRecord(uiMessage);
    if (role === "user" || uiMessage !== undefined) steps = splitSteps(toArray(parts).map(toRecord));
    step = steps.shift() ?? [];
    if (uiMessage === undefined && !isForModel({ parts: step })) return message;
    const modelMessage = { role, content: step.flatMap(toModelParts).map(toStorablePart) };
    return withDetails(message, isForModel({ parts: step }) ? { ...others, modelMessage } : others);
  });
}

function withDetails(message: AgentMessage, details: object): AgentMessage {
  return Object.assign({}, message, { details });
}

/** Returns the part of a result if it says more than the content: a structured output, or state of its call. */
function makeResultPart(message: ToolResultMessage, step: readonly object[]): object | undefined {
  const toolCallId = getCallId(String(message.toolCallId));
  const kept = toRecord(findRaw(message, "uiMessage"));
  const call = step.map(toRecord).find((part) => part["toolCallId"] === toolCallId);
  const state = isForModel({ parts: step }) ? call?.["callProviderMetadata"] : undefined;
  if (!Array.isArray(message.content) || (state === undefined && !("output" in kept))) return undefined;
  return {
    ...writeResult(message, message.toolName, toolCallId),
    ...("output" in kept && { output: toJsonOutput(kept["output"]) }),
    ...(state !== undefined && { providerOptions: state }),
  };
}

/** Converts a part of a UI message like the SDK. */
function toModelParts(part: object): object[] {
  const { type, url, providerReference, state: _, providerMetadata, ...rest } = withoutFields(part);
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  switch (type) {
    case "text":
    case "reasoning":
    case "custom":
      return [{ type, ...rest, ...options }];
    case "file":
    case "reasoning-file":
      return [{ type, ...rest, data: toData(url, providerReference), ...options }];
    default:
      return isToolPart(part) ? toToolParts(part) : [];
  }
}

function toData(url: unknown, reference: unknown): object {
  return reference === undefined ? { type: "url", url } : { type: "reference", reference };
}

function toToolParts(part: object): object[] {
  const { toolCallId, input, rawInput, state, output, errorText, ...rest } = withoutFields(part);
  const { callProviderMetadata, resultProviderMetadata, providerExecuted } = rest;
  const tool = { toolCallId, toolName: getToolName(part) };
  const call = {
    type: "tool-call",
    ...tool,
    input: input ?? rawInput,
    ...(providerExecuted === true && { providerExecuted }),
    ...(callProviderMetadata !== undefined && { providerOptions: callProviderMetadata }),
  };
  const isDone = state === "output-available" || state === "output-error";
  if (providerExecuted !== true || !isDone) return [call];
  const providerOptions = resultProviderMetadata ?? callProviderMetadata;
  return [
    call,
    {
      type: "tool-result",
      ...tool,
      output: state === "output-error" ? { type: "error-json", value: errorText } : toJsonOutput(output),
      ...(providerOptions !== undefined && { providerOptions }),
    },
  ];
}

function toJsonOutput(output: unknown): object {
  return { type: typeof output === "string" ? "text" : "json", value: output ?? null };
}

/** The first and the last major that know something. */
type Span = readonly [AiSdkMajor, AiSdkMajor];
type Spans = ReadonlyMap<unknown, Span>;

/** Parts of messages that not every major knows. */
const PARTS: Spans = new Map([
  ["tool-approval-request", [6, 7]],
  ["custom", [7, 7]],
  ["reasoning-file", [7, 7]],
]);

/** Outputs of tools that not every major knows. */
const OUTPUTS: Spans = new Map([["execution-denied", [6, 7]]]);

/** Parts of outputs that not every major knows. */
const OUTPUT_PARTS: Spans = new Map([
  ["media", [5, 6]],
  ["image-data", [6, 7]],
  ["image-url", [6, 7]],
  ["image-file-id", [6, 7]],
  ["file-data", [6, 7]],
  ["file-url", [6, 7]],
  ["file-id", [6, 7]],
  ["custom", [6, 7]],
  ["file", [7, 7]],
  ["file-reference", [7, 7]],
  ["image-file-reference", [7, 7]],
]);

/** How each major writes a file in the output of a tool. */
const WRITE_FILE: {
  readonly [Major in AiSdkMajor]: (data: string, mediaType: string) => ModelToolOutputPart<Major>;
} = {
  5: (data, mediaType) => ({ type: "media", data, mediaType }),
  6: (data, mediaType) => {
    const type = mediaType.startsWith("image/") ? "image-data" : "file-data";
    return { type, data, mediaType };
  },
  7: (data, mediaType) => ({ type: "file", data: { type: "data", data }, mediaType }),
};

/** Writes messages as a major of the AI SDK takes them. */
class SdkDialect {
  readonly #major: AiSdkMajor;
  readonly #issues: ConversionIssues;

  /**
   * @param named - The major that the caller names. Default: the oldest that takes the latest file among the results of tools.
   * @throws {TypeError} If it is another one than 5, 6 or 7.
   */
  constructor(named: AiSdkMajor | undefined, messages: readonly AgentMessage[], issues: ConversionIssues) {
    if (named !== undefined && !Object.hasOwn(WRITE_FILE, String(named)))
      throw new TypeError(`The AI SDK's versions are 5, 6 and 7; ${String(named)} is none of them.`);
    this.#major = named ?? findMajor(messages) ?? 7;
    this.#issues = issues;
  }

  /** Returns the messages with parts that the major knows. */
  fit(messages: readonly ModelMessage[], index: number): ModelMessage<AiSdkMajor>[] {
    return messages.flatMap((message): ModelMessage<AiSdkMajor>[] => {
      if (typeof message.content === "string") return [message];
      if (message.role === "tool")
        return [{ ...message, content: message.content.map((part) => this.#fitResult(part, index)) }];
      if (message.role === "user")
        return [{ ...message, content: message.content.map((part) => this.#fitFile(part, index)) }];
      const known = message.content.filter(({ type }) => this.#knows(PARTS, type));
      if (known.length < message.content.length) this.#report("BLOCK_DROPPED", index, "Dropped");
      return known.length === 0
        ? []
        : [{ ...message, content: known.map((part) => this.#fitFile(part, index)) }];
    });
  }

  /** Before version 7, a file's data is a text. */
  #fitFile<Part extends object>(part: Part, index: number): Part | ModelTextPart {
    const { type, data } = toRecord(part);
    if (this.#major === 7 || type !== "file" || typeof data === "string") return part;
    const { url, data: inner = url } = toRecord(data);
    if (typeof inner === "string") return Object.assign({}, part, { data: inner });
    return this.#asText(readUser([part]), index);
  }

  #fitResult(part: ModelToolResultPart, index: number): ModelToolResultPart<AiSdkMajor> {
    const { output } = part;
    return { ...part, output: this.#fitOutput(part, output, index) };
  }

  #fitOutput(part: ModelToolResultPart, output: ModelToolOutput, index: number): ModelToolOutput<AiSdkMajor> {
    if (!this.#knows(OUTPUTS, output.type))
      return { type: "error-text", value: this.#asText(readResult(part)?.content, index).text };
    if (output.type !== "content") return output;
    return { ...output, value: output.value.map((one) => this.#fitOutputPart(one, index)) };
  }

  #fitOutputPart(part: ModelToolOutputPart, index: number): ModelToolOutputPart<AiSdkMajor> {
    if (this.#knows(OUTPUT_PARTS, part.type)) return part;
    const { data, mediaType } = toRecord(part);
    const base64 = toBase64(data);
    if (base64 !== undefined && typeof mediaType === "string")
      return WRITE_FILE[this.#major](base64, mediaType);
    const [block] = readOutput("content", [part]);
    if (block?.type === "image") return WRITE_FILE[this.#major](block.data, block.mimeType);
    return this.#asText([block], index);
  }

  #knows(spans: Spans, type: unknown): boolean {
    const [first, last] = spans.get(type) ?? [5, 7];
    return first <= this.#major && this.#major <= last;
  }

  #asText(content: unknown, index: number): ModelTextPart {
    this.#report("CONTENT_REPLACED", index, "Replaced by a text");
    const { text } = toRecord(toArray(content)[0]);
    return { type: "text", text: String(text ?? "") };
  }

  #report(code: "BLOCK_DROPPED" | "CONTENT_REPLACED", index: number, done: string): void {
    this.#issues.report(code, index, `${done} what version ${this.#major} of the AI SDK does not know.`);
  }
}

/** Returns the oldest major that takes the latest file in the output of a tool; undefined if there is none. */
function findMajor(messages: readonly AgentMessage[]): AiSdkMajor | undefined {
  const majors = messages.flatMap((message) => {
    if (message.role !== "toolResult") return [];
    const { type, value } = toRecord(toRecord(findRaw(message, "modelMessage"))["output"]);
    const kept = type === "content" ? toArray(value) : [];
    const [first] = kept.flatMap((part) => OUTPUT_PARTS.get(toRecord(part)["type"])?.[0] ?? []);
    // An original in the shape of version 7 is not kept, as that is what is written.
    return (
      first ??
      (toContentBlocks(message.content).some((block) => toRecord(block)["type"] === "image") ? 7 : [])
    );
  });
  return majors.at(-1);
}
