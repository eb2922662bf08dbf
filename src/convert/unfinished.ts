import type { Message } from "../schema/message.ts";

/** Tells whether an answer failed or was stopped while the model wrote it: no request holds it. */
export function isUnfinished(message: Message): boolean {
  return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
}
