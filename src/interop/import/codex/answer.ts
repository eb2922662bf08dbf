import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import { type AssistantMessage, UNKNOWN_NAME } from "../../../core/format/message.ts";
import { assistantMessage, usageOf } from "../../convert/answer.ts";
import type { ThreadState } from "../entry-thread.ts";
import type { Draft } from "../session-builder.ts";

/** An unfinished answer: items are added to it, and its usage comes later. */
export interface Answer {
  readonly draft: Draft;
  readonly message: AssistantMessage;
  readonly before: ThreadState;
  /** Whether its usage is known. */
  isCounted: boolean;
}

/** Provider and model of the answer. */
export interface AnsweringModel {
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** Creates an answer without blocks. */
export function emptyAnswer({ provider, model }: AnsweringModel, timestamp: number): AssistantMessage {
  return assistantMessage([], {
    api: provider === undefined ? "openai-codex-responses" : "openai-responses",
    provider: provider ?? "openai-codex",
    model: model ?? UNKNOWN_NAME,
    timestamp,
  });
}

/** Tells whether an answer contains only text. */
export function isText(message: AssistantMessage): boolean {
  return message.content.length > 0 && message.content.every(({ type }) => type !== "toolCall");
}

/** Converts the tokens of a call; the source's input includes cache reads and writes. */
export function usageOfTokens(tokens: JsonRecord): Usage {
  return usageOf({
    inputWithCache: tokens["input_tokens"],
    output: tokens["output_tokens"],
    cacheRead: tokens["cached_input_tokens"],
    cacheWrite: tokens["cache_write_input_tokens"],
    reasoning: tokens["reasoning_output_tokens"],
    total: tokens["total_tokens"],
  });
}
