/** Plain text. */
export interface TextContent {
  type: "text";
  text: string;
  /** Provider's signature of the text; never altered. */
  textSignature?: string;
}

/** An image, inline. */
export interface ImageContent {
  type: "image";
  /** Base64. */
  data: string;
  /** For example `image/png`. */
  mimeType: string;
}

/** What a model thought before it answered. */
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
  /** What the model gave; JSON when it is stored. */
  // biome-ignore lint/suspicious/noExplicitAny: tools type their own arguments, and pi's declarations ask for JSON.
  arguments: { [name: string]: any };
  thoughtSignature?: string;
  namespace?: string;
}

/** Tokens and cost of one model call, as its provider counted them. */
export interface Usage {
  /** Tokens of input that no cache served. */
  input: number;
  /** Tokens of output, reasoning included. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWrite1h?: number;
  /** The part of `output` that was reasoning; never add it again. */
  reasoning?: number;
  totalTokens: number;
  /** In US dollars. */
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    /** Whether `total` was billed by the provider rather than computed. */
    totalFromProvider?: boolean;
  };
}
