import { isJsonRecord } from "../../core/format/json.ts";

/** Which model a request is for. */
export interface RequestOptions {
  /**
   * Id of the model that you ask. Thinking and signatures of other models are dropped. Default: the model that answered
   * last.
   */
  readonly model?: string;
  /** Provider of the model, such as `openrouter`. Default: the one that answered last over this API. */
  readonly provider?: string;
  /** Whether to drop all thinking, for a retry after the provider refused it. Default: false. */
  readonly dropThinking?: boolean;
  /** Of a session: the leaf at which to ask. Default: the session's. */
  readonly leafId?: string;
  /** Of a session: the system text that you send, if it is not the request's own. Compared with what earlier answers keep. */
  readonly system?: unknown;
  /** Of a session: the tools that you send. Compared with what earlier answers keep. */
  readonly tools?: readonly object[];
}

/** What a provider's messages do not contain. */
export interface MessageImportOptions {
  /** Unix milliseconds: one value for all messages, or a function of the index. */
  readonly timestamp: number | ((index: number) => number);
  /** Id of the model that answered. Default: the response's, or `unknown`. */
  readonly model?: string;
  /**
   * What the last answer used, as the SDK reports it, or a function that tells it by the index of the answer's element.
   * Default: what stands in the list, where whole responses are among the messages.
   */
  readonly usage?: object | ((index: number) => object | null | undefined);
  /** `"aborted"` for a snapshot of a stream, which cannot say that it was stopped: applies to the last answer. */
  readonly stopReason?: "aborted";
  /**
   * The request that was sent: hashes of its system text, tools and messages are kept with the answer, so that later requests
   * drop its thinking exactly where they differ. Only for responses of Anthropic and Bedrock.
   */
  readonly request?: object;
  /** Provider of the model. Default: the company that owns the API. */
  readonly provider?: string;
  /** Name of the API as the format spells it, such as `openai-responses`. Default: the one of the function that you call. */
  readonly api?: string;
}

/** Returns a function that returns the time of a message, which the options must have. */
export function makeTimes(options: MessageImportOptions | undefined): (index: number) => number {
  const timestamp: unknown = options?.timestamp;
  if (typeof timestamp === "function") return (index) => asTime(timestamp(index));
  const time = asTime(timestamp);
  return () => time;
}

/** Returns a function that returns the usage of an answer, by its index and whether it is the last one. */
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
