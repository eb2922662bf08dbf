import { getTexts } from "../../core/context/content-text.ts";
import { toArray, toRecord } from "../../core/context/entry-fields.ts";
import type { ToolCall, Usage } from "../../core/format/content.ts";
import { isJsonRecord, type JsonObject } from "../../core/format/json.ts";
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

/** Messages converted from an SDK's. */
export interface ConvertedMessages {
  readonly messages: Message[];
  readonly issues: readonly ConversionIssue[];
}

/**
 * The messages of an SDK, to convert them to those of a session: their names, and what they become again.
 *
 * What is written is compared with the original, which is kept if the two differ.
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
  /** Reads what an answer used, as the SDK counts it. */
  readonly readUsage: (usage: object) => Usage;
  /** Normalizes equivalent forms of a message, or of each element of a list. */
  readonly plain?: (message: object) => object;
}

/** Facts of a response about its answer. */
export interface ResponseFacts {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** As the SDK reports it. */
  readonly usage: object | null | undefined;
  readonly stopReason: StopReason;
  /** The provider's stop reason. */
  readonly rawStopReason: string | undefined;
  /** Returns what went wrong; called only for failures. */
  readonly errorMessage: () => string;
}

/** Fields of an answer, and its original without what is never stored. */
type AnswerSource = Partial<AnswerFields> & { readonly original?: object };

/** Name of a tool whose call is unknown. */
const UNKNOWN_TOOL = "unknown";

/** Collects converted messages in order. Keeps the originals of those that do not hold all of theirs. */
export class History {
  readonly issues = new ConversionIssues();
  readonly #messages: Message[] = [];
  /** The last answer of each element of the list, unless it has a usage of its own. */
  readonly #unmeasured = new Map<number, AssistantMessage>();
  readonly #usageAt: (index: number, isLast: boolean) => object | null | undefined;
  /** Calls by our ids, and by the part of them that a provider's results use. */
  readonly #calls = new Map<string, ToolCall>();
  readonly #form: SdkForm;
  readonly getTime: (index: number) => number;
  readonly #isAborted: boolean;
  readonly #identity: { readonly api: string; readonly provider: string; readonly model: string };
  /** The model that was asked; undefined if the options do not say. */
  readonly #asked: string | undefined;

  /** @throws {TypeError} If the options have no time, or a usage that is no object. */
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

  /** Adds instructions from a text or blocks; reports the blocks that are no texts. */
  instructions(index: number, content: unknown): void {
    this.system(index, getTexts(content).join("\n"));
    this.dropFromSystem(
      index,
      toArray(content).map((block) => toRecord(block)["type"]),
    );
  }

  /** Reports the parts of instructions that are dropped, by the types of all: a session holds the texts. */
  dropFromSystem(index: number, types: readonly unknown[]): void {
    const dropped = types.filter((type) => type !== "text");
    if (dropped.length === 0) return;
    const what = dropped.map(String).join(", ");
    this.report("BLOCK_DROPPED", index, `Dropped ${what} of a system message, of which only texts are kept.`);
  }

  /** Reports fields of a message that have no counterpart, if they have a value. */
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
      if (block.type === "toolCall") this.#calls.set(block.id, block).set(getCallId(block.id), block);
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
      ...(id !== undefined && { responseId: id }),
      ...(model !== undefined && makeAnswerer(model, this.#asked)),
      ...(usage != null && { usage: this.#form.readUsage(usage) }),
      stopReason,
      ...(rawStopReason !== undefined && { rawStopReason }),
      ...(stopReason === "error" && { errorMessage: errorMessage() }),
    });
  }

  /** Adds a tool result, under our id of its call; `details` are kept if the original is not. */
  result(
    index: number,
    result: ReadResult,
    { original, toolName, details }: { original?: object; toolName?: string; details?: JsonObject } = {},
  ): void {
    const call = this.#calls.get(result.toolCallId);
    const again = original && this.#form.writeResult(result, toolName ?? "", original);
    const kept = original === undefined ? details : this.keep(index, original, again, "a result");
    this.#messages.push({
      role: "toolResult",
      toolCallId: call?.id ?? result.toolCallId,
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

  /** Keeps an original, and reports that, unless the SDK would get the same without it. */
  keep(index: number, original: object, again: unknown, what: string): JsonObject | undefined {
    const { name, plain } = this.#form;
    const normal = (said: unknown): unknown => {
      if (Array.isArray(said)) return said.map(normal);
      return plain !== undefined && isJsonRecord(said) ? plain(said) : said;
    };
    if (isSameJson(normal(original), normal(again))) return undefined;
    this.report(
      "KEPT_IN_DETAILS",
      index,
      `Kept ${what} in details.${name}: not all of it has a counterpart.`,
    );
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

/** Tells who answered: the model that was asked, if that is known, may have another name. */
export function makeAnswerer(model: string, asked: string | undefined): Partial<AnswerFields> {
  if (asked === undefined) return { model };
  return asked === model ? {} : { responseModel: model };
}

/**
 * Returns the only answer of a history.
 *
 * @param facts - What is kept in its `details` beside the original.
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

/** Returns the `details` field of a message, if there are details. */
export function withDetails(details: JsonObject | undefined): { details?: JsonObject } {
  return details === undefined ? {} : { details };
}

/** What an SDK calls the elements of its lists. */
type Element = "Message" | "Item" | "Content";

/** Refuses messages and parts that are no objects, such as `null`, which JSON has for a gap in a list and for NaN. */
export function assertMessages(messages: readonly unknown[], element: Element = "Message"): void {
  messages.forEach((message, index) => {
    if (!isJsonRecord(message)) {
      throw new TypeError(
        `${element} ${index} is ${describeValue(message)}, not an object. Remove it from the list.`,
      );
    }
    const { content, parts } = toRecord(message);
    const all = [...toArray(content), ...toArray(parts)];
    const at = all.findIndex((part) => !isJsonRecord(part));
    if (at === -1) return;
    throw new TypeError(
      `Part ${at} of ${element.toLowerCase()} ${index} is ${describeValue(all[at])}, not an object. ` +
        "Remove it from the list, or make it a part with a text.",
    );
  });
}

/** Makes the error for a message of an unknown role, with the roles that are known. */
export function makeUnknownRoleError(
  index: number,
  role: unknown,
  known: string,
  element: Element = "Message",
): TypeError {
  return new TypeError(`${element} ${index} has the role ${JSON.stringify(role)}${known}.`);
}

/** Tells whether messages were passed as a list rather than in a request. */
export function isList<Message>(messages: object | readonly Message[]): messages is readonly Message[] {
  return Array.isArray(messages);
}

/** Names a value without showing what it holds. */
function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "string" ? "a text" : String(value);
}
