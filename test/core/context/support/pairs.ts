import type { AgentMessage } from "../../../../src/core/format/message.ts";

function getCallIds(message: AgentMessage): string[] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((block) => (block?.type === "toolCall" ? [String(block.id)] : []));
}

export function hasFailed(message: AgentMessage): boolean {
  return (
    message.role === "assistant" && ["error", "aborted", "deferred", "pending"].includes(message.stopReason)
  );
}

/**
 * Finds what the strictest provider would reject: written independently, to check the result of `repairToolPairs`.
 *
 * A call in a failed message is a fault with or without a result, because clients omit such messages.
 * @returns One line for each fault; empty if the list is in order.
 */
export function pairFaults(messages: readonly AgentMessage[]): string[] {
  const faults: string[] = [];
  const everCalled = new Set<string>();
  let wanted = new Set<string>();
  const close = (at: number) => {
    for (const id of wanted) faults.push(`${id} has no result before message ${at}`);
    wanted = new Set();
  };
  messages.forEach((message, at) => {
    if (message.role === "toolResult") {
      if (!wanted.delete(message.toolCallId))
        faults.push(`message ${at} answers nothing: ${message.toolCallId}`);
      return;
    }
    close(at);
    for (const id of getCallIds(message)) {
      if (everCalled.has(id)) faults.push(`${id} is called again in message ${at}`);
      if (hasFailed(message)) faults.push(`${id} is called in message ${at}, which failed`);
      everCalled.add(id);
      wanted.add(id);
    }
  });
  close(messages.length);
  return faults;
}
