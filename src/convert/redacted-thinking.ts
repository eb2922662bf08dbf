import type { ThinkingContent } from "../schema/content.ts";

/** Makes thinking that the provider withheld, out of what it gave in its place. */
export function redactedThinking(data: string): ThinkingContent {
  return { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: data, redacted: true };
}
