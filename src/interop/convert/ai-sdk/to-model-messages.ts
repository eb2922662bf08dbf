import { isStoredMessage, toArray, toContentBlocks, toRecord } from "../../../core/context/entry-fields.ts";
import { toText } from "../../../core/context/message-parts.ts";
import { isJsonRecord, type JsonRecord } from "../../../core/format/json.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { ConversionIssues } from "../conversion-issue.ts";
import { type Dialect, isBlank, USUAL_DIALECT } from "../dialect.ts";
import { endsWithType, findRaw } from "../raw-form.ts";
import type { PlannedItem } from "../request-plan.ts";
import { planRequest, writePlan } from "../session/plan-source.ts";
import { getMessages, type RequestSource } from "../session/session-steps.ts";
import { getCallId, ToolIds } from "../tool-ids.ts";
import { AnswerCalls, type ApprovalDialect } from "./answer-calls.ts";
import { withKeptParts } from "./kept-parts.ts";
import type {
  AiSdkMajor,
  ModelContentPart,
  ModelMessage,
  ModelMessagesOptions,
  ModelMessagesRequest,
  ModelTextPart,
  ModelToolOutput,
  ModelToolOutputPart,
  ModelToolResultPart,
} from "./model-message-types.ts";
import {
  readAnswer,
  readOutput,
  readResult,
  readUser,
  toBase64,
  writeAnswer,
  writeResult,
  writeUser,
} from "./model-parts.ts";
import { canReplay, canSign, findFamily } from "./provider-state.ts";

const MAX_ID = 64;

/** Dialect of model messages for any provider. */
export const MODEL_MESSAGES: Dialect = {
  ...USUAL_DIALECT,
  form: "modelMessage",
  apis: undefined,
  provider: undefined,
  startsWithUser: true,
  imageTypes: undefined,
  takesImages: ({ isError }) => !isError,
  fitName: (name) => name,
  wantsThinkingWhole: true,
  keepsSignedText: (_, api) => findFamily(api) === "google",
  isSignature: canSign,
  newIds: () => new ToolIds({ maxLength: MAX_ID, getPart: getCallId }),
  isBlank,
  canReplay,
  readUser: (raw) => (isMessage(raw) ? readUser(raw.content) : undefined),
  readAnswer: (raw) =>
    isMessage(raw) && !endsWithType(raw.content, "reasoning") ? readAnswer(raw.content) : undefined,
  readResult,
};

/**
 * Converts a session, or the messages of a context, to AI SDK model messages.
 *
 * Writes signatures and item ids where the SDK's own providers read them. All results for an answer are combined into one
 * message. Files and provider-executed tools in saved UI messages are converted to the same parts as in `convertToModelMessages`.
 *
 * @param source - Session, or messages such as `buildSessionContext().messages`. Not modified.
 * @returns Instructions and `messages` for `generateText` and `streamText`, and issues.
 * @throws {TypeError} If `sdk` is a version other than 5, 6, or 7.
 * @remarks Cost: O(messages and blocks). Source: docs/messages.md#ai-sdk
 */
export function toModelMessages<Major extends AiSdkMajor = 7>(
  source: RequestSource,
  options?: ModelMessagesOptions<Major>,
): ModelMessagesRequest<Major>;
export function toModelMessages(
  source: RequestSource,
  options: ModelMessagesOptions = {},
): ModelMessagesRequest<AiSdkMajor> {
  assertOptions<object>(options, {});
  const messages = getMessages(source, options.leafId);
  const kept = withKeptParts(messages);
  const { calls, superseded } = kept;
  const prepare = (some: readonly AgentMessage[]) =>
    (some === messages ? kept : withKeptParts(some)).messages;
  const form = { prepare, write: writePlan };
  const { system, items, ids, issues } = planRequest(source, MODEL_MESSAGES, options, form);
  for (const index of superseded)
    issues.report("PAIR_REPAIRED", index, "Dropped calls that the user neither approved nor denied.");
  const sdk = new SdkDialect(options.sdk, messages, issues);
  const request = items.flatMap((item) =>
    sdk.fit(
      writeItem(item, calls.get(item.index) ?? [], {
        sdk: sdk.major,
        isLast: item === items.at(-1),
        getId: (id) => ids.of(id),
        writeResult: ({ message, raw }) =>
          isResult(raw) ? raw : writeResult(message, message.toolName, ids.of(message.toolCallId)),
      }),
      item.index,
    ),
  );
  // Includes both names, because a request for the wrong major version would silently lose the instructions.
  const instructions = system === "" ? {} : { system, instructions: system };
  return { ...instructions, messages: request, issues: issues.list() };
}

function writeItem(item: PlannedItem, said: readonly JsonRecord[], dialect: ApprovalDialect): ModelMessage[] {
  if (item.kind === "system") return [];
  if (item.kind === "user")
    return [isMessage(item.raw) ? item.raw : { role: "user", content: writeUser(item.content) }];
  const family = item.isOwn ? findFamily(item.api) : undefined;
  const parts = writeAnswer(item.content, family, dialect.getId);
  const answer: ModelMessage = isMessage(item.raw)
    ? writeKeptAnswer(item.raw, item.isOwn)
    : { role: "assistant", content: item.isIncomplete ? parts.map(withoutItem) : parts };
  const calls = new AnswerCalls(item, said, dialect);
  const content = answer.role === "assistant" && Array.isArray(answer.content) ? answer.content : [];
  const outcomes = calls.writeOutcomes(content);
  return [
    said.length === 0 || typeof answer.content === "string"
      ? answer
      : { role: "assistant", content: calls.withRequests(content) },
    ...(outcomes.length === 0 ? [] : [{ role: "tool" as const, content: outcomes }]),
  ];
}

/**
 * Returns a kept answer. For a different model, converts the text input of a custom tool to an object, which every model
 * can read.
 */
function writeKeptAnswer(raw: ModelMessage, isOwn: boolean): ModelMessage {
  if (isOwn || raw.role !== "assistant" || typeof raw.content === "string") return raw;
  const content = raw.content.map((part) =>
    part.type === "tool-call" && typeof part.input === "string"
      ? { ...part, input: { input: part.input } }
      : part,
  );
  return { ...raw, content };
}

/** Returns a part without its item id, because OpenAI rejects items with ids if their reasoning is missing. */
function withoutItem(part: ModelContentPart): ModelContentPart {
  const { providerOptions, ...rest } = part;
  const { openai, ...others } = providerOptions ?? {};
  if (openai === undefined) return part;
  const { itemId: _, ...kept } = openai;
  const options = { ...others, ...(Object.keys(kept).length > 0 && { openai: kept }) };
  return { ...rest, ...(Object.keys(options).length > 0 && { providerOptions: options }) };
}

/** Returns whether a value is a kept message. Unknown parts are sent unchanged. */
function isMessage(raw: unknown): raw is ModelMessage {
  const { role, content } = toRecord(raw);
  if (typeof role !== "string") return false;
  return typeof content === "string" || (Array.isArray(content) && content.every(isJsonRecord));
}

function isResult(raw: unknown): raw is ModelToolResultPart {
  return readResult(raw) !== undefined;
}

/** First and last major versions that support a feature. */
type Span = readonly [AiSdkMajor, AiSdkMajor];
type Spans = ReadonlyMap<unknown, Span>;

/** Message parts that not every major version supports. */
const PARTS: Spans = new Map([
  ["tool-approval-request", [6, 7]],
  ["tool-approval-response", [6, 7]],
  ["custom", [7, 7]],
  ["reasoning-file", [7, 7]],
]);

/** Tool outputs that not every major version supports. */
const OUTPUTS: Spans = new Map([["execution-denied", [6, 7]]]);

/** Output parts that not every major version supports. */
const OUTPUT_PARTS: Spans = new Map([
  ["media", [5, 6]],
  ["image-data", [6, 7]],
  ["image-url", [6, 7]],
  ["image-file-id", [6, 7]],
  ["file-data", [6, 7]],
  ["file-url", [6, 7]],
  ["file-id", [6, 7]],
  ["custom", [6, 7]],
  ["file", [7, 7]],
  ["file-reference", [7, 7]],
  ["image-file-reference", [7, 7]],
]);

/** Functions that write a file in tool output, by major version. */
const WRITE_FILE: {
  readonly [Major in AiSdkMajor]: (data: string, mediaType: string) => ModelToolOutputPart<Major>;
} = {
  5: (data, mediaType) => ({ type: "media", data, mediaType }),
  6: (data, mediaType) => {
    const type = mediaType.startsWith("image/") ? "image-data" : "file-data";
    return { type, data, mediaType };
  },
  7: (data, mediaType) => ({ type: "file", data: { type: "data", data }, mediaType }),
};

/** Writes messages for a major version of the AI SDK. */
class SdkDialect {
  readonly major: AiSdkMajor;
  readonly #issues: ConversionIssues;

  /**
   * @param named - Major version specified by the caller. Default: the oldest version that supports the latest file in
   *   the tool results.
   * @throws {TypeError} If the version is not 5, 6, or 7.
   */
  constructor(named: AiSdkMajor | undefined, messages: readonly AgentMessage[], issues: ConversionIssues) {
    if (named !== undefined && !Object.hasOwn(WRITE_FILE, String(named)))
      throw new TypeError(`AI SDK version ${String(named)} is not supported; use 5, 6, or 7.`);
    this.major = named ?? findMajor(messages) ?? 7;
    this.#issues = issues;
  }

  /** Returns the messages with only the parts that the major version supports. */
  fit(messages: readonly ModelMessage[], index: number): ModelMessage<AiSdkMajor>[] {
    return messages.flatMap((message): ModelMessage<AiSdkMajor>[] => {
      if (typeof message.content === "string") return [message];
      if (message.role === "user")
        return [{ ...message, content: message.content.map((part) => this.#fitFile(part, index)) }];
      if (message.role === "tool") {
        const known = this.#known(message.content, index);
        const content = known.map((part) => (isResult(part) ? this.#fitResult(part, index) : part));
        return content.length === 0 ? [] : [{ ...message, content }];
      }
      const known = this.#known(message.content, index);
      return known.length === 0
        ? []
        : [{ ...message, content: known.map((part) => this.#fitFile(part, index)) }];
    });
  }

  #known<Part extends { readonly type: string }>(parts: readonly Part[], index: number): Part[] {
    const known = parts.filter(({ type }) => this.#knows(PARTS, type));
    if (known.length < parts.length) this.#report("BLOCK_DROPPED", index, "it was dropped");
    return known;
  }

  /** Converts a file's data to a string, as required before version 7. */
  #fitFile<Part extends object>(part: Part, index: number): Part | ModelTextPart {
    const { type, data } = toRecord(part);
    if (this.major === 7 || type !== "file" || typeof data === "string") return part;
    const { url, data: inner = url } = toRecord(data);
    if (typeof inner === "string") return Object.assign({}, part, { data: inner });
    return this.#asText(readUser([part]), index);
  }

  #fitResult(part: ModelToolResultPart, index: number): ModelToolResultPart<AiSdkMajor> {
    const { output } = part;
    return { ...part, output: this.#fitOutput(part, output, index) };
  }

  #fitOutput(part: ModelToolResultPart, output: ModelToolOutput, index: number): ModelToolOutput<AiSdkMajor> {
    // A session file may contain any value as the output, regardless of its type.
    const { type, value } = toRecord(output);
    if (!this.#knows(OUTPUTS, type))
      return { type: "error-text", value: this.#asText(readResult(part)?.content, index).text };
    if (output?.type !== "content" || !Array.isArray(value)) return output;
    return { ...output, value: output.value.map((one) => this.#fitOutputPart(one, index)) };
  }

  #fitOutputPart(part: ModelToolOutputPart, index: number): ModelToolOutputPart<AiSdkMajor> {
    const { type, data, mediaType } = toRecord(part);
    if (this.#knows(OUTPUT_PARTS, type)) return part;
    const base64 = toBase64(data);
    if (base64 !== undefined && typeof mediaType === "string")
      return WRITE_FILE[this.major](base64, mediaType);
    const [block] = readOutput("content", [part]);
    if (block?.type === "image") return WRITE_FILE[this.major](block.data, block.mimeType);
    return this.#asText([block], index);
  }

  #knows(spans: Spans, type: unknown): boolean {
    const [first, last] = spans.get(type) ?? [5, 7];
    return first <= this.major && this.major <= last;
  }

  #asText(content: unknown, index: number): ModelTextPart {
    this.#report("CONTENT_REPLACED", index, "it was replaced with text");
    const { text } = toRecord(toArray(content)[0]);
    return { type: "text", text: toText(text) };
  }

  #report(code: "BLOCK_DROPPED" | "CONTENT_REPLACED", index: number, done: string): void {
    this.#issues.report(
      code,
      index,
      `Version ${this.major} of the AI SDK does not support some content; ${done}.`,
    );
  }
}

/** Returns the oldest major version that supports the latest file in tool output; undefined if there are no files. */
function findMajor(messages: readonly AgentMessage[]): AiSdkMajor | undefined {
  const majors = messages.filter(isStoredMessage).flatMap((message) => {
    if (message.role !== "toolResult") return [];
    const { type, value } = toRecord(toRecord(findRaw(message, "modelMessage"))["output"]);
    const kept = type === "content" ? toArray(value) : [];
    const [first] = kept.flatMap((part) => OUTPUT_PARTS.get(toRecord(part)["type"])?.[0] ?? []);
    // Originals in the form of version 7 are not kept, because they equal the written form.
    return (
      first ??
      (toContentBlocks(message.content).some((block) => toRecord(block)["type"] === "image") ? 7 : [])
    );
  });
  return majors.at(-1);
}
