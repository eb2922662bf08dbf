import { toCount, toRecord } from "../../core/context/entry-fields.ts";
import { assertArgument, BLOCKS } from "../../core/format/arguments.ts";
import type { Usage } from "../../core/format/content.ts";
import { type AssistantMessage, type StopReason, UNKNOWN_NAME } from "../../core/format/message.ts";
import type { ConversionIssue } from "./conversion-issue.ts";

/** Answer created from a provider's response. */
export interface ConvertedAnswer {
  readonly message: AssistantMessage;
  readonly issues: readonly ConversionIssue[];
}

/** Fields of an assistant message. Omitted fields have defaults. */
export type AnswerFields = Pick<AssistantMessage, "timestamp"> &
  Partial<Omit<AssistantMessage, "role" | "content">>;

/**
 * Creates an assistant message, with defaults for omitted fields.
 *
 * @param content - String or blocks.
 * @param fields - Fields of the message. `timestamp`, in Unix milliseconds, is required. Defaults: no tokens; `unknown`
 *   API, provider, and model; stop reason `toolUse` if the message calls tools, otherwise `stop`.
 * @throws {TypeError} If `timestamp` is missing.
 * @example
 * import { SessionManager } from "sessiontree";
 * import { assistantMessage } from "sessiontree/convert";
 *
 * const session = SessionManager.inMemory();
 * session.appendMessage(assistantMessage("Good morning.", { timestamp: Date.now() }));
 */
export function assistantMessage(
  content: string | AssistantMessage["content"],
  fields: AnswerFields,
): AssistantMessage {
  if (!Number.isFinite(fields?.timestamp)) {
    throw new TypeError("An assistant message requires a time; pass { timestamp: Date.now() }.");
  }
  assertArgument("content", content, BLOCKS);
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    role: "assistant",
    content: blocks,
    api: UNKNOWN_NAME,
    provider: UNKNOWN_NAME,
    model: UNKNOWN_NAME,
    usage: toUsage(),
    stopReason: chooseStopReason("stop", blocks),
    ...fields,
  };
}

/** Map from a provider's stop reasons to session stop reasons. */
export type StopReasons = ReadonlyMap<unknown, StopReason>;

/** Stop reasons of Anthropic, Bedrock, OpenAI Chat, and LangChain, which do not conflict. */
export const STOP_REASONS: StopReasons = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["tool_use", "toolUse"],
  ["tool_calls", "toolUse"],
  ["function_call", "toolUse"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "error"],
  ["safety", "error"],
  ["content_filter", "error"],
  ["content_filtered", "error"],
  ["guardrail_intervened", "error"],
  ["malformed_model_output", "error"],
  ["malformed_tool_use", "error"],
]);

/** Returns the actual stop reason. Some servers report a normal stop even though the model is waiting for tool results. */
export function chooseStopReason(reported: StopReason, content: AssistantMessage["content"]): StopReason {
  const isCalling = content.some(({ type }) => type === "toolCall");
  return reported === "stop" && isCalling ? "toolUse" : reported;
}

/** Token counts reported by a provider. Unknown counts may be omitted. */
interface TokenCounts {
  readonly input?: unknown;
  /** Input count that includes both caches, used if `input` is unknown. */
  readonly inputWithCache?: unknown;
  readonly output?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
  readonly cacheWrite1h?: unknown;
  readonly reasoning?: unknown;
  /** Total number of tokens. Default: the sum of input, output, and both caches. */
  readonly total?: unknown;
  /** Cost in US dollars. Most providers do not report it. */
  readonly cost?: unknown;
}

/** Creates usage from a provider's counts. */
export function toUsage(counts: TokenCounts = {}): Usage {
  const output = toCount(counts.output);
  const cacheRead = toCount(counts.cacheRead);
  const cacheWrite = toCount(counts.cacheWrite);
  const input = toCount(counts.input ?? toCount(counts.inputWithCache) - cacheRead - cacheWrite);
  const cacheWrite1h = toCount(counts.cacheWrite1h);
  const reasoning = toCount(counts.reasoning);
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    ...(reasoning > 0 && { reasoning }),
    totalTokens: toCount(counts.total) || input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: toCount(counts.cost) },
  };
}

/** Terms for input and output tokens in OpenAI's two APIs. */
interface TokenWords {
  readonly input: "input" | "prompt";
  readonly output: "output" | "completion";
}

/** Reads the usage of an OpenAI response, whose input includes cached tokens. */
export function readOpenAIUsage(usage: object | null | undefined, { input, output }: TokenWords): Usage {
  const counts = toRecord(usage);
  const details = toRecord(counts[`${input}_tokens_details`]);
  return toUsage({
    inputWithCache: counts[`${input}_tokens`],
    output: counts[`${output}_tokens`],
    cacheRead: details["cached_tokens"],
    cacheWrite: details["cache_write_tokens"],
    reasoning: toRecord(counts[`${output}_tokens_details`])["reasoning_tokens"],
    total: counts["total_tokens"],
  });
}
