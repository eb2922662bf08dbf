import { textsOf } from "../../context/content-text.ts";
import { fieldsOf, listOf } from "../../context/entry-fields.ts";
import type { StopReason } from "../../schema/message.ts";
import { type ConvertedAnswer, usageOf } from "../answer.ts";
import { assertMessages } from "../assert-messages.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import { type ConvertedMessages, History, type HistoryDefaults, withDetails } from "../history.ts";
import {
  isBlocks,
  readAnswer,
  readResult,
  readUser,
  strippedBlock,
  withoutBlanks,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./anthropic-content.ts";
import type { AnthropicMessageLike, AnthropicRequestLike, AnthropicResponseLike } from "./anthropic-types.ts";

const DEFAULTS: HistoryDefaults = { form: "anthropic", api: "anthropic-messages", provider: "anthropic" };

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "error",
};

/**
 * Converts messages of Anthropic's Messages API to those of a session.
 *
 * Keeps what has no counterpart, such as a document, in `details`; `toAnthropic` brings it back. Cache marks belong to one
 * request and are not kept.
 *
 * @param request - Messages, or `{ system, messages }`.
 * @throws {TypeError} If a message has an unknown role, or there is no time.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#anthropic
 */
export function fromAnthropic(
  request: AnthropicRequestLike | readonly AnthropicMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, DEFAULTS);
  const { system, messages } = "messages" in request ? request : { system: undefined, messages: request };
  if (textsOf(system).join("") !== "") addSystem(history, system, -1);
  assertMessages(messages);
  messages.forEach((message, index) => {
    addMessage(history, message, index);
  });
  return history.done();
}

function addMessage(history: History, { role, content }: AnthropicMessageLike, index: number): void {
  switch (role) {
    case "system":
      addSystem(history, content, index);
      return;
    case "user":
      addUser(history, content, index);
      return;
    case "assistant":
      addAnswer(history, blocksOf(content), index);
      return;
    default:
      throw new TypeError(
        `Message ${index} has the role ${JSON.stringify(role)}; Anthropic's are user, assistant and system.`,
      );
  }
}

function addSystem(history: History, content: unknown, index: number): void {
  history.system(index, textsOf(content).join("\n"));
  const types = listOf(content).map((block) => fieldsOf(block)["type"]);
  history.dropFromSystem(
    index,
    types.filter((type) => type !== "text"),
  );
}

function addUser(history: History, content: AnthropicMessageLike["content"], index: number): void {
  if (typeof content === "string") {
    history.user(index, content);
    return;
  }
  const said: object[] = [];
  for (const block of blocksOf(content)) {
    const result = readResult(block);
    const stripped = strippedBlock(block);
    if (result === undefined) said.push(stripped);
    else
      history.result(
        index,
        result,
        history.keep(index, stripped, writeResult(result, result.toolCallId), "a result"),
      );
  }
  const blocks = readUser(said) ?? [];
  if (blocks.length === 0) return;
  history.user(index, blocks, history.keep(index, said, writeUser(blocks), "a user message"));
}

function addAnswer(history: History, blocks: readonly object[], index: number): void {
  const { content, details } = readStripped(history, blocks, index);
  history.answer(index, content, withDetails(details));
}

function readStripped(history: History, blocks: readonly object[], index: number) {
  const stripped = blocks.map(strippedBlock);
  const content = readAnswer(stripped) ?? [];
  const again = withoutBlanks(content.map((block) => writeAnswerBlock(block, (id) => id)));
  return { content, details: history.keep(index, withoutBlanks(stripped), again, "an answer") };
}

function blocksOf(content: unknown): readonly object[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (isBlocks(content)) return content;
  throw new TypeError("Content of Anthropic's messages is a text or a list of blocks with a type.");
}

/**
 * Makes the assistant message of a response: of `messages.create`, or of a stream's `finalMessage()`.
 *
 * @param options - `model` is what was asked for, if that is an alias; the response says who answered.
 * @throws {TypeError} If there is no time, or no content.
 * @remarks Source: docs/messages.md#anthropic
 */
export function fromAnthropicResponse(
  response: AnthropicResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const { id, model, stop_reason } = response;
  const history = new History({ ...options, model: options.model ?? model }, DEFAULTS);
  const { content, details } = readStripped(history, blocksOf(response.content), 0);
  const stopReason = stop_reason === null ? "pending" : (STOP_REASONS[stop_reason] ?? "stop");
  return history.response(content, {
    id,
    askedModel: options.model,
    model,
    usage: readUsage(response.usage),
    stopReason,
    rawStopReason: stop_reason ?? undefined,
    errorMessage: () => refusalOf(response),
    details,
  });
}

function refusalOf(response: object): string {
  const { explanation } = fieldsOf(fieldsOf(response)["stop_details"]);
  return typeof explanation === "string" ? explanation : "The model refused to answer.";
}

function readUsage(usage: object) {
  const counts = fieldsOf(usage);
  return usageOf({
    input: counts["input_tokens"],
    output: counts["output_tokens"],
    cacheRead: counts["cache_read_input_tokens"],
    cacheWrite: counts["cache_creation_input_tokens"],
    cacheWrite1h: fieldsOf(counts["cache_creation"])["ephemeral_1h_input_tokens"],
    reasoning: fieldsOf(counts["output_tokens_details"])["thinking_tokens"],
  });
}
