import { toRecord } from "../../../core/context/entry-fields.ts";
import type { AssistantMessage } from "../../../core/format/message.ts";
import { type ConvertedAnswer, chooseStopReason, readOpenAIUsage, type StopReasons } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import type { AnswerBlock } from "../dialect.ts";
import {
  assertMessages,
  assertRequest,
  assertResponse,
  type ConvertedMessages,
  getOnlyAnswer,
  History,
  isList,
  makeUnknownRoleError,
  type SdkForm,
} from "../message-history.ts";
import { reportRounded } from "../tool-arguments.ts";
import { getCallId } from "../tool-ids.ts";
import {
  isHostOutput,
  normalizeItem,
  type OpenAIResponsesItemLike,
  type OpenAIResponsesRequestLike,
  type OpenAIResponsesResponseLike,
  readAnswer,
  readResult,
  readSystem,
  readUser,
  writeAnswer,
  writeResult,
  writeUser,
} from "./openai-responses-content.ts";

const FORM: SdkForm = {
  name: "openaiResponses",
  api: "openai-responses",
  provider: "openai",
  writeUser,
  writeAnswer: (content) => writeAnswer(content, { hasItemIds: true, isOwn: true, getId: getCallId }),
  writeResult: (result, _, original) => {
    const isCustom = toRecord(original)["type"] === "custom_tool_call_output";
    return writeResult(
      result,
      isCustom ? "custom_tool_call_output" : "function_call_output",
      result.toolCallId,
    );
  },
  readUsage: (usage) => readOpenAIUsage(usage, { input: "input", output: "output" }),
  plain: normalizeItem,
};

/** Stop reasons, keyed by incomplete reason or status. */
const STOP_REASONS: StopReasons = new Map([
  ["max_output_tokens", "length"],
  ["max_messages", "length"],
  ["content_filter", "error"],
  ["steered", "aborted"],
  ["failed", "error"],
  ["cancelled", "aborted"],
  ["in_progress", "pending"],
  ["queued", "deferred"],
]);

/**
 * Converts items from OpenAI's Responses API to session messages.
 *
 * Consecutive items from the model are combined into one answer. Reasoning is kept unchanged. Items without a counterpart, such
 * as a web search, are stored in the `details` of their answer; output of a computer, shell, or patch tool is converted to a user
 * message. A whole response can be passed instead of its items; the answer then includes the model and usage.
 *
 * @param request - Items, or `{ instructions, input }`.
 * @throws {TypeError} If an item is a message with an unknown role, or the time is missing.
 * @remarks Cost: O(items and parts). Source: docs/messages.md#openai-responses
 */
export function fromOpenAIResponses(
  request: OpenAIResponsesRequestLike | readonly OpenAIResponsesItemLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  assertRequest(request, "input");
  const { instructions, input } = isList(request) ? { instructions: undefined, input: request } : request;
  if (typeof instructions === "string" && instructions !== "") history.system(-1, instructions);
  if (typeof input === "string") history.user(0, input);
  else new ItemReader(history).read(input ?? []);
  return history.done();
}

/** Reads items in order and groups the items of each answer. */
class ItemReader {
  readonly #history: History;
  #group: { readonly index: number; readonly items: object[] } | undefined;

  constructor(history: History) {
    this.#history = history;
  }

  read(items: readonly object[]): void {
    assertMessages(items, "Item", "input");
    items.forEach((item, index) => {
      if (isResponse(item)) {
        this.#endAnswer();
        addResponse(this.#history, item, index);
        return;
      }
      const { role } = toRecord(item);
      const result = readResult(item);
      if (result === undefined && (role === undefined || role === "assistant") && !isHostOutput(item)) {
        this.#group ??= { index, items: [] };
        this.#group.items.push(item);
        return;
      }
      this.#endAnswer();
      if (result !== undefined) this.#history.result(index, result, { original: item });
      else this.#addMessage(item, index);
    });
    this.#endAnswer();
  }

  #endAnswer(): void {
    if (this.#group === undefined) return;
    const { index, items } = this.#group;
    this.#group = undefined;
    this.#history.answer(index, readReported(this.#history, index, items), { original: items });
  }

  #addMessage(item: object, index: number): void {
    const user = readUser(item);
    const rule = readSystem(item);
    if (user !== undefined) this.#history.user(index, user, item);
    else if (rule !== undefined) this.#history.system(index, rule, withOneText(item, rule));
    else throw makeUnknownRoleError(index, toRecord(item)["role"], ", which OpenAI does not support", "Item");
  }
}

function isResponse(item: object): item is OpenAIResponsesResponseLike {
  const { object, output } = toRecord(item);
  return object === "response" && Array.isArray(output);
}

/**
 * Returns instructions with their text parts joined if they contain only text, because a session does not store the parts
 * separately.
 */
function withOneText(item: object, text: string): object {
  const { content } = toRecord(item);
  const isText = (part: unknown) => toRecord(part)["type"] === "input_text";
  return Array.isArray(content) && content.every(isText) ? { ...item, content: text } : item;
}

/** Reads the items of an answer and reports rounded arguments. */
function readReported(history: History, index: number, items: readonly object[]): AnswerBlock[] {
  const args = items.map((item) => toRecord(item)["arguments"]);
  reportRounded(history, index, args);
  return readAnswer(items) ?? [];
}

/**
 * Creates an assistant message from a response returned by `responses.create` or from the event that completes a stream.
 *
 * @param options - `model`: the requested model, if it is an alias. The response identifies the responding model.
 * @throws {TypeError} If the argument is not a response, or the time is missing.
 * @remarks Source: docs/messages.md#openai-responses
 */
export function fromOpenAIResponsesResponse(
  response: OpenAIResponsesResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const history = new History(options, FORM);
  return getOnlyAnswer(history, addResponse(history, response, 0));
}

function addResponse(
  history: History,
  response: OpenAIResponsesResponseLike,
  index: number,
): AssistantMessage {
  assertResponse(response);
  const { id, model, output, usage } = response;
  assertMessages(output, "Item", "output");
  const reason = getStopReason(response);
  const content = readReported(history, index, output);
  return history.response(index, content, output, {
    id,
    model,
    usage,
    stopReason: chooseStopReason(STOP_REASONS.get(reason) ?? "stop", content),
    rawStopReason: reason,
    errorMessage: () => describeError(response),
  });
}

/** Returns the provider's stop reason. */
function getStopReason(response: object): string {
  const { status, incomplete_details } = toRecord(response);
  const { reason } = toRecord(incomplete_details);
  if (typeof reason === "string") return reason;
  return typeof status === "string" ? status : "completed";
}

function describeError(response: object): string {
  const { message } = toRecord(toRecord(response)["error"]);
  return typeof message === "string" ? message : "The provider withheld the answer.";
}
