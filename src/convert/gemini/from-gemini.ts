import { fieldsOf } from "../../context/entry-fields.ts";
import { digestOf } from "../../schema/ids.ts";
import type { StopReason } from "../../schema/message.ts";
import { type ConvertedAnswer, countOf, usageOf } from "../answer.ts";
import { assertMessages } from "../assert-messages.ts";
import type { MessageImportOptions } from "../conversion-options.ts";
import { type ConvertedMessages, History, type HistoryDefaults, withDetails } from "../history.ts";
import type { GeminiContentLike, GeminiRequestLike, GeminiResponseLike } from "./gemini-types.ts";
import {
  isResponse,
  plainPart,
  readAnswerParts,
  readResponse,
  readUser,
  withCallIds,
  withResponseId,
} from "./read-parts.ts";
import { writeAnswer, writeResponse, writeUser } from "./write-parts.ts";

const DEFAULTS: HistoryDefaults = { form: "gemini", api: "google-generative-ai", provider: "google" };

/** Characters by which calls without ids of one response differ from those of others. */
const SEED_LENGTH = 8;

const STYLE = { isNew: true, idOf: (id: string) => id };

/** Finish reasons that are no failure. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  CONTINUATION: "stop",
  MAX_TOKENS: "length",
  FINISH_REASON_UNSPECIFIED: "pending",
};

/**
 * Converts Gemini's contents to messages of a session.
 *
 * Gives calls without ids the same ids at every conversion, and pairs results with them by name and order. Keeps parts
 * without a counterpart, such as files, in `details`.
 *
 * @param request - Contents, or `{ systemInstruction, contents }`.
 * @throws {TypeError} If a content has an unknown role, or there is no time.
 * @remarks Cost: O(contents and parts). Source: docs/messages.md#gemini
 */
export function fromGemini(
  request: GeminiRequestLike | readonly GeminiContentLike[],
  options: MessageImportOptions,
): ConvertedMessages {
  const history = new History(options, DEFAULTS);
  const isList = isContents(request);
  const instruction = isList ? "" : instructionOf(request.systemInstruction);
  if (instruction !== "") history.system(-1, instruction);
  const rules = isList ? [] : partsOf(request.systemInstruction);
  history.dropFromSystem(
    -1,
    rules.filter((part) => fieldsOf(part)["text"] === undefined).flatMap((part) => Object.keys(part)),
  );
  const reader = new ContentReader(history);
  const contents = isList ? request : request.contents;
  assertMessages(contents, "Content");
  contents.forEach((content, index) => {
    reader.read(content, index);
  });
  return history.done();
}

function isContents(
  request: GeminiRequestLike | readonly GeminiContentLike[],
): request is readonly GeminiContentLike[] {
  return Array.isArray(request);
}

function instructionOf(instruction: unknown): string {
  if (typeof instruction === "string") return instruction;
  return partsOf(instruction)
    .flatMap((part) => fieldsOf(part)["text"] ?? [])
    .join("\n\n");
}

function partsOf(content: unknown): readonly object[] {
  const { parts } = fieldsOf(content);
  return Array.isArray(parts) ? parts : [];
}

/** Reads contents in order, and pairs results with calls. */
class ContentReader {
  readonly #history: History;
  /** Calls of the latest answer that have no result yet, in their order. */
  #open: { readonly id: string; readonly name: string }[] = [];

  constructor(history: History) {
    this.#history = history;
  }

  read(content: GeminiContentLike, index: number): void {
    const { role = "user" } = content;
    const parts = partsOf(content);
    if (role === "model") this.#addAnswer(parts, index);
    else if (role === "user" || role === "function") this.#addUser(parts, index);
    else
      throw new TypeError(
        `Content ${index} has the role ${JSON.stringify(role)}; Gemini's are user and model.`,
      );
  }

  #addAnswer(parts: readonly object[], index: number): void {
    const { content, details } = readParts(this.#history, parts, index, String(index));
    this.#open = content.filter((block) => block.type === "toolCall").map(({ id, name }) => ({ id, name }));
    this.#history.answer(index, content, withDetails(details));
  }

  #addUser(parts: readonly object[], index: number): void {
    for (const part of parts.filter(isResponse)) this.#addResult(part, index);
    const said = parts.filter((part) => !isResponse(part));
    const content = readUser(said) ?? [];
    if (said.length === 0) return;
    const details = this.#history.keep(index, said, writeUser(content), "a user content", plainParts);
    this.#history.user(index, content, details);
  }

  #addResult(given: object, index: number): void {
    const part = withResponseId(given, (name) => this.#idByName(name));
    const result = readResponse(part);
    if (result === undefined) return;
    this.#open = this.#open.filter(({ id }) => id !== result.toolCallId);
    const { name } = fieldsOf(fieldsOf(part)["functionResponse"]);
    const toolName = typeof name === "string" ? name : "unknown";
    const again = writeResponse(result, toolName, STYLE);
    this.#history.result(
      index,
      result,
      this.#history.keep(index, part, again, "a result", plainPart),
      toolName,
    );
  }

  #idByName(name: unknown): string {
    const call = this.#open.find((one) => one.name === name);
    return call?.id ?? `${String(name)}_without_call`;
  }
}

function plainParts(parts: object): object {
  return Object.values(parts).map(plainPart);
}

function readParts(history: History, given: readonly object[], index: number, seed: string) {
  const parts = withCallIds(given, seed);
  const content = readAnswerParts(parts);
  const again = writeAnswer(content, STYLE);
  return { content, details: history.keep(index, parts, again, "an answer", plainParts) };
}

/**
 * Makes the assistant message of a response of `generateContent`.
 *
 * @param options - `model` is what was asked for, if that is an alias; the response says who answered.
 * @throws {TypeError} If there is no time.
 * @remarks Merge the chunks of a stream first. Source: docs/messages.md#gemini
 */
export function fromGeminiResponse(
  response: GeminiResponseLike,
  options: MessageImportOptions,
): ConvertedAnswer {
  const { candidates = [], responseId, modelVersion, usageMetadata } = response;
  const model = options.model ?? modelVersion;
  const history = new History({ ...options, ...(model !== undefined && { model }) }, DEFAULTS);
  const [candidate] = candidates;
  const seed = digestOf(responseId ?? String(history.timeOf(0))).slice(0, SEED_LENGTH);
  const { content, details } = readParts(history, partsOf(candidate?.content), 0, seed);
  const isCalling = content.some(({ type }) => type === "toolCall");
  const reason =
    candidate === undefined ? "PROMPT_BLOCKED" : (candidate.finishReason ?? "FINISH_REASON_UNSPECIFIED");
  const said = STOP_REASONS[reason] ?? "error";
  return history.response(content, {
    id: responseId,
    askedModel: model,
    model: modelVersion,
    usage: readUsage(fieldsOf(usageMetadata)),
    stopReason: said === "stop" && isCalling ? "toolUse" : said,
    rawStopReason: reason,
    errorMessage: () => errorOf(response, candidate, reason),
    details,
  });
}

function errorOf(response: object, candidate: unknown, reason: string): string {
  const { finishMessage } = fieldsOf(candidate);
  const { blockReason } = fieldsOf(fieldsOf(response)["promptFeedback"]);
  return typeof finishMessage === "string"
    ? finishMessage
    : `The provider withheld the answer: ${String(blockReason ?? reason)}.`;
}

function readUsage(usage: { readonly [name: string]: unknown }) {
  const cacheRead = countOf(usage["cachedContentTokenCount"]);
  const reasoning = countOf(usage["thoughtsTokenCount"]);
  return usageOf({
    input: countOf(usage["promptTokenCount"]) + countOf(usage["toolUsePromptTokenCount"]) - cacheRead,
    output: countOf(usage["candidatesTokenCount"]) + reasoning,
    cacheRead,
    reasoning,
    total: usage["totalTokenCount"],
  });
}
