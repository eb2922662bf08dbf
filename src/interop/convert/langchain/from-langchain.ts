import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { isJsonRecord, toSafeString } from "../../../core/format/json.ts";
import { type AnswerFields, chooseStopReason, STOP_REASONS } from "../answer.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import {
  assertMessages,
  type ConvertedMessages,
  History,
  makeAnswerer,
  makeUnknownRoleError,
  type SdkForm,
} from "../message-history.ts";
import {
  type LangChainMessageLike,
  type LangChainRecord,
  normalizeMessage,
  readAnswer,
  readResult,
  readUsage,
  readUser,
  toStoredRecord,
  writeAnswer,
  writeResult,
  writeUser,
} from "./langchain-content.ts";

const FORM: SdkForm = {
  name: "langchain",
  api: "langchain",
  provider: "unknown",
  writeUser,
  writeAnswer: (content) => writeAnswer(content, (id) => id),
  writeResult: (result, toolName) => writeResult(result, result.toolCallId, toolName),
  readUsage,
  plain: normalizeMessage,
};

/**
 * Converts LangChain messages, as instances or in their stored form, to session messages.
 *
 * Keeps data without a counterpart, such as ids, metadata, and artifacts, in `details`; `toLangChain` restores it.
 * The model, provider, tokens, and stop reason of an answer are read from its metadata. An option for the model or
 * provider takes precedence.
 *
 * @param messages - Instances, results of `toDict`, a checkpointer's serialized form, or fields with a type.
 * @throws {TypeError} If a message has an unknown type, or the time is missing.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#langchain
 */
export function fromLangChain(
  messages: readonly LangChainMessageLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  assertMessages(Array.isArray(messages) ? messages.map(withoutContent) : messages);
  messages.forEach((message, index) => {
    const record = toStoredRecord(message);
    if (record === undefined) throw makeUnknownTypeError(index, undefined);
    addMessage(history, record, index, options);
  });
  return history.done();
}

/** Removes parts that are strings, which only LangChain allows. */
function withoutContent(message: unknown): unknown {
  const { content } = toRecord(message);
  const parts = toArray(content);
  return parts.some((part) => typeof part === "string")
    ? { content: parts.filter((part) => typeof part !== "string") }
    : message;
}

function addMessage(
  history: History,
  record: LangChainRecord,
  index: number,
  options: MessageImportOptions,
): void {
  const original = normalizeMessage(record);
  const { name } = original.data;
  const user = readUser(original);
  const answer = readAnswer(original);
  const result = readResult(original);
  if (user !== undefined) history.user(index, user, original);
  else if (answer !== undefined)
    history.answer(index, answer, { original, ...readAnswerFields(original.data, answer, options) });
  else if (result !== undefined)
    history.result(index, result, { original, ...(typeof name === "string" && { toolName: name }) });
  else if (record.type === "system") addSystem(history, original, index);
  else if (record.type === "remove")
    history.report(
      "MESSAGE_DROPPED",
      index,
      `Dropped a request to remove message ${toSafeString(original.data["id"])}.`,
    );
  else throw makeUnknownTypeError(index, record.type);
}

function makeUnknownTypeError(index: number, type: unknown): TypeError {
  return makeUnknownRoleError(
    index,
    type,
    "; LangChain's types are human, ai, system, and tool, which requires a tool_call_id",
  );
}

function addSystem(history: History, original: LangChainRecord, index: number): void {
  const { content, ...others } = original.data;
  history.instructions(index, content);
  history.dropFields(index, others, "a system message");
}

/** Reads facts about an answer from its own data. */
function readAnswerFields(
  data: LangChainRecord["data"],
  content: NonNullable<ReturnType<typeof readAnswer>>,
  options: MessageImportOptions,
): Partial<AnswerFields> {
  const { id, usage_metadata, response_metadata } = data;
  const facts = toRecord(response_metadata);
  const model = facts["model_name"] ?? facts["model"];
  const provider = facts["model_provider"];
  const reason =
    facts["finish_reason"] ?? facts["stop_reason"] ?? facts["finishReason"] ?? facts["stopReason"];
  const stop = STOP_REASONS.get(toSafeString(reason).toLowerCase()) ?? "stop";
  const stopReason = chooseStopReason(stop, content);
  const isAnthropic = provider === "anthropic" && options.api === undefined;
  return {
    ...(isJsonRecord(usage_metadata) && { usage: readUsage(usage_metadata) }),
    stopReason,
    ...(typeof reason === "string" && { rawStopReason: reason }),
    ...(stopReason === "error" && { errorMessage: "The provider refused or withheld the answer." }),
    ...(typeof id === "string" && { responseId: id }),
    ...(typeof model === "string" && makeAnswerer(model, options.model)),
    ...(typeof provider === "string" && options.provider === undefined && { provider }),
    ...(isAnthropic && { api: "anthropic-messages" }),
  };
}
