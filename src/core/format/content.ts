/** Plain text. */
export interface TextContent {
  type: "text";
  text: string;
  /** Provider's signature of the text; never altered. */
  textSignature?: string;
}

/** Inline image. */
export interface ImageContent {
  type: "image";
  /** Base64. */
  data: string;
  /** For example `image/png`. */
  mimeType: string;
}

/** A model's thinking before its answer. */
export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  /** Provider's signature of the thinking; never altered. */
  thinkingSignature?: string;
  /** Whether the provider withheld the text. */
  redacted?: boolean;
}

/** A model's request to run a tool. */
export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  /** Arguments provided by the model. Stored as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tools type their own arguments, and pi's declarations require JSON.
  arguments: { [name: string]: any };
  thoughtSignature?: string;
  namespace?: string;
}

/** Tokens and cost of one model call, as counted by its provider. */
export interface Usage {
  /** Input tokens not read from a cache. */
  input: number;
  /** Output tokens, including reasoning. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Part of `cacheWrite` that is cached for one hour. */
  cacheWrite1h?: number;
  /** Part of `output` that was used for reasoning. Already included in `output`. */
  reasoning?: number;
  totalTokens: number;
  /** In US dollars. */
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    /** Whether `total` was reported by the provider instead of computed. */
    totalFromProvider?: boolean;
  };
}
