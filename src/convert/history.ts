import type { ToolCall, Usage } from "../schema/content.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AssistantMessage, Message, StopReason, UserMessage } from "../schema/message.ts";
import { type AnswerFields, assistantMessage, type ConvertedAnswer } from "./answer.ts";
import { type ConversionIssue, type ConversionIssueCode, ConversionIssues } from "./conversion-issue.ts";
import { type MessageImportOptions, timesOf } from "./conversion-options.ts";
import type { ReadResult } from "./dialect.ts";
import { type FormName, isSameJson, keepRaw, withoutFields } from "./raw-form.ts";
import { callIdOf } from "./tool-ids.ts";

/** Messages converted from an SDK's. */
export interface ConvertedMessages {
  readonly messages: Message[];
  readonly issues: readonly ConversionIssue[];
}

/** Form of the messages, and defaults of the options. */
export interface HistoryDefaults {
  readonly form: FormName;
  readonly api: string;
  readonly provider: string;
}

/** Facts of a response about its answer. */
export interface ResponseFacts {
  readonly id: string | undefined;
  /** The requested model, if known. */
  readonly askedModel: string | undefined;
  /** The model that answered. */
  readonly model: string | undefined;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** The provider's stop reason. */
  readonly rawStopReason: string | undefined;
  /** Returns what went wrong; called only for failures. */
  readonly errorMessage: () => string;
  readonly details: JsonObject | undefined;
}

/** Name of a tool whose call is unknown. */
const UNKNOWN_TOOL = "unknown";

/** Collects converted messages in order. */
export class History {
  readonly issues = new ConversionIssues();
  readonly #messages: Message[] = [];
  /** Calls by our ids, and by the part of them that a provider's results use. */
  readonly #calls = new Map<string, ToolCall>();
  readonly #form: FormName;
  /** Returns the time of a message. */
  readonly timeOf: (index: number) => number;
  readonly #identity: { readonly api: string; readonly provider: string; readonly model: string };

  /** @throws {TypeError} If the options have no time. */
  constructor(options: MessageImportOptions, { form, api, provider }: HistoryDefaults) {
    this.#form = form;
    this.timeOf = timesOf(options);
    this.#identity = {
      api: options.api ?? api,
      provider: options.provider ?? provider,
      model: options.model ?? "unknown",
    };
  }

  /** Number of messages. */
  get length(): number {
    return this.#messages.length;
  }

  /** Adds instructions. */
  system(index: number, content: string, details?: JsonObject): void {
    this.#messages.push({ role: "system", content, ...withDetails(details), timestamp: this.timeOf(index) });
  }

  /** Reports parts of instructions that were dropped, by their types: a session holds the texts. */
  dropFromSystem(index: number, types: readonly unknown[]): void {
    if (types.length === 0) return;
    const what = types.map(String).join(", ");
    this.report("BLOCK_DROPPED", index, `Dropped ${what} of a system message, of which only texts are kept.`);
  }

  /** Reports fields of instructions that have no counterpart, if they have a value. */
  dropFields(index: number, fields: object): void {
    for (const name of Object.keys(withoutFields(fields)))
      this.report("FLAG_DROPPED", index, `Dropped ${name} of a system message.`);
  }

  /** Adds a user message. */
  user(index: number, content: UserMessage["content"], details?: JsonObject): void {
    this.#messages.push({ role: "user", content, ...withDetails(details), timestamp: this.timeOf(index) });
  }

  /** Adds an answer and returns it. */
  answer(
    index: number,
    content: AssistantMessage["content"],
    fields: Partial<AnswerFields> = {},
  ): AssistantMessage {
    for (const block of content) {
      if (block.type === "toolCall") this.#calls.set(block.id, block).set(callIdOf(block.id), block);
    }
    const message = assistantMessage(content, {
      ...this.#identity,
      timestamp: this.timeOf(index),
      ...fields,
    });
    this.#messages.push(message);
    return message;
  }

  /** Adds and returns the answer of a response, the only message of this history. */
  response(content: AssistantMessage["content"], response: ResponseFacts): ConvertedAnswer {
    const { id, askedModel, model, usage, stopReason, rawStopReason, errorMessage, details } = response;
    const message = this.answer(0, content, {
      ...(id !== undefined && { responseId: id }),
      ...(askedModel !== undefined &&
        model !== undefined &&
        askedModel !== model && { responseModel: model }),
      usage,
      stopReason,
      ...(rawStopReason !== undefined && { rawStopReason }),
      ...(stopReason === "error" && { errorMessage: errorMessage() }),
      ...withDetails(details),
    });
    return { message, issues: this.issues.list() };
  }

  /** Adds a tool result, under our id of its call. */
  result(index: number, result: ReadResult, details?: JsonObject, toolName?: string): void {
    const call = this.#calls.get(result.toolCallId);
    this.#messages.push({
      role: "toolResult",
      toolCallId: call?.id ?? result.toolCallId,
      toolName: toolName ?? call?.name ?? UNKNOWN_TOOL,
      content: result.content,
      ...withDetails(details),
      isError: result.isError,
      timestamp: this.timeOf(index),
    });
  }

  /** Reports an issue. */
  report(code: ConversionIssueCode, index: number, message: string): void {
    this.issues.report(code, index, message);
  }

  /**
   * Keeps an original if converting it back would not restore it, and reports that.
   *
   * @param given - The original, without what is never stored.
   * @param again - What the SDK would get without it.
   * @param what - Name of the original, for the report.
   * @param plain - Normalises equivalent forms.
   */
  keep(
    index: number,
    given: object,
    again: object,
    what: string,
    plain = (said: object) => said,
  ): JsonObject | undefined {
    if (isSameJson(plain(given), plain(again))) return undefined;
    this.report(
      "KEPT_IN_DETAILS",
      index,
      `Kept ${what} in details.${this.#form}: not all of it has a counterpart.`,
    );
    return keepRaw(this.#form, given);
  }

  /** Returns the messages and issues. */
  done(): ConvertedMessages {
    return { messages: this.#messages, issues: this.issues.list() };
  }
}

/** Returns the `details` field of a message, if there are details. */
export function withDetails(details: JsonObject | undefined): { details?: JsonObject } {
  return details === undefined ? {} : { details };
}
