import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { describeValue } from "../../../core/format/describe-value.ts";
import { isSystemMessage } from "../../../core/format/foreign-form.ts";
import { type JsonRecord, toSafeString } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { type AnswerFields, type StopReasons, toUsage } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import {
  assertMessages,
  assertRequest,
  assertResponse,
  type ConvertedMessages,
  History,
  isList,
  makeUnknownRoleError,
} from "../message-history.ts";
import { copyAsJson, STATE_DETAIL, withoutFields } from "../raw-form.ts";
import { getCallId } from "../tool-ids.ts";
import type {
  ModelMessageLike,
  ModelMessagesRequestLike,
  ModelMessagesResponseLike,
  ModelSystemMessageLike,
} from "./model-message-types.ts";
import {
  normalizePart,
  readAnswer,
  readResult,
  readUser,
  toStorablePart,
  writeAnswer,
  writeResult,
  writeUser,
} from "./model-parts.ts";
import { type Family, findFamilyOfParts, getFamilyIdentity } from "./provider-state.ts";
import { applyChange, readUIState } from "./ui-state.ts";

/** Session stop reasons, keyed by the SDK's finish reasons, which the SDK derives from the providers' reasons. */
export const STOP_REASONS: StopReasons = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "toolUse"],
  ["content-filter", "error"],
  ["error", "error"],
  ["interrupted", "aborted"],
]);

/** APIs by SDK provider name. */
const PROVIDER_APIS: ReadonlyMap<string, string> = new Map([
  ["anthropic.messages", "anthropic-messages"],
  ["openai.responses", "openai-responses"],
  ["openai.chat", "openai-completions"],
  ["azure.responses", "azure-openai-responses"],
  ["google.generative-ai", "google-generative-ai"],
]);

/**
 * Converts AI SDK model messages to session messages.
 *
 * Recognizes the provider by the state in its messages. Stores data that has no counterpart, such as structured tool
 * output, in `details`. A `generateText` result can be passed instead of its messages; its answers then include the
 * model and usage.
 *
 * @param request - Messages, `{ instructions, messages }`, or, before version 7, `{ system, messages }`. The
 *   instructions are a string, a system message, or an array of system messages.
 * @throws {TypeError} If a message has an unknown role, or the time is missing.
 * @remarks Cost: O(messages and parts). Source: docs/messages.md#ai-sdk
 */
export function fromModelMessages(
  request: ModelMessagesRequestLike | readonly (ModelMessageLike | ModelMessagesResponseLike)[],
  options: MessageImportOptions,
): ConvertedMessages {
  assertRequest(request);
  const { system, instructions = system, messages } = isList(request) ? { messages: request } : request;
  const reader = new ModelMessageReader(options);
  for (const message of listInstructions(instructions, instructions === system ? "system" : "instructions"))
    reader.read(message, -1);
  assertMessages(messages, "Message", "messages");
  messages.forEach((message, index) => {
    if (isResult(message)) reader.readResult(message, () => index);
    else reader.read(message, index);
  });
  return reader.history.done();
}

/** Returns the instructions of a request as system messages. */
function listInstructions(instructions: unknown, field: string): readonly ModelSystemMessageLike[] {
  if (instructions == null || instructions === "") return [];
  if (typeof instructions === "string") return [{ role: "system", content: instructions }];
  const all: readonly unknown[] = Array.isArray(instructions) ? instructions : [instructions];
  const wrong = all.findIndex((one) => !isSystemMessage(one));
  if (wrong === -1) return all.filter(isSystemMessage);
  const name = Array.isArray(instructions) ? `${field}[${wrong}]` : field;
  throw new TypeError(
    `\`${name}\` is ${describeValue(all[wrong])}, not a system message. Pass the text, or system messages with text.`,
  );
}

function isResult(message: object): message is ModelMessagesResponseLike {
  return Array.isArray(toRecord(message)["steps"]);
}

class ModelMessageReader {
  readonly history: History;
  readonly #options: MessageImportOptions;
  /** Provider of the answers since the last user message. */
  #family: Family | undefined;
  /** Approval requests by id, each with the answer that contains it. */
  readonly #asking = new Map<unknown, { readonly answer: AssistantMessage; readonly request: JsonRecord }>();

  /** @throws {TypeError} If the options do not specify a time. */
  constructor(options: MessageImportOptions) {
    this.#options = options;
    this.history = new History(options, {
      name: "modelMessage",
      api: "ai-sdk",
      provider: UNKNOWN_NAME,
      writeUser: (content) => ({ role: "user", content: writeUser(content) }),
      writeAnswer: (content) => ({
        role: "assistant",
        content: writeAnswer(content, this.#family, getCallId),
      }),
      writeResult: (result, toolName) => writeResult(result, toolName, result.toolCallId),
      readUsage,
      plain: (said) => ("role" in said ? normalizeMessage(said) : normalizePart(said)),
    });
  }

  /** Adds a message and, for an answer, facts that are not in its content. */
  read(message: ModelMessageLike, index: number, facts: Partial<AnswerFields> = {}): void {
    const { role, content } = message;
    switch (role) {
      case "system":
        this.history.system(index, typeof content === "string" ? content : "");
        this.history.dropFields(
          index,
          withoutFields(toStorablePart(message), ["role", "content"]),
          "a system message",
        );
        return;
      case "user":
        this.#addUser(message, index);
        return;
      case "assistant":
        this.#addAnswer(message, index, facts);
        return;
      case "tool":
        for (const part of getParts(message)) this.#addResult(part, index);
        return;
      default:
        throw makeUnknownRoleError(index, role, ", which the AI SDK does not support");
    }
  }

  /** Adds the messages of a result. `getIndex` returns the index for each position in the result. */
  readResult(result: ModelMessagesResponseLike, getIndex: (at: number) => number): void {
    assertResponse(result);
    const { steps, response, responseMessages = response?.messages } = result;
    if (responseMessages === undefined)
      throw new TypeError(
        "The result has no messages: pass { steps, responseMessages } from AI SDK 7, or { steps, response } from AI SDK 5 or 6.",
      );
    assertMessages(responseMessages, "Message", "responseMessages");
    const answers = responseMessages.filter(({ role }) => role === "assistant");
    responseMessages.forEach((message, at) => {
      // Empty steps produce no messages, so match the last answers with the last steps.
      const step =
        message.role === "assistant"
          ? toArray(steps).at(answers.indexOf(message) - answers.length)
          : undefined;
      this.read(message, getIndex(at), step === undefined ? {} : getStepFacts(step, this.#options));
    });
  }

  #addUser(message: ModelMessageLike, index: number): void {
    this.#family = undefined;
    const original = toStorableMessage(message);
    this.history.user(index, readUser(original["content"]) ?? [], original);
  }

  #addAnswer(message: ModelMessageLike, index: number, facts: Partial<AnswerFields>): void {
    const requests = getParts(message).map(toRecord).filter(isRequest);
    const original = toStorableMessage(message, (part) => !isRequest(part));
    // One model writes all answers until the next user message, but not all of them have state.
    this.#family = findFamilyOfParts(getParts(message)) ?? this.#family;
    const answer = this.history.answer(index, readAnswer(original["content"]), {
      original,
      ...getFamilyIdentity(this.#family, this.#options),
      ...facts,
    });
    for (const request of requests) {
      const { approvalId, toolCallId, type: _, reason: requestReason, ...others } = request;
      this.#asking.set(approvalId, { answer, request });
      const call = getParts(message)
        .map(toRecord)
        .find((part) => part["toolCallId"] === toolCallId);
      const { providerExecuted } = toRecord(call);
      setCall(answer, toolCallId, {
        approval: withoutFields({ id: approvalId, requestReason, ...others }),
        ...(providerExecuted === true && { providerExecuted }),
      });
    }
  }

  /** Adds the user's response to an approval request. Returns false if the request is unknown. */
  #addResponse({ approvalId, approved, reason }: JsonRecord): boolean {
    const asked = this.#asking.get(approvalId);
    if (asked === undefined) return false;
    const { toolCallId } = asked.request;
    const before = toRecord(readUIState(asked.answer.details)["calls"]);
    const { approval, ...others } = applyChange({}, before[toSafeString(toolCallId)]);
    const answered = withoutFields({ ...toRecord(approval), approved, reason });
    setCall(asked.answer, toolCallId, { ...others, approval: answered });
    return true;
  }

  #addResult(part: object, index: number): void {
    const original = toStorablePart(part);
    const result = readResult(original);
    const { type, toolName } = toRecord(part);
    if (result !== undefined)
      this.history.result(index, result, { original, ...(typeof toolName === "string" && { toolName }) });
    else if (type !== "tool-approval-response" || !this.#addResponse(original))
      this.history.report(
        "BLOCK_DROPPED",
        index,
        `Dropped a part of type ${toSafeString(type)}, which is meaningful only during one run.`,
      );
  }
}

function isRequest(part: object): boolean {
  return toRecord(part)["type"] === "tool-approval-request";
}

/** Stores facts about a call, except its result, with the answer. */
function setCall(answer: AssistantMessage, toolCallId: unknown, set: object): void {
  const { calls, ...others } = readUIState(answer.details);
  const state = { ...others, calls: { ...toRecord(calls), [toSafeString(toolCallId)]: { set } } };
  answer.details = copyAsJson({ ...toRecord(answer.details), [STATE_DETAIL]: state });
}

function getParts(message: ModelMessageLike): readonly object[] {
  return Array.isArray(message.content) ? message.content : [];
}

/** Copies a message for storage, keeping only the parts for which `isKept` returns true. */
function toStorableMessage(
  message: ModelMessageLike,
  isKept: (part: object) => boolean = () => true,
): { [name: string]: unknown } {
  const { content } = message;
  const stored = toStorablePart(message);
  if (typeof content === "string") return stored;
  return { ...stored, content: getParts(message).filter(isKept).map(toStorablePart) };
}

function normalizeMessage(message: object): object {
  const { role, content, ...rest } = toRecord(message);
  const isAnswer = role === "assistant" && typeof content === "string";
  const parts = isAnswer ? (content === "" ? [] : [{ type: "text", text: content }]) : content;
  return {
    role,
    ...rest,
    content: Array.isArray(parts) ? parts.map((part) => normalizePart(toRecord(part))) : parts,
  };
}

/**
 * Converts the messages in a `generateText` result: each answer with the usage of its step, followed by its tool
 * results.
 *
 * @param result - Result of `generateText`; for `streamText`, `{ steps, responseMessages }`, both awaited.
 * @param options - `model`: the requested model, if it is an alias. The response identifies the responding model.
 * @throws {TypeError} If the argument is not a result, the result has no messages, or the time is missing.
 * @remarks Source: docs/messages.md#ai-sdk
 */
export function fromModelMessagesResponse(
  result: ModelMessagesResponseLike,
  options: MessageImportOptions,
): ConvertedMessages {
  const reader = new ModelMessageReader(options);
  reader.readResult(result, (at) => at);
  return reader.history.done();
}

function getStepFacts(step: unknown, options: MessageImportOptions): Partial<AnswerFields> {
  const { finishReason, rawFinishReason = finishReason, usage, response, model: asked } = toRecord(step);
  const { id, modelId: answering } = toRecord(response);
  const { provider: name, modelId = answering } = toRecord(asked);
  const model = options.model ?? (typeof modelId === "string" ? modelId : UNKNOWN_NAME);
  const stopReason = STOP_REASONS.get(finishReason) ?? "stop";
  return {
    ...(typeof name === "string" && getModelIdentity(name, options)),
    model,
    ...(typeof answering === "string" && answering !== model && { responseModel: answering }),
    ...(typeof id === "string" && { responseId: id }),
    usage: readUsage(usage),
    stopReason,
    ...(typeof rawFinishReason === "string" && { rawStopReason: rawFinishReason }),
    ...(stopReason === "error" && {
      errorMessage: `The model call ended with ${toSafeString(finishReason)}.`,
    }),
  };
}

function getModelIdentity(name: string, { api, provider }: MessageImportOptions): Partial<AnswerFields> {
  const known = api ?? PROVIDER_APIS.get(name);
  return { provider: provider ?? name.split(".")[0] ?? name, ...(known !== undefined && { api: known }) };
}

/** Reads usage as counted by the AI SDK. Version 5 provides no details. */
export function readUsage(usage: unknown): Usage {
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens, ...details } =
    toRecord(usage);
  const {
    noCacheTokens,
    cacheReadTokens = cachedInputTokens,
    cacheWriteTokens,
  } = toRecord(details["inputTokenDetails"]);
  return toUsage({
    input: noCacheTokens,
    inputWithCache: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: toRecord(details["outputTokenDetails"])["reasoningTokens"] ?? reasoningTokens,
    total: totalTokens,
  });
}
