import type { ThinkingContent } from "../schema/content.ts";

/** Makes a block of thinking that the provider withheld, from the data it sent instead. */
export function redactedThinking(data: string): ThinkingContent {
  return { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: data, redacted: true };
}
