import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import { hashText } from "../../../core/format/ids.ts";
import { toSafeString } from "../../../core/format/json.ts";
import type { AssistantMessage } from "../../../core/format/message.ts";
import { type ConvertedAnswer, chooseStopReason, type StopReasons, toUsage } from "../answer.ts";
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
  makeNoResponseError,
  makeUnknownRoleError,
  type SdkForm,
} from "../message-history.ts";
import {
  type GeminiContentLike,
  type GeminiRequestLike,
  type GeminiResponseLike,
  isResponse,
  normalizePart,
  readAnswerParts,
  readResponse,
  readUser,
  withCallIds,
  withResponseId,
  writeAnswer,
  writeResponse,
  writeUser,
} from "./gemini-content.ts";

/** Length, in characters, of the seed that makes generated call ids differ between responses. */
const SEED_LENGTH = 8;

const STYLE = { isNew: true, getId: (id: string) => id };

const FORM: SdkForm = {
  name: "gemini",
  api: "google-generative-ai",
  provider: "google",
  writeUser,
  writeAnswer: (content) => writeAnswer(content, STYLE),
  writeResult: (result, toolName) => writeResponse(result, toolName, STYLE),
  readUsage,
  plain: normalizePart,
};

/** Finish reasons that do not indicate a failure. */
const STOP_REASONS: StopReasons = new Map([
  ["STOP", "stop"],
  ["CONTINUATION", "stop"],
  ["MAX_TOKENS", "length"],
  ["FINISH_REASON_UNSPECIFIED", "pending"],
]);

/**
 * Converts Gemini contents to session messages.
 *
 * In every conversion, assigns the same ids to calls without ids, and pairs results with these calls by name and order.
 * Keeps parts without a counterpart, such as files, in `details`. A whole response can be passed instead of its
 * content; the answer then includes the model and usage.
 *
 * @param request - Contents, or `{ systemInstruction, contents }`.
 * @throws {TypeError} If a content object has an unknown role, or the time is missing.
 * @remarks Cost: O(contents and parts). Source: docs/messages.md#gemini
 */
export function fromGemini(
  request: GeminiRequestLike | readonly (GeminiContentLike | GeminiResponseLike)[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, FORM);
  assertRequest(request, "contents");
  const { systemInstruction, contents } = isList(request)
    ? { systemInstruction: undefined, contents: request }
    : request;
  const instruction = joinInstruction(systemInstruction);
  if (instruction !== "") history.system(-1, instruction);
  const untold = getParts(systemInstruction)
    .map(toRecord)
    .filter(({ text }) => text === undefined);
  history.dropFromSystem(-1, untold.flatMap(Object.keys));
  const reader = new ContentReader(history);
  assertMessages(contents, "Content", "contents");
  contents.forEach((content, index) => {
    if (isWholeResponse(content)) reader.readResponse(content, index);
    else reader.read(content, getParts(content), index);
  });
  return history.done();
}

function isWholeResponse(content: object): content is GeminiResponseLike {
  return Array.isArray(toRecord(content)["candidates"]);
}

function joinInstruction(instruction: unknown): string {
  if (typeof instruction === "string") return instruction;
  return getParts(instruction)
    .flatMap((part) => {
      const { text } = toRecord(part);
      return typeof text === "string" ? text : [];
    })
    .join("\n\n");
}

function getParts(content: unknown): readonly object[] {
  const { parts } = toRecord(content);
  return Array.isArray(parts) ? parts : [];
}

/** Reads contents in order and pairs results with calls. */
class ContentReader {
  readonly #history: History;
  /** Calls of the latest answer that do not have results yet, in order. */
  #open: { readonly id: string; readonly name: string }[] = [];

  constructor(history: History) {
    this.#history = history;
  }

  read(
    { role = "user", parts: _, ...others }: GeminiContentLike,
    parts: readonly object[],
    index: number,
  ): void {
    if (role === "model") this.#addAnswer(parts, index);
    else if (role === "user" || role === "function") this.#addUser(parts, index);
    else throw makeUnknownRoleError(index, role, "; Gemini's are user and model", "Content");
    this.#history.dropFields(index, others, "a content");
  }

  /** Reads a response in the same way as its content, so that calls without ids are assigned the same ids. */
  readResponse(response: GeminiResponseLike, index: number): void {
    this.#expectResults(addResponse(this.#history, response, index, String(index)).content);
  }

  #addAnswer(parts: readonly object[], index: number): void {
    const original = withCallIds(parts, String(index));
    const content = readAnswerParts(original);
    this.#expectResults(content);
    this.#history.answer(index, content, { original });
  }

  #expectResults(content: AssistantMessage["content"]): void {
    this.#open = content.filter((block) => block.type === "toolCall").map(({ id, name }) => ({ id, name }));
  }

  #addUser(parts: readonly object[], index: number): void {
    for (const part of parts.filter(isResponse)) this.#addResult(part, index);
    const said = parts.filter((part) => !isResponse(part));
    if (said.length > 0) this.#history.user(index, readUser(said) ?? [], said);
  }

  #addResult(part: object, index: number): void {
    const original = withResponseId(part, (name) => this.#idByName(name));
    const result = readResponse(original);
    if (result === undefined) return;
    this.#open = this.#open.filter(({ id }) => id !== result.toolCallId);
    const { name } = toRecord(toRecord(original)["functionResponse"]);
    this.#history.result(index, result, { original, toolName: typeof name === "string" ? name : "unknown" });
  }

  #idByName(name: unknown): string {
    const call = this.#open.find((one) => one.name === name);
    return call?.id ?? `${toSafeString(name)}_without_call`;
  }
}

/**
 * Creates an assistant message from a `generateContent` response.
 *
 * @param options - `model`: the requested model, if it is an alias. The response identifies the responding model.
 * @throws {TypeError} If the argument is not a response, or the time is missing.
 * @remarks Merge the chunks of a stream first. Source: docs/messages.md#gemini
 */
export function fromGeminiResponse(
  response: GeminiResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const history = new History(options, FORM);
  assertResponse(response);
  const seed = hashText(toSafeString(response.responseId ?? history.getTime(0))).slice(0, SEED_LENGTH);
  return getOnlyAnswer(history, addResponse(history, response, 0, seed));
}

/**
 * @param seed - String to include in the ids generated for calls without ids.
 */
function addResponse(
  history: History,
  response: GeminiResponseLike,
  index: number,
  seed: string,
): AssistantMessage {
  const { responseId, modelVersion, usageMetadata, candidates } = response;
  if (!Array.isArray(candidates) && (candidates != null || !hasFacts(response)))
    throw makeNoResponseError("candidates", candidates);
  const [candidate] = toArray(candidates);
  assertObjectOrMissing(candidate, "candidates[0]");
  const { content: parts, finishReason } = toRecord(candidate);
  assertObjectOrMissing(parts, "candidates[0].content");
  const original = withCallIds(getParts(parts), seed);
  const stated = typeof finishReason === "string" ? finishReason : "FINISH_REASON_UNSPECIFIED";
  const reason = candidate === undefined ? "PROMPT_BLOCKED" : stated;
  const content = readAnswerParts(original);
  return history.response(index, content, original, {
    id: responseId,
    model: modelVersion,
    usage: usageMetadata,
    stopReason: chooseStopReason(STOP_REASONS.get(reason) ?? "error", content),
    rawStopReason: reason,
    errorMessage: () => describeError(response, candidate, reason),
  });
}

/** Returns whether a response without candidates, such as that to a blocked prompt, contains other data. */
function hasFacts(response: object): boolean {
  const { promptFeedback, responseId, modelVersion, usageMetadata } = toRecord(response);
  return [promptFeedback, responseId, modelVersion, usageMetadata].some((fact) => fact != null);
}

function describeError(response: object, candidate: unknown, reason: string): string {
  const { finishMessage } = toRecord(candidate);
  const { blockReason } = toRecord(toRecord(response)["promptFeedback"]);
  return typeof finishMessage === "string"
    ? finishMessage
    : `The provider withheld the answer: ${toSafeString(blockReason ?? reason)}.`;
}

function readUsage(metadata: object): Usage {
  const usage = toRecord(metadata);
  return toUsage({
    inputWithCache: toCount(usage["promptTokenCount"]) + toCount(usage["toolUsePromptTokenCount"]),
    output: toCount(usage["candidatesTokenCount"]) + toCount(usage["thoughtsTokenCount"]),
    cacheRead: usage["cachedContentTokenCount"],
    reasoning: usage["thoughtsTokenCount"],
    total: usage["totalTokenCount"],
  });
}
