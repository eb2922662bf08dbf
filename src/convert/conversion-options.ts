/** Whom a request is for. */
export interface RequestOptions {
  /**
   * Id of the model that is asked. Thinking and signatures of any other model stay out of the request. Default: the model
   * that answered last.
   */
  readonly model?: string;
  /** Who serves the model, such as `openrouter`. Default: the provider that answered last over this API. */
  readonly provider?: string;
  /** Whether all thinking stays out, as after a provider refused it. Default: false. */
  readonly dropThinking?: boolean;
}

/** What a provider's messages do not say about themselves. */
export interface ImportOptions {
  /** Unix milliseconds, for all messages or by the index of what is converted. */
  readonly timestamp: number | ((index: number) => number);
  /** Id of the model that answered. Default: `unknown`, or what a response says. */
  readonly model?: string;
  /** Who served the model. Default: the company whose API it is. */
  readonly provider?: string;
  /** The API that was spoken, in the words of the format. Default: the one of the function that is called. */
  readonly api?: string;
}

/**
 * Makes the function that tells when a message was said.
 *
 * @throws {TypeError} If there is no time.
 */
export function timesOf(options: ImportOptions | undefined): (index: number) => number {
  const timestamp: unknown = options?.timestamp;
  if (typeof timestamp === "function") return (index) => asTime(timestamp(index));
  const time = asTime(timestamp);
  return () => time;
}

function asTime(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError("A conversion needs the time of the messages; give { timestamp: Date.now() }.");
}
