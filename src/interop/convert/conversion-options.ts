import { isJsonRecord } from "../../core/format/json.ts";

/** Options for the model and the source of a request. */
export interface RequestOptions {
  /**
   * Id of the requested model. Thinking and signatures of other models are dropped. Default: the model of the last
   * answer.
   */
  readonly model?: string;
  /** Provider of the model, such as `openrouter`. Default: that of the last answer over this API. */
  readonly provider?: string;
  /** Whether to drop all thinking, for a retry after the provider rejected it. Default: false. */
  readonly dropThinking?: boolean;
  /** Leaf of a session at which to send the request. Default: the session's leaf. */
  readonly leafId?: string;
  /**
   * For a session: the system text that you send, if it is not the request's own. Compared with the text kept with
   * earlier answers.
   */
  readonly system?: unknown;
  /** For a session: the tools that you send. Compared with those kept with earlier answers. */
  readonly tools?: readonly object[];
}

/** Facts that a provider's messages do not contain. */
export interface MessageImportOptions {
  /** Unix milliseconds: one value for all messages, or a function of the index. */
  readonly timestamp: number | ((index: number) => number);
  /** Id of the responding model. Default: the response's, or `unknown`. */
  readonly model?: string;
  /**
   * Usage of the last answer, as reported by the SDK, or a function that returns it for the index of an answer's
   * element. Default: the usage of whole responses among the messages.
   */
  readonly usage?: object | ((index: number) => object | null | undefined);
  /** `"aborted"` for a snapshot of a stream, which does not show that it was stopped: applies to the last answer. */
  readonly stopReason?: "aborted";
  /**
   * The request that was sent: hashes of its system text, tools, and messages are kept with the answer, so that later
   * requests drop its thinking exactly where they differ. Only for responses of Anthropic and Bedrock.
   */
  readonly request?: object;
  /** Provider of the model. Default: the company that owns the API. */
  readonly provider?: string;
  /** Name of the API in the session format, such as `openai-responses`. Default: that of the called function. */
  readonly api?: string;
}

/** Returns a function for the time of a message, which the options must contain. */
export function makeTimes(options: MessageImportOptions | undefined): (index: number) => number {
  const timestamp: unknown = options?.timestamp;
  if (typeof timestamp === "function") return (index) => asTime(timestamp(index));
  const time = asTime(timestamp);
  return () => time;
}

/** Returns a function for the usage of an answer, given its index and whether it is the last one. */
export function makeUsages({
  usage,
}: MessageImportOptions): (index: number, isLast: boolean) => object | null | undefined {
  const input: unknown = usage;
  if (typeof usage === "function") return (index) => usage(index);
  if (input !== undefined && !isJsonRecord(input))
    throw new TypeError(
      "The usage of an answer is an object, as the SDK reports it, or a function of the index.",
    );
  return (_, isLast) => (isLast ? usage : undefined);
}

function asTime(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError("A conversion needs the time of the messages; pass { timestamp: Date.now() }.");
}

/**
 * A type with at least these fields: an SDK's own type, or an object literal with more fields.
 *
 * Interfaces have no index signature, and object literals may not have unknown fields; each alternative accepts one
 * of the two.
 */
export type Open<T> = T | (T & { readonly [field: string]: unknown });
