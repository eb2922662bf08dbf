import { getTexts } from "../../../core/context/content-text.ts";
import { toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord } from "../../../core/format/json.ts";
import type { AssistantMessage } from "../../../core/format/message.ts";
import { type ConvertedAnswer, STOP_REASONS } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
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
import { keepTransformations } from "../session/input-transformations.ts";
import { keepRequest } from "../session/request-digest.ts";
import {
  type AnthropicMessageLike,
  type AnthropicRequestLike,
  type AnthropicResponseLike,
  isBlocks,
  readAnswer,
  readResult,
  readUsage,
  readUser,
  stripBlock,
  withoutBlanks,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./anthropic-content.ts";

const FORM: SdkForm = {
  name: "anthropic",
  api: "anthropic-messages",
  provider: "anthropic",
  writeUser,
  writeAnswer: (content) => withoutBlanks(content.map((block) => writeAnswerBlock(block, (id) => id))),
  writeResult: (result) => writeResult(result, result.toolCallId),
  readUsage,
};

/**
 * Converts messages from Anthropic's Messages API to session messages.
 *
 * Keeps content without a counterpart, such as a document, in `details`; `toAnthropic` restores it. Cache markers belong
 * to a single request and are not preserved. A whole response can be passed instead of its message; the answer then includes
 * the model and usage.
 *
 * @param request - Messages, or `{ system, messages }`.
 * @throws {TypeError} If a message has an unknown role, or the time is missing.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#anthropic
 */
export function fromAnthropic(
  request: AnthropicRequestLike | readonly AnthropicMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  assertRequest(request);
  const { system, messages } = isList(request) ? { system: undefined, messages: request } : request;
  if (getTexts(system).join("") !== "") history.instructions(-1, system);
  assertMessages(messages, "Message", "messages");
  messages.forEach((message, index) => {
    addMessage(history, message, index);
  });
  return history.done();
}

function addMessage(history: History, message: AnthropicMessageLike, index: number): void {
  const { role, content, ...others } = message;
  switch (role) {
    case "system":
      history.instructions(index, content);
      break;
    case "user":
      addUser(history, content, index);
      break;
    case "assistant": {
      if (isResponse(message)) {
        addResponse(history, message, index);
        return;
      }
      const blocks = getBlocks(content).map(stripBlock);
      history.answer(index, readAnswer(blocks) ?? [], { original: withoutBlanks(blocks) });
      break;
    }
    default:
      throw makeUnknownRoleError(index, role, "; Anthropic's are user, assistant and system");
  }
  history.dropFields(index, others, "a message");
}

/** Returns whether an element is a whole response rather than a message. Only responses have usage. */
function isResponse(message: object): message is AnthropicResponseLike {
  const { usage, model } = toRecord(message);
  return typeof model === "string" && isJsonRecord(usage);
}

function addUser(history: History, content: AnthropicMessageLike["content"], index: number): void {
  if (typeof content === "string") {
    history.user(index, content);
    return;
  }
  const said: object[] = [];
  for (const block of getBlocks(content)) {
    const result = readResult(block);
    const original = stripBlock(block);
    if (result === undefined) said.push(original);
    else history.result(index, result, { original });
  }
  const blocks = readUser(said) ?? [];
  if (blocks.length > 0) history.user(index, blocks, said);
}

function getBlocks(content: unknown): readonly object[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (isBlocks(content)) return content;
  throw new TypeError("Content of Anthropic's messages must be a string or an array of blocks with a type.");
}

/**
 * Creates an assistant message from a response returned by `messages.create` or by a stream's `finalMessage()`.
 *
 * @param options - `model`: the requested model, if it is an alias. The response identifies the responding model.
 * @throws {TypeError} If the argument is not a response, or the time or the content is missing.
 * @remarks Source: docs/messages.md#anthropic
 */
export function fromAnthropicResponse(
  response: AnthropicResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const history = new History(options, FORM);
  const message = addResponse(history, response, 0);
  const transformed = keepTransformations(toRecord(response)["input_transformations"], options.request);
  for (const { type, path, reason, entryId } of transformed.list) {
    const done = type === "thinking_dropped" ? "omitted" : "used";
    history.issues.report(
      "THINKING_MISMATCH",
      -1,
      `The provider ${done} the thinking at ${path}: ${reason}.`,
      {
        entryId,
      },
    );
  }
  return getOnlyAnswer(history, message, { ...keepRequest(options.request), ...transformed.details });
}

function addResponse(history: History, response: AnthropicResponseLike, index: number): AssistantMessage {
  assertResponse(response);
  const { id, model, stop_reason, usage } = response;
  const blocks = getBlocks(response.content).map(stripBlock);
  return history.response(index, readAnswer(blocks) ?? [], withoutBlanks(blocks), {
    id,
    model,
    usage,
    stopReason: stop_reason === null ? "pending" : (STOP_REASONS.get(stop_reason) ?? "stop"),
    rawStopReason: stop_reason ?? undefined,
    errorMessage: () => getRefusal(response),
  });
}

function getRefusal(response: object): string {
  const { explanation } = toRecord(toRecord(response)["stop_details"]);
  return typeof explanation === "string" ? explanation : "The model refused to answer.";
}
