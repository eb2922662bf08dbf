import { fieldsOf } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { type AnswerFields, type StopReasons, usageOf } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import { assertMessages, type ConvertedMessages, History, unknownRole } from "../message-history.ts";
import { jsonCopy, STATE_DETAIL, withoutFields } from "../raw-form.ts";
import { callIdOf } from "../tool-ids.ts";
import type {
  ModelMessageLike,
  ModelMessagesRequestLike,
  ModelMessagesResponseLike,
  ModelStepLike,
} from "./model-message-types.ts";
import {
  plainPart,
  readAnswer,
  readResult,
  readUser,
  storablePart,
  writeAnswer,
  writeResult,
  writeUser,
} from "./model-parts.ts";
import { type Family, familyOfParts, identityOfFamily } from "./provider-state.ts";
import { applyChange, stateIn } from "./ui-state.ts";

/** Meanings of the finish reasons that the SDK makes of those of providers. */
export const STOP_REASONS: StopReasons = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "toolUse"],
  ["content-filter", "error"],
  ["error", "error"],
  ["interrupted", "aborted"],
]);

/** APIs by the names of the SDK's providers. */
const PROVIDER_APIS: ReadonlyMap<string, string> = new Map([
  ["anthropic.messages", "anthropic-messages"],
  ["openai.responses", "openai-responses"],
  ["openai.chat", "openai-completions"],
  ["azure.responses", "azure-openai-responses"],
  ["google.generative-ai", "google-generative-ai"],
]);

/**
 * Converts model messages of the AI SDK to messages of a session.
 *
 * Recognizes the provider by the state that its messages carry. Keeps what has no counterpart, such as structured output of
 * tools, in `details`. A result of `generateText` may stand for its messages: then its answers have their model and usage.
 *
 * @param request - Messages, or `{ instructions, messages }`, or `{ system, messages }` as before version 7.
 * @throws {TypeError} If a message has an unknown role, or there is no time.
 * @remarks Cost: O(messages and parts). Source: docs/messages.md#ai-sdk
 */
export function fromModelMessages(
  request: ModelMessagesRequestLike | readonly (ModelMessageLike | ModelMessagesResponseLike)[],
  options: MessageImportOptions,
): ConvertedMessages {
  const { system, instructions = system, messages } = "messages" in request ? request : { messages: request };
  const reader = new ModelMessageReader(options);
  if (instructions !== undefined && instructions !== "") reader.history.system(-1, instructions);
  assertMessages(messages);
  messages.forEach((message, index) => {
    if (isResult(message)) reader.readResult(message, () => index);
    else reader.read(message, index);
  });
  return reader.history.done();
}

function isResult(message: object): message is ModelMessagesResponseLike {
  return Array.isArray(fieldsOf(message)["steps"]);
}

class ModelMessageReader {
  readonly history: History;
  readonly #options: MessageImportOptions;
  /** Provider of the answers since the last user message. */
  #family: Family | undefined;
  /** Answers that ask for an approval, and the requests, by the ids of these. */
  readonly #asking = new Map<unknown, { readonly answer: AssistantMessage; readonly request: JsonRecord }>();

  /** @throws {TypeError} If the options have no time. */
  constructor(options: MessageImportOptions) {
    this.#options = options;
    this.history = new History(options, {
      name: "modelMessage",
      api: "ai-sdk",
      provider: UNKNOWN_NAME,
      writeUser: (content) => ({ role: "user", content: writeUser(content) }),
      writeAnswer: (content) => ({
        role: "assistant",
        content: writeAnswer(content, this.#family, callIdOf),
      }),
      writeResult: (result, toolName) => writeResult(result, toolName, result.toolCallId),
      readUsage,
      plain: (said) => ("role" in said ? plainMessage(said) : plainPart(said)),
    });
  }

  /** Adds a message; an answer with facts that are not in its content. */
  read(message: ModelMessageLike, index: number, facts: Partial<AnswerFields> = {}): void {
    const { role, content } = message;
    switch (role) {
      case "system":
        this.history.system(index, typeof content === "string" ? content : "");
        this.history.dropFields(
          index,
          withoutFields(storablePart(message), ["role", "content"]),
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
        for (const part of partsOf(message)) this.#addResult(part, index);
        return;
      default:
        throw unknownRole(index, role, ", which the AI SDK does not know");
    }
  }

  /** Adds the messages of a result, each under the index that its position in the result has. */
  readResult(result: ModelMessagesResponseLike, indexOf: (at: number) => number): void {
    const { steps, response, responseMessages = response?.messages } = result;
    if (responseMessages === undefined)
      throw new TypeError(
        "The result has no messages: pass { steps, responseMessages } of version 7 of the AI SDK, or { steps, response } of versions 5 and 6.",
      );
    const answers = responseMessages.filter(({ role }) => role === "assistant");
    responseMessages.forEach((message, at) => {
      // Empty steps leave no message, so match the last answers with the last steps.
      const step =
        message.role === "assistant" ? steps.at(answers.indexOf(message) - answers.length) : undefined;
      this.read(message, indexOf(at), step === undefined ? {} : factsOf(step, this.#options));
    });
  }

  #addUser(message: ModelMessageLike, index: number): void {
    this.#family = undefined;
    const original = storableMessage(message);
    this.history.user(index, readUser(original["content"]) ?? [], original);
  }

  #addAnswer(message: ModelMessageLike, index: number, facts: Partial<AnswerFields>): void {
    const requests = partsOf(message).map(fieldsOf).filter(isRequest);
    const original = storableMessage(message, (part) => !isRequest(part));
    // One model gives all answers until the next user message, and not all of them have state.
    this.#family = familyOfParts(partsOf(message)) ?? this.#family;
    const answer = this.history.answer(index, readAnswer(original["content"]), {
      original,
      ...identityOfFamily(this.#family, this.#options),
      ...facts,
    });
    for (const request of requests) {
      const { approvalId, toolCallId, type: _, reason: requestReason, ...others } = request;
      this.#asking.set(approvalId, { answer, request });
      const call = partsOf(message)
        .map(fieldsOf)
        .find((part) => part["toolCallId"] === toolCallId);
      const { providerExecuted } = fieldsOf(call);
      setCall(answer, toolCallId, {
        approval: withoutFields({ id: approvalId, requestReason, ...others }),
        ...(providerExecuted === true && { providerExecuted }),
      });
    }
  }

  /** Adds the user's answer to a request for approval. */
  #addResponse({ approvalId, approved, reason }: JsonRecord): boolean {
    const asked = this.#asking.get(approvalId);
    if (asked === undefined) return false;
    const { toolCallId } = asked.request;
    const before = fieldsOf(stateIn(asked.answer.details)["calls"]);
    const { approval, ...others } = applyChange({}, before[String(toolCallId)]);
    const answered = withoutFields({ ...fieldsOf(approval), approved, reason });
    setCall(asked.answer, toolCallId, { ...others, approval: answered });
    return true;
  }

  #addResult(part: object, index: number): void {
    const original = storablePart(part);
    const result = readResult(original);
    const { type, toolName } = fieldsOf(part);
    if (result !== undefined)
      this.history.result(index, result, { original, ...(typeof toolName === "string" && { toolName }) });
    else if (type !== "tool-approval-response" || !this.#addResponse(original))
      this.history.report(
        "BLOCK_DROPPED",
        index,
        `Dropped a part of type ${String(type)}, which only has a meaning during one run.`,
      );
  }
}

function isRequest(part: object): boolean {
  return fieldsOf(part)["type"] === "tool-approval-request";
}

/** Keeps with an answer what is known of a call besides its result. */
function setCall(answer: AssistantMessage, toolCallId: unknown, set: object): void {
  const { calls, ...others } = stateIn(answer.details);
  const state = { ...others, calls: { ...fieldsOf(calls), [String(toolCallId)]: { set } } };
  answer.details = jsonCopy({ ...fieldsOf(answer.details), [STATE_DETAIL]: state });
}

function partsOf(message: ModelMessageLike): readonly object[] {
  return Array.isArray(message.content) ? message.content : [];
}

/** Copies a message for storage, with the parts that are kept. */
function storableMessage(
  message: ModelMessageLike,
  isKept: (part: object) => boolean = () => true,
): { [name: string]: unknown } {
  const { content } = message;
  const stored = storablePart(message);
  if (typeof content === "string") return stored;
  return { ...stored, content: partsOf(message).filter(isKept).map(storablePart) };
}

function plainMessage(message: object): object {
  const { role, content, ...rest } = fieldsOf(message);
  const isAnswer = role === "assistant" && typeof content === "string";
  const parts = isAnswer ? (content === "" ? [] : [{ type: "text", text: content }]) : content;
  return {
    role,
    ...rest,
    content: Array.isArray(parts) ? parts.map((part) => plainPart(fieldsOf(part))) : parts,
  };
}

/**
 * Makes the messages of a `generateText` result: each answer with the usage of its step, then the results of its tools.
 *
 * @param result - What `generateText` returned; of `streamText`, `{ steps, responseMessages }`, both awaited.
 * @param options - `model` is what was asked for, if that is an alias; the response says who answered.
 * @throws {TypeError} If there is no time, or the result has no messages.
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

function factsOf(step: ModelStepLike, options: MessageImportOptions): Partial<AnswerFields> {
  const { finishReason, usage, response } = step;
  const { provider: name, modelId = response.modelId } = fieldsOf(fieldsOf(step)["model"]);
  const { rawFinishReason = finishReason } = fieldsOf(step);
  const model = options.model ?? String(modelId);
  const stopReason = STOP_REASONS.get(finishReason) ?? "stop";
  return {
    ...(typeof name === "string" && identityOf(name, options)),
    model,
    ...(response.modelId !== model && { responseModel: response.modelId }),
    responseId: response.id,
    usage: readUsage(usage),
    stopReason,
    rawStopReason: String(rawFinishReason),
    ...(stopReason === "error" && { errorMessage: `The model call ended with ${finishReason}.` }),
  };
}

function identityOf(name: string, { api, provider }: MessageImportOptions): Partial<AnswerFields> {
  const known = api ?? PROVIDER_APIS.get(name);
  return { provider: provider ?? name.split(".")[0] ?? name, ...(known !== undefined && { api: known }) };
}

/** Reads usage as the AI SDK counts it; version 5 has no details. */
export function readUsage(usage: object): Usage {
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens, reasoningTokens, ...details } =
    fieldsOf(usage);
  const {
    noCacheTokens,
    cacheReadTokens = cachedInputTokens,
    cacheWriteTokens,
  } = fieldsOf(details["inputTokenDetails"]);
  return usageOf({
    input: noCacheTokens,
    inputWithCache: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: fieldsOf(details["outputTokenDetails"])["reasoningTokens"] ?? reasoningTokens,
    total: totalTokens,
  });
}
