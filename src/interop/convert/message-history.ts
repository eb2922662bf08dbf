import { getTexts } from "../../core/context/content-text.ts";
import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import type { ToolCall, Usage } from "../../core/format/content.ts";
import { describeValue, isPromise } from "../../core/format/describe-value.ts";
import { isJsonRecord, type JsonObject, type JsonRecord, toSafeString } from "../../core/format/json.ts";
import {
  type AssistantMessage,
  type Message,
  type StopReason,
  UNKNOWN_NAME,
  type UserMessage,
} from "../../core/format/message.ts";
import { type AnswerFields, assistantMessage, type ConvertedAnswer } from "./answer.ts";
import { type ConversionIssue, type ConversionIssueCode, ConversionIssues } from "./conversion-issue.ts";
import { type MessageImportOptions, makeTimes, makeUsages } from "./conversion-options.ts";
import type { AnswerBlock, ReadResult } from "./dialect.ts";
import { type FormName, isSameJson, keepRaw, withoutFields } from "./raw-form.ts";
import { getCallId } from "./tool-ids.ts";

/** Session messages converted from an SDK's messages. */
export interface ConvertedMessages {
  readonly messages: Message[];
  readonly issues: readonly ConversionIssue[];
}

/**
 * Form of an SDK's messages: defaults, and functions that write messages back in this form.
 *
 * The written form is compared with the original, which is stored if they differ.
 */
export interface SdkForm {
  readonly name: FormName;
  /** Default of the option. */
  readonly api: string;
  /** Default of the option. */
  readonly provider: string;
  readonly writeUser: (content: UserMessage["content"]) => unknown;
  readonly writeAnswer: (content: readonly AnswerBlock[]) => unknown;
  readonly writeResult: (result: ReadResult, toolName: string, original: object) => unknown;
  /** Reads the usage of an answer as counted by the SDK. */
  readonly readUsage: (usage: object) => Usage;
  /** Normalizes equivalent forms of a message or of an array element. */
  readonly plain?: (message: object) => object;
}

/** Facts about an answer, from its response. Ids and names that are not strings are ignored. */
export interface ResponseFacts {
  readonly id: unknown;
  readonly model: unknown;
  /** Usage as reported by the SDK. */
  readonly usage: object | null | undefined;
  readonly stopReason: StopReason;
  /** The provider's stop reason. */
  readonly rawStopReason: unknown;
  /** Returns a description of the failure. Called only for failures. */
  readonly errorMessage: () => string;
}

/** Fields of an answer, and the original without parts that are never stored. */
type AnswerSource = Partial<AnswerFields> & { readonly original?: object };

/** Tool name for a result whose call is unknown. */
const UNKNOWN_TOOL = "unknown";

/** Collects converted messages in order. Stores an original if the converted message does not contain all of its data. */
export class History {
  readonly issues = new ConversionIssues();
  readonly #messages: Message[] = [];
  /** Last answer created from each input element, unless the answer has its own usage. */
  readonly #unmeasured = new Map<number, AssistantMessage>();
  readonly #usageAt: (index: number, isLast: boolean) => object | null | undefined;
  /** Calls by stored id. */
  readonly #calls = new Map<string, ToolCall>();
  /** Calls by the part of the id that a provider's results use. It may be the id of another call. */
  readonly #callsByPart = new Map<string, ToolCall>();
  readonly #form: SdkForm;
  readonly getTime: (index: number) => number;
  readonly #isAborted: boolean;
  readonly #identity: { readonly api: string; readonly provider: string; readonly model: string };
  /** Requested model; undefined if the options do not specify it. */
  readonly #asked: string | undefined;

  /**
   * @throws {TypeError} If the options do not contain a time, or contain usage that is not an object.
   */
  constructor(options: MessageImportOptions, form: SdkForm) {
    this.#form = form;
    this.getTime = makeTimes(options);
    this.#usageAt = makeUsages(options);
    this.#identity = {
      api: options.api ?? form.api,
      provider: options.provider ?? form.provider,
      model: options.model ?? UNKNOWN_NAME,
    };
    this.#asked = options.model;
    this.#isAborted = options.stopReason === "aborted";
  }

  get length(): number {
    return this.#messages.length;
  }

  system(index: number, content: string, original?: object): void {
    const again = { role: toRecord(original)["role"], content };
    const details = original && this.keep(index, original, again, "a system message");
    this.#messages.push({ role: "system", content, ...withDetails(details), timestamp: this.getTime(index) });
  }

  /** Adds instructions from a string or blocks. Reports blocks that are not text blocks. */
  instructions(index: number, content: unknown): void {
    this.system(index, getTexts(content).join("\n"));
    this.dropFromSystem(
      index,
      toArray(content).map((block) => toRecord(block)["type"]),
    );
  }

  /** Reports dropped parts of instructions, given the types of all parts. A session can contain only text. */
  dropFromSystem(index: number, types: readonly unknown[]): void {
    const dropped = types.filter((type) => type !== "text");
    if (dropped.length === 0) return;
    const what = dropped.map(toSafeString).join(", ");
    this.report("BLOCK_DROPPED", index, `Dropped ${what} from a system message; only text is kept.`);
  }

  /** Reports message fields that have a value but no counterpart. */
  dropFields(index: number, fields: object, what: string): void {
    for (const name of Object.keys(withoutFields(fields)))
      this.report("FLAG_DROPPED", index, `Dropped ${name} of ${what}.`);
  }

  user(index: number, content: UserMessage["content"], original?: object): void {
    const details = original && this.keep(index, original, this.#form.writeUser(content), "a user message");
    this.#messages.push({ role: "user", content, ...withDetails(details), timestamp: this.getTime(index) });
  }

  answer(
    index: number,
    content: AssistantMessage["content"],
    { original, ...fields }: AnswerSource = {},
  ): AssistantMessage {
    for (const block of content) {
      if (block.type !== "toolCall") continue;
      this.#calls.set(block.id, block);
      this.#callsByPart.set(getCallId(block.id), block);
    }
    const details = original && this.keep(index, original, this.#form.writeAnswer(content), "an answer");
    const message = assistantMessage(content, {
      ...this.#identity,
      timestamp: this.getTime(index),
      ...fields,
      ...withDetails(details),
    });
    this.#messages.push(message);
    if (fields.usage === undefined) this.#unmeasured.set(index, message);
    else this.#unmeasured.delete(index);
    return message;
  }

  response(
    index: number,
    content: AssistantMessage["content"],
    original: object,
    { id, model, usage, stopReason, rawStopReason, errorMessage }: ResponseFacts,
  ): AssistantMessage {
    return this.answer(index, content, {
      original,
      ...(typeof id === "string" && { responseId: id }),
      ...(typeof model === "string" && makeAnswerer(model, this.#asked)),
      ...(usage != null && { usage: this.#form.readUsage(usage) }),
      stopReason,
      ...(typeof rawStopReason === "string" && { rawStopReason }),
      ...(stopReason === "error" && { errorMessage: errorMessage() }),
    });
  }

  /** Adds a tool result with the stored id of its call. `details` are used if there is no original. */
  result(
    index: number,
    result: ReadResult,
    { original, toolName, details }: { original?: object; toolName?: string; details?: JsonObject } = {},
  ): void {
    const { toolCallId } = result;
    const call = this.#calls.get(toolCallId) ?? this.#callsByPart.get(toolCallId);
    const again = original && this.#form.writeResult(result, toolName ?? "", original);
    const kept = original === undefined ? details : this.keep(index, original, again, "a result");
    this.#messages.push({
      role: "toolResult",
      toolCallId: call?.id ?? toolCallId,
      toolName: toolName ?? call?.name ?? UNKNOWN_TOOL,
      content: result.content,
      ...withDetails(kept),
      isError: result.isError,
      timestamp: this.getTime(index),
    });
  }

  report(code: ConversionIssueCode, index: number, message: string): void {
    this.issues.report(code, index, message);
  }

  /** Stores and reports an original, unless the written message equals it. */
  keep(index: number, original: object, again: unknown, what: string): JsonObject | undefined {
    const { name, plain } = this.#form;
    const normal = (said: unknown): unknown => {
      if (Array.isArray(said)) return said.map(normal);
      return plain !== undefined && isJsonRecord(said) ? plain(said) : said;
    };
    if (isSameJson(normal(original), normal(again))) return undefined;
    this.report("KEPT_IN_DETAILS", index, `Kept ${what} in details.${name}: part of it has no counterpart.`);
    return keepRaw(name, original);
  }

  done(): ConvertedMessages {
    const last = this.#messages.findLast((message) => message.role === "assistant");
    if (last !== undefined && this.#isAborted) {
      last.stopReason = "aborted";
      delete last.errorMessage;
    }
    for (const [index, message] of this.#unmeasured) {
      const usage = this.#usageAt(index, message === last);
      if (usage != null) message.usage = this.#form.readUsage(usage);
    }
    return { messages: this.#messages, issues: this.issues.list() };
  }
}

/** Returns the fields for the responding model, whose name may differ from the requested model's. */
export function makeAnswerer(model: string, asked: string | undefined): Partial<AnswerFields> {
  if (asked === undefined) return { model };
  return asked === model ? {} : { responseModel: model };
}

/**
 * Returns the only answer in a history.
 *
 * @param facts - Data to store in the answer's `details`, next to the original.
 */
export function getOnlyAnswer(
  history: History,
  message: AssistantMessage,
  facts: JsonObject = {},
): ConvertedAnswer {
  const { issues } = history.done();
  if (Object.keys(facts).length === 0) return { message, issues };
  const { details } = message;
  const kept = typeof details === "object" && !Array.isArray(details) ? details : {};
  return { message: { ...message, details: { ...kept, ...facts } }, issues };
}

/** Returns the `details` field of a message, if it has details. */
export function withDetails(details: JsonObject | undefined): { details?: JsonObject } {
  return details === undefined ? {} : { details };
}

/** Name of an element in an SDK's arrays, for error messages. */
type Element = "Message" | "Item" | "Content";

/**
 * Throws if the argument of a converter is neither an array nor another object. A promise was not awaited.
 *
 * @param field - Field with the messages of a request that is not an array.
 */
export function assertRequest(request: unknown, field = "messages"): void {
  if (typeof request === "object" && request !== null && !isPromise(request)) return;
  throw new TypeError(
    `The request is ${describeValue(request)}. Pass an array of messages, or an object with \`${field}\`.`,
  );
}

/** Throws if the argument of a converter is not a response. */
export function assertResponse(response: unknown): void {
  if (isJsonRecord(response) && !isPromise(response)) return;
  throw new TypeError(
    `The response is ${describeValue(response)}, not an object. Await the SDK's response and pass it.`,
  );
}

/** Throws if a value that a response may omit is present and not an object. `name` is the path of its field. */
export function assertObjectOrMissing(value: unknown, name: string): void {
  if (value == null || isJsonRecord(value)) return;
  throw new TypeError(
    `\`${name}\` is ${describeValue(value)}, not an object. Pass the SDK's response unchanged.`,
  );
}

/** Creates the error for a response without the array of a field that it requires. */
export function makeNoResponseError(field: string, value: unknown): TypeError {
  return new TypeError(
    `\`${field}\` is ${describeValue(value)}, not an array. Await the SDK's response and pass it.`,
  );
}

/**
 * Throws if messages are not an array, or if a message or part is not an object, such as `null`, which JSON substitutes for NaN
 * and gaps in an array.
 *
 * @param field - Field of the input that contains the messages; undefined if they are the input.
 */
export function assertMessages(messages: unknown, element: Element = "Message", field?: string): void {
  for (const [index, message] of assertMessageList(messages, element, field).entries()) {
    const all = [...toArray(message["content"]), ...toArray(message["parts"])];
    const at = all.findIndex((part) => !isJsonRecord(part));
    if (at === -1) continue;
    throw new TypeError(
      `Part ${at} of ${element.toLowerCase()} ${index} is ${describeValue(all[at])}, not an object. ` +
        "Remove it from the list, or make it a part with text.",
    );
  }
}

/**
 * Throws as `assertMessages` does, but accepts any parts: a session may store them, and a host's own roles may have them.
 *
 * @returns The messages.
 */
export function assertMessageList(
  messages: unknown,
  element: Element = "Message",
  field?: string,
): readonly JsonRecord[] {
  if (!Array.isArray(messages)) {
    const name = field === undefined ? "The list of messages" : `\`${field}\``;
    throw new TypeError(
      `${name} is ${describeValue(messages)}, not an array. Pass the ${element.toLowerCase()}s as an array.`,
    );
  }
  return messages.map((message: unknown, index) => {
    if (isJsonRecord(message)) return message;
    throw new TypeError(
      `${element} ${index} is ${describeValue(message)}, not an object. Remove it from the list.`,
    );
  });
}

/** Creates the error for a message with an unknown role. `known` describes the known roles. */
export function makeUnknownRoleError(
  index: number,
  role: unknown,
  known: string,
  element: Element = "Message",
): TypeError {
  return new TypeError(`${element} ${index} has the role ${JSON.stringify(role)}${known}.`);
}

/** Returns whether messages were passed as an array rather than in a request. */
export function isList<Message>(messages: object | readonly Message[]): messages is readonly Message[] {
  return Array.isArray(messages);
}
