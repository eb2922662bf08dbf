import { fieldsOf } from "../../context/entry-fields.ts";
import type { StopReason } from "../../schema/message.ts";
import type { ConvertedAnswer } from "../answer.ts";
import { assertMessages } from "../assert-messages.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import type { ReadResult } from "../dialect.ts";
import { type ConvertedMessages, History, type HistoryDefaults, withDetails } from "../history.ts";
import { readOpenAIUsage } from "../openai-usage.ts";
import { reportRounded } from "../tool-arguments.ts";
import { callIdOf } from "../tool-ids.ts";
import { isHostOutput } from "./item-ids.ts";
import type {
  OpenAIResponsesItemLike,
  OpenAIResponsesRequestLike,
  OpenAIResponsesResponseLike,
} from "./openai-responses-types.ts";
import { plainItem, readAnswer, readResult, readSystem, readUser } from "./read-items.ts";
import { writeAnswer, writeResult, writeUser } from "./write-items.ts";

const DEFAULTS: HistoryDefaults = { form: "openaiResponses", api: "openai-responses", provider: "openai" };

const INCOMPLETE: Readonly<Record<string, StopReason>> = {
  max_output_tokens: "length",
  max_messages: "length",
  content_filter: "error",
  steered: "aborted",
};

const STATUSES: Readonly<Record<string, StopReason>> = {
  failed: "error",
  cancelled: "aborted",
  in_progress: "pending",
  queued: "deferred",
};

/**
 * Converts items of OpenAI's Responses API to messages of a session.
 *
 * Consecutive items of the model become one answer. Reasoning is kept whole. Items without a counterpart, such as a web
 * search, are kept in the `details` of their answer; what a computer, shell or patch tool returned becomes a user message.
 *
 * @param request - Items, or `{ instructions, input }`.
 * @throws {TypeError} If an item is a message with an unknown role, or there is no time.
 * @remarks Cost: O(items and parts). Source: docs/messages.md#openai-responses
 */
export function fromOpenAIResponses(
  request: OpenAIResponsesRequestLike | readonly OpenAIResponsesItemLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, DEFAULTS);
  const { instructions, input } = isItems(request) ? { instructions: undefined, input: request } : request;
  if (typeof instructions === "string" && instructions !== "") history.system(-1, instructions);
  if (typeof input === "string") history.user(0, input);
  else new ItemReader(history).read(input ?? []);
  return history.done();
}

function isItems(
  request: OpenAIResponsesRequestLike | readonly OpenAIResponsesItemLike[],
): request is readonly OpenAIResponsesItemLike[] {
  return Array.isArray(request);
}

/** Reads items in order, and groups those of one answer. */
class ItemReader {
  readonly #history: History;
  #group: { readonly index: number; readonly items: object[] } | undefined;

  constructor(history: History) {
    this.#history = history;
  }

  read(items: readonly object[]): void {
    assertMessages(items, "Item");
    items.forEach((item, index) => {
      const { role } = fieldsOf(item);
      const result = readResult(item);
      if (result === undefined && (role === undefined || role === "assistant") && !isHostOutput(item)) {
        this.#group ??= { index, items: [] };
        this.#group.items.push(item);
        return;
      }
      this.#endAnswer();
      if (result !== undefined) this.#addResult(item, result, index);
      else this.#addMessage(item, index);
    });
    this.#endAnswer();
  }

  #endAnswer(): void {
    if (this.#group === undefined) return;
    const { index, items } = this.#group;
    this.#group = undefined;
    const { content, details } = readOutput(this.#history, items, index);
    this.#history.answer(index, content, withDetails(details));
  }

  #addResult(item: object, result: ReadResult, index: number): void {
    const type =
      fieldsOf(item)["type"] === "custom_tool_call_output"
        ? "custom_tool_call_output"
        : "function_call_output";
    const again = writeResult(result, type, result.toolCallId);
    const details = this.#history.keep(index, item, again, "a result", plainItem);
    this.#history.result(index, result, details);
  }

  #addMessage(item: object, index: number): void {
    const { role } = fieldsOf(item);
    const user = readUser(item);
    const rule = readSystem(item);
    if (user !== undefined) {
      const details = this.#history.keep(index, item, writeUser(user), "a user message", plainItem);
      this.#history.user(index, user, details);
    } else if (rule !== undefined) {
      const again = { role, content: rule };
      const details = this.#history.keep(
        index,
        withOneText(item, rule),
        again,
        "a system message",
        plainItem,
      );
      this.#history.system(index, rule, details);
    } else {
      throw new TypeError(`Item ${index} has the role ${JSON.stringify(role)}, which OpenAI does not know.`);
    }
  }
}

/** Returns instructions with their texts as one, if they hold only texts: a session tells them no better apart. */
function withOneText(item: object, text: string): object {
  const { content } = fieldsOf(item);
  const isText = (part: unknown) => fieldsOf(part)["type"] === "input_text";
  return Array.isArray(content) && content.every(isText) ? { ...item, content: text } : item;
}

function readOutput(history: History, items: readonly object[], index: number) {
  const content = readAnswer(items) ?? [];
  reportRounded(
    history,
    index,
    items.map((item) => fieldsOf(item)["arguments"]),
  );
  const again = writeAnswer(content, { hasItemIds: true, isOwn: true, idOf: callIdOf });
  const plain = (list: object) => Object.values(list).map(plainItem);
  return { content, details: history.keep(index, items, again, "an answer", plain) };
}

/**
 * Makes the assistant message of a response: of `responses.create`, or of the event that completes a stream.
 *
 * @param options - `model` is what was asked for, if that is an alias; the response says who answered.
 * @throws {TypeError} If there is no time.
 * @remarks Source: docs/messages.md#openai-responses
 */
export function fromOpenAIResponsesResponse(
  response: OpenAIResponsesResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const { id, model, output, usage } = response;
  const history = new History({ ...options, model: options.model ?? model }, DEFAULTS);
  const { content, details } = readOutput(history, output, 0);
  const reason = reasonOf(response);
  const isCalling = content.some(({ type }) => type === "toolCall");
  const stopReason = STATUSES[reason] ?? INCOMPLETE[reason] ?? (isCalling ? "toolUse" : "stop");
  return history.response(content, {
    id,
    askedModel: options.model,
    model,
    usage: readOpenAIUsage(usage, { input: "input", output: "output" }),
    stopReason,
    rawStopReason: reason,
    errorMessage: () => errorOf(response),
    details,
  });
}

/** Returns the provider's stop reason. */
function reasonOf(response: object): string {
  const { status, incomplete_details } = fieldsOf(response);
  const { reason } = fieldsOf(incomplete_details);
  if (typeof reason === "string") return reason;
  return typeof status === "string" ? status : "completed";
}

function errorOf(response: object): string {
  const { message } = fieldsOf(fieldsOf(response)["error"]);
  return typeof message === "string" ? message : "The provider withheld the answer.";
}
