import type { ToolCall } from "../format/content.ts";
import { toArray, toRecord } from "./entry-fields.ts";
import type { ProjectedSessionEntry } from "./session-context.ts";
import { isUnfinished } from "./unfinished-answer.ts";

/** Tool call without a result. */
export interface OpenToolCall {
  /** Id of the assistant message's entry. */
  readonly entryId: string;
  readonly call: ToolCall;
}

/**
 * Finds the tool calls in a context that have no result, in order. A result belongs to the nearest earlier call with the same id.
 */
export function findOpenToolCalls(entries: readonly ProjectedSessionEntry[]): OpenToolCall[] {
  const open: OpenToolCall[] = [];
  for (const { sourceEntry, messages } of entries) {
    for (const message of messages) {
      const { role, toolCallId } = toRecord(message);
      if (role === "toolResult") {
        const at = open.findLastIndex(({ call }) => call.id === toolCallId);
        if (at !== -1) open.splice(at, 1);
      } else if (message.role === "assistant" && !isUnfinished(message)) {
        for (const block of toArray(message.content))
          if (isToolCall(block)) open.push({ entryId: sourceEntry.id, call: block });
      }
    }
  }
  return open;
}

function isToolCall(block: unknown): block is ToolCall {
  const { type, id } = toRecord(block);
  return type === "toolCall" && typeof id === "string";
}
