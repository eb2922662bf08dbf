import { isJsonRecord } from "../../core/format/json.ts";

/** Options for the target model and the source of a request. */
export interface RequestOptions {
  /**
   * Id of the requested model. Thinking and signatures from other models are dropped. Default: the model of the last
   * answer.
   */
  readonly model?: string;
  /** Provider of the model, such as `openrouter`. Default: the provider of the last answer received through this API. */
  readonly provider?: string;
  /** Whether to drop all thinking, for a retry after the provider rejected it. Default: false. */
  readonly dropThinking?: boolean;
  /** Leaf for which to create the request. Default: the session's leaf. */
  readonly leafId?: string;
  /**
   * For a session: the system text that is sent instead of the request's own system text. Compared with the text stored with
   * earlier answers.
   */
  readonly system?: unknown;
  /** For a session: the tools that are sent. Compared with the tools stored with earlier answers. */
  readonly tools?: readonly object[];
}

/** Facts that a provider's messages do not contain. */
export interface MessageImportOptions {
  /** Time in Unix milliseconds: one value for all messages, or a function of the index. */
  readonly timestamp: number | ((index: number) => number);
  /** Id of the responding model. Default: the id in the response, or `unknown`. */
  readonly model?: string;
  /**
   * Usage of the last answer, as reported by the SDK, or a function that returns the usage for an answer's index.
   * Default: the usage in whole responses among the messages.
   */
  readonly usage?: object | ((index: number) => object | null | undefined);
  /** `"aborted"` for a snapshot of a stopped stream, which does not indicate that it was stopped. Applies to the last answer. */
  readonly stopReason?: "aborted";
  /**
   * Request that was sent. Hashes of its system text, tools, and messages are stored with the answer, so that later
   * requests drop its thinking only if they differ. Only for responses from Anthropic and Bedrock.
   */
  readonly request?: object;
  /** Provider of the model. Default: the company that owns the API. */
  readonly provider?: string;
  /** Name of the API in the session format, such as `openai-responses`. Default: the API of the called function. */
  readonly api?: string;
}

/** Returns a function that returns the time of a message. Throws a `TypeError` if the options do not contain a time. */
export function makeTimes(options: MessageImportOptions | undefined): (index: number) => number {
  const timestamp: unknown = options?.timestamp;
  if (typeof timestamp === "function") return (index) => asTime(timestamp(index));
  const time = asTime(timestamp);
  return () => time;
}

/** Returns a function that returns the usage of an answer from its index and whether it is the last answer. */
export function makeUsages({
  usage,
}: MessageImportOptions): (index: number, isLast: boolean) => object | null | undefined {
  const input: unknown = usage;
  if (typeof usage === "function") return (index) => usage(index);
  if (input !== undefined && !isJsonRecord(input))
    throw new TypeError(
      "The usage of an answer must be an object, as reported by the SDK, or a function of the index.",
    );
  return (_, isLast) => (isLast ? usage : undefined);
}

function asTime(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError("A conversion requires the time of the messages; pass { timestamp: Date.now() }.");
}

/**
 * Type with at least these fields: an SDK's own type, or an object literal with additional fields.
 *
 * Interfaces have no index signature, and object literals must not have unknown fields. Each alternative accepts one of these.
 */
export type Open<T> = T | (T & { readonly [field: string]: unknown });
