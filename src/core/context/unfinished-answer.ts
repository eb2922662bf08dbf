import type { AgentMessage, StopReason } from "../format/message.ts";

const UNFINISHED: ReadonlySet<StopReason> = new Set<StopReason>(["error", "aborted", "deferred"]);

/**
 * Tells whether an answer failed, was stopped while the model wrote it, or continues elsewhere: clients leave it out of a
 * request.
 */
export function isUnfinished(message: AgentMessage): boolean {
  return message.role === "assistant" && UNFINISHED.has(message.stopReason);
}
