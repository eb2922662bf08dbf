import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { hashText } from "../../../core/format/ids.ts";
import { isJsonRecord, toSafeString } from "../../../core/format/json.ts";
import type { AssistantMessage } from "../../../core/format/message.ts";
import { type ConvertedAnswer, chooseStopReason, readOpenAIUsage, STOP_REASONS } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import type { AnswerBlock } from "../dialect.ts";
import {
  assertMessages,
  assertObjectOrMissing,
  assertRequest,
  assertResponse,
  type ConvertedMessages,
  getOnlyAnswer,
  History,
  isList,
  makeNoResponseError,
  makeUnknownRoleError,
  type SdkForm,
} from "../message-history.ts";
import { reportRounded } from "../tool-arguments.ts";
import {
  listArguments,
  normalizeMessage,
  type OpenAIChatMessageLike,
  type OpenAIChatRequestLike,
  type OpenAIChatResponseLike,
  readAnswer,
  readResult,
  readSystem,
  readUser,
  stripMessage,
  writeAnswer,
  writeResult,
  writeUser,
} from "./openai-chat-content.ts";

const FORM: SdkForm = {
  name: "openaiChat",
  api: "openai-completions",
  provider: "openai",
  writeUser,
  writeAnswer: (content) => writeAnswer(content, (id) => id),
  writeResult: (result) => writeResult(result, result.toolCallId),
  readUsage: (usage) => readOpenAIUsage(usage, { input: "prompt", output: "completion" }),
  plain: normalizeMessage,
};

const LEGACY_ID_LENGTH = 24;

/**
 * Converts messages from OpenAI's Chat Completions API to session messages.
 *
 * Parses the arguments of calls. Arguments that are not a JSON object are replaced with `{}`; the original is kept in `details`,
 * like all other data without a counterpart. A whole response can be passed instead of its message; the answer then
 * includes the model and usage.
 *
 * @param request - Messages, or `{ messages }`.
 * @throws {TypeError} If a message has an unknown role, or the time is missing.
 * @remarks Cost: O(messages and parts). Source: docs/messages.md#openai-chat-completions
 */
export function fromOpenAIChat(
  request: OpenAIChatRequestLike | readonly (OpenAIChatMessageLike | OpenAIChatResponseLike)[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  const legacy = new LegacyCalls();
  assertRequest(request);
  const messages = isList(request) ? request : request.messages;
  assertMessages(messages, "Message", "messages");
  messages.forEach((message, index) => {
    if (isResponse(message)) addResponse(history, message, index);
    else addMessage(history, legacy.modernize(message, index), index, findFunctionName(message));
  });
  return history.done();
}

function isResponse(message: object): message is OpenAIChatResponseLike {
  return Array.isArray(toRecord(message)["choices"]);
}

/** Returns the name of the function that produced a legacy result. Current results refer to their call by id. */
function findFunctionName(message: object): string | undefined {
  const { role, name } = toRecord(message);
  return role === "function" && typeof name === "string" ? name : undefined;
}

function addMessage(history: History, message: object, index: number, toolName: string | undefined): void {
  const original = stripMessage(message);
  const rule = readSystem(original);
  const user = readUser(original);
  const result = readResult(original);
  if (rule !== undefined) history.system(index, rule, { ...original, content: rule });
  else if (user !== undefined) history.user(index, user, original);
  else if (original["role"] === "assistant")
    history.answer(index, readReported(history, index, original), { original });
  else if (result !== undefined)
    history.result(index, result, { original, ...(toolName !== undefined && { toolName }) });
  else throw makeUnknownRoleError(index, original["role"], ", or a result without an id");
}

/** Reads an answer and reports rounded arguments. */
function readReported(history: History, index: number, message: object): AnswerBlock[] {
  reportRounded(history, index, listArguments(message));
  return readAnswer(message) ?? [];
}

/** Converts legacy calls, which have no ids, to the current form. */
class LegacyCalls {
  readonly #open: { readonly name: unknown; readonly id: string }[] = [];

  modernize(message: object, index: number): object {
    const { function_call, ...rest } = toRecord(message);
    const { name, arguments: args } = toRecord(function_call);
    if (rest["role"] === "function") {
      const at = this.#open.findIndex((call) => call.name === rest["name"]);
      const [call] = at === -1 ? [] : this.#open.splice(at, 1);
      const id = call?.id ?? makeLegacyId(index, rest["name"]);
      return { role: "tool", tool_call_id: id, content: rest["content"] };
    }
    if (typeof name !== "string") return message;
    const id = makeLegacyId(index, name);
    this.#open.push({ name, id });
    return { ...rest, tool_calls: [{ id, type: "function", function: { name, arguments: args } }] };
  }
}

function makeLegacyId(index: number, name: unknown): string {
  return `call_${hashText(`${index}\n${toSafeString(name)}`).slice(0, LEGACY_ID_LENGTH)}`;
}

/**
 * Creates an assistant message from a response returned by `chat.completions.create` or by a stream's `finalChatCompletion()`.
 *
 * @param options - `model`: the requested model, if it is an alias. The response identifies the responding model.
 * @throws {TypeError} If the argument is not a response, or the time is missing.
 * @remarks Source: docs/messages.md#openai-chat-completions
 */
export function fromOpenAIChatResponse(
  response: OpenAIChatResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const history = new History(options, FORM);
  return getOnlyAnswer(history, addResponse(history, response, 0));
}

function addResponse(history: History, response: OpenAIChatResponseLike, index: number): AssistantMessage {
  assertResponse(response);
  const { id, model, choices, usage } = response;
  // Providers report a failure in place of the choices.
  if (!Array.isArray(choices) && toRecord(response)["error"] == null)
    throw makeNoResponseError("choices", choices);
  const [choice] = toArray(choices);
  assertObjectOrMissing(choice, "choices[0]");
  const { message, finish_reason: reason } = toRecord(choice);
  assertObjectOrMissing(message, "choices[0].message");
  const original = stripMessage(isJsonRecord(message) ? message : { role: "assistant" });
  const said = reason == null ? "pending" : (STOP_REASONS.get(reason) ?? "stop");
  const content = readReported(history, index, original);
  return history.response(index, content, original, {
    id,
    model,
    usage,
    stopReason: choice === undefined ? "error" : chooseStopReason(said, content),
    rawStopReason: reason,
    errorMessage: () => describeError(response, reason),
  });
}

function describeError(response: object, reason: unknown): string {
  if (reason != null) return "The provider's filter withheld the answer.";
  const { message } = toRecord(toRecord(response)["error"]);
  return typeof message === "string" ? message : "The response has no choices.";
}
