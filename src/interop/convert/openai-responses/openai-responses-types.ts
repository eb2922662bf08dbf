import type { ConversionIssue } from "../conversion-issue.ts";
import type { Open, RequestOptions } from "../conversion-options.ts";

/** A text part of an input message. */
export interface OpenAIInputText {
  type: "input_text";
  text: string;
}

/** An image part of an input message, inline as a `data:` URL. */
export interface OpenAIInputImage {
  type: "input_image";
  detail: "auto";
  image_url: string;
}

/** A user or developer message, or an answer of another model. */
export interface OpenAIInputMessage {
  role: "user" | "developer" | "assistant";
  content: string | (OpenAIInputText | OpenAIInputImage)[];
  phase?: "commentary" | "final_answer";
}

/** Part of an answer in the model's own item. */
export interface OpenAIOutputMessage {
  type: "message";
  role: "assistant";
  id: string;
  status: "completed";
  content: { type: "output_text"; text: string; annotations: [] }[];
  phase?: "commentary" | "final_answer";
}

/** Reasoning from the provider, which must stay with the item after it. */
export interface OpenAIReasoningItem {
  type: "reasoning";
  id: string;
  summary: { type: "summary_text"; text: string }[];
  content?: { type: "reasoning_text"; text: string }[];
  encrypted_content?: string | null;
}

/** A call of a function; `arguments` is JSON. */
export interface OpenAIFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
  id?: string;
  namespace?: string;
}

/** A call of a custom tool, which takes any text. */
export interface OpenAICustomToolCall {
  type: "custom_tool_call";
  call_id: string;
  name: string;
  input: string;
  id?: string;
  namespace?: string;
}

/** Result of a call. */
export interface OpenAICallOutput {
  type: "function_call_output" | "custom_tool_call_output";
  call_id: string;
  output: string | (OpenAIInputText | OpenAIInputImage)[];
}

/** An item of a request. */
export type OpenAIResponsesItem =
  | OpenAIInputMessage
  | OpenAIOutputMessage
  | OpenAIReasoningItem
  | OpenAIFunctionCall
  | OpenAICustomToolCall
  | OpenAICallOutput;

/** Options of `toOpenAIResponses`. */
export interface OpenAIResponsesOptions extends RequestOptions {
  /**
   * The request's own `store`. If false, the provider cannot read reasoning without `encrypted_content`, so that is
   * dropped, as are references to stored items. Default: true, as with the provider.
   */
  readonly store?: boolean;
}

/** What `toOpenAIResponses` makes: `const { issues, ...request } = toOpenAIResponses(messages)` is for `responses.create`. */
export interface OpenAIResponsesRequest {
  /** Absent if there is no system message in front. */
  instructions?: string;
  input: OpenAIResponsesItem[];
  issues: ConversionIssue[];
}

/** An item as the SDK types it, and as `toOpenAIResponses` makes it. Messages and references may be without a type. */
export type OpenAIResponsesItemLike =
  | Open<{ readonly type: string }>
  | Open<{ readonly id: string }>
  | Open<{ readonly role: string; readonly content: unknown }>;

/** A request as the SDK types it, and as `toOpenAIResponses` makes it. */
export type OpenAIResponsesRequestLike = Open<{
  readonly instructions?: string | null | undefined;
  readonly input?: string | readonly OpenAIResponsesItemLike[] | undefined;
}>;

/** A response as the SDK types it. */
export type OpenAIResponsesResponseLike = Open<{
  readonly id: string;
  readonly model: string;
  readonly output: readonly Open<{ readonly type: string }>[];
  readonly status?: string | undefined;
  readonly usage?: Open<{ readonly input_tokens: number; readonly output_tokens: number }> | undefined;
}>;
