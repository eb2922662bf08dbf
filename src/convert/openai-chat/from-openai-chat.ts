import { fieldsOf } from "../../context/entry-fields.ts";
import { digestOf } from "../../schema/ids.ts";
import type { StopReason } from "../../schema/message.ts";
import type { ConvertedAnswer } from "../answer.ts";
import { assertMessages } from "../assert-messages.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import { type ConvertedMessages, History, type HistoryDefaults, withDetails } from "../history.ts";
import { readOpenAIUsage } from "../openai-usage.ts";
import { reportRounded } from "../tool-arguments.ts";
import {
  argumentsIn,
  plainMessage,
  readAnswer,
  readResult,
  readSystem,
  readUser,
  strippedMessage,
  writeAnswer,
  writeResult,
  writeUser,
} from "./openai-chat-content.ts";
import type {
  OpenAIChatMessageLike,
  OpenAIChatRequestLike,
  OpenAIChatResponseLike,
} from "./openai-chat-types.ts";

const DEFAULTS: HistoryDefaults = { form: "openaiChat", api: "openai-completions", provider: "openai" };

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
  content_filter: "error",
};

const LEGACY_ID_LENGTH = 24;

/**
 * Converts messages of OpenAI's Chat Completions API to those of a session.
 *
 * Parses the arguments of calls. If a model wrote arguments that are not a JSON object, they become `{}`; the original is
 * kept in `details`, as is everything else without a counterpart.
 *
 * @param request - Messages, or `{ messages }`.
 * @throws {TypeError} If a message has an unknown role, or there is no time.
 * @remarks Cost: O(messages and parts). Source: docs/messages.md#openai-chat-completions
 */
export function fromOpenAIChat(
  request: OpenAIChatRequestLike | readonly OpenAIChatMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, DEFAULTS);
  const legacy = new LegacyCalls();
  const messages = "messages" in request ? request.messages : request;
  assertMessages(messages);
  messages.forEach((message, index) => {
    addMessage(history, legacy.modernize(message, index), index, functionName(message));
  });
  return history.done();
}

/** Returns the name of the function that an old result is of; results of today name their call. */
function functionName(message: object): string | undefined {
  const { role, name } = fieldsOf(message);
  return role === "function" && typeof name === "string" ? name : undefined;
}

function addMessage(history: History, message: object, index: number, toolName: string | undefined): void {
  const stripped = strippedMessage(message);
  const rule = readSystem(stripped);
  const user = readUser(stripped);
  const answer = readAnswer(stripped);
  const result = readResult(stripped);
  if (rule !== undefined) {
    const { role } = stripped;
    const given = { ...stripped, content: rule };
    const again = { role, content: rule };
    history.system(index, rule, history.keep(index, given, again, "a system message", plainMessage));
  } else if (user !== undefined) {
    history.user(index, user, history.keep(index, stripped, writeUser(user), "a user message", plainMessage));
  } else if (answer !== undefined) {
    reportRounded(history, index, argumentsIn(stripped));
    const again = writeAnswer(answer, (id) => id);
    history.answer(
      index,
      answer,
      withDetails(history.keep(index, stripped, again, "an answer", plainMessage)),
    );
  } else if (result !== undefined) {
    const again = writeResult(result, result.toolCallId);
    history.result(index, result, history.keep(index, stripped, again, "a result", plainMessage), toolName);
  } else {
    throw new TypeError(
      `Message ${index} has the role ${JSON.stringify(stripped["role"])}, or a result without an id.`,
    );
  }
}

/** Converts calls from before there were ids to the current form. */
class LegacyCalls {
  readonly #open: { readonly name: unknown; readonly id: string }[] = [];

  modernize(message: object, index: number): object {
    const { function_call, ...rest } = fieldsOf(message);
    const { name, arguments: given } = fieldsOf(function_call);
    if (rest["role"] === "function") {
      const at = this.#open.findIndex((call) => call.name === rest["name"]);
      const [call] = at === -1 ? [] : this.#open.splice(at, 1);
      const id = call?.id ?? legacyId(index, rest["name"]);
      return { role: "tool", tool_call_id: id, content: rest["content"] };
    }
    if (typeof name !== "string") return message;
    const id = legacyId(index, name);
    this.#open.push({ name, id });
    return { ...rest, tool_calls: [{ id, type: "function", function: { name, arguments: given } }] };
  }
}

function legacyId(index: number, name: unknown): string {
  return `call_${digestOf(`${index}\n${String(name)}`).slice(0, LEGACY_ID_LENGTH)}`;
}

/**
 * Makes the assistant message of a response: of `chat.completions.create`, or of a stream's `finalChatCompletion()`.
 *
 * @param options - `model` is what was asked for, if that is an alias; the response says who answered.
 * @throws {TypeError} If there is no time.
 * @remarks Source: docs/messages.md#openai-chat-completions
 */
export function fromOpenAIChatResponse(
  response: OpenAIChatResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const { id, model, choices, usage } = response;
  const history = new History({ ...options, model: options.model ?? model }, DEFAULTS);
  const [choice] = choices;
  const stripped = strippedMessage(choice?.message ?? { role: "assistant" });
  const content = readAnswer(stripped) ?? [];
  reportRounded(history, 0, argumentsIn(stripped));
  const again = writeAnswer(content, (id) => id);
  const details = history.keep(0, stripped, again, "an answer", plainMessage);
  const reason = choice?.finish_reason ?? undefined;
  const stopReason =
    choice === undefined
      ? "error"
      : stopReasonOf(
          reason,
          content.some(({ type }) => type === "toolCall"),
        );
  return history.response(content, {
    id,
    askedModel: options.model,
    model,
    usage: readOpenAIUsage(usage, { input: "prompt", output: "completion" }),
    stopReason,
    rawStopReason: reason,
    errorMessage: () => errorOf(response, reason),
    details,
  });
}

function stopReasonOf(reason: string | undefined, isCalling: boolean): StopReason {
  const said = reason === undefined ? "pending" : (STOP_REASONS[reason] ?? "stop");
  // Some servers report a normal stop although the model waits for its tools.
  return said === "stop" && isCalling ? "toolUse" : said;
}

function errorOf(response: object, reason: string | undefined): string {
  if (reason !== undefined) return "The provider's filter withheld the answer.";
  const { message } = fieldsOf(fieldsOf(response)["error"]);
  return typeof message === "string" ? message : "The response has no choices.";
}
