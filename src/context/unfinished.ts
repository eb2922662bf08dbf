import type { AgentMessage } from "../schema/message.ts";

/** Tells whether an answer failed or was stopped while the model wrote it: clients leave it out of a request. */
export function isUnfinished(message: AgentMessage): boolean {
  return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
}
