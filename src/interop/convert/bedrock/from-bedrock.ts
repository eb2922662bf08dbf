import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { type ConvertedAnswer, STOP_REASONS } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import {
  assertMessages,
  assertObjectOrMissing,
  assertRequest,
  assertResponse,
  type ConvertedMessages,
  getOnlyAnswer,
  History,
  isList,
  makeUnknownRoleError,
  type SdkForm,
} from "../message-history.ts";
import { keepRequest } from "../session/request-digest.ts";
import {
  type BedrockMessageLike,
  type BedrockRequestLike,
  type BedrockResponseLike,
  readAnswer,
  readResult,
  readUsage,
  readUser,
  toWire,
  writeAnswerBlock,
  writeResult,
  writeUser,
} from "./bedrock-content.ts";

const FORM: SdkForm = {
  name: "bedrock",
  api: "bedrock-converse-stream",
  provider: "amazon-bedrock",
  writeUser,
  writeAnswer: (content) => content.map((block) => writeAnswerBlock(block, (id) => id)),
  writeResult: (result) => writeResult(result, result.toolCallId),
  readUsage,
};

/**
 * Converts messages from Bedrock's Converse API to session messages.
 *
 * Keeps content without a counterpart, such as documents, citations, and cache points, in `details`; `toBedrock`
 * restores it.
 *
 * @param request - Messages, or `{ system, messages }`.
 * @throws {TypeError} If a message has an unknown role, or the time is missing.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#bedrock
 */
export function fromBedrock(
  request: BedrockRequestLike | readonly BedrockMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  assertRequest(request);
  const { system, messages = [] } = isList(request) ? { system: undefined, messages: request } : request;
  const instructions = toArray(toWire(system ?? [])).map(toRecord);
  const texts = readUser(instructions) ?? [];
  const said = texts.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (said.join("") !== "") history.system(-1, said.join("\n"));
  history.dropFromSystem(-1, instructions.flatMap(Object.keys));
  assertMessages(messages, "Message", "messages");
  messages.forEach(({ role, content, ...others }, index) => {
    const blocks = toArray(toWire(content ?? [])).map(toRecord);
    if (role === "assistant") history.answer(index, readAnswer(blocks) ?? [], { original: blocks });
    else if (role === "user") addUser(history, blocks, index);
    else throw makeUnknownRoleError(index, role, "; Bedrock's are user and assistant");
    history.dropFields(index, others, "a message");
  });
  return history.done();
}

function addUser(history: History, blocks: readonly ReturnType<typeof toRecord>[], index: number): void {
  const said: object[] = [];
  for (const block of blocks) {
    const original = toRecord(block["toolResult"]);
    const result = readResult(original);
    if (result === undefined) said.push(block);
    else history.result(index, result, { original });
  }
  const content = readUser(said) ?? [];
  if (content.length > 0) history.user(index, content, said);
}

/**
 * Creates an assistant message from a `ConverseCommand` response.
 *
 * @param options - `model`: the requested model id, which the response does not contain.
 * @throws {TypeError} If the argument is not a response, or the time is missing.
 * @remarks Source: docs/messages.md#bedrock
 */
export function fromBedrockResponse(
  response: BedrockResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const history = new History(options, FORM);
  assertResponse(response);
  const { output, stopReason, usage, $metadata } = response;
  assertObjectOrMissing(output, "output");
  const { requestId } = toRecord($metadata);
  const blocks = toArray(toWire(toRecord(toRecord(output)["message"])["content"]));
  const message = history.response(0, readAnswer(blocks) ?? [], blocks, {
    id: typeof requestId === "string" ? requestId : undefined,
    model: undefined,
    usage,
    stopReason: stopReason === undefined ? "pending" : (STOP_REASONS.get(stopReason) ?? "stop"),
    rawStopReason: stopReason,
    errorMessage: () => `The answer was withheld: ${stopReason}.`,
  });
  return getOnlyAnswer(history, message, keepRequest(options.request));
}
