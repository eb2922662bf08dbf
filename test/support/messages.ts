import type {
  AssistantMessage,
  ToolCall,
  ToolResultMessage,
  UnknownEntry,
  Usage,
  UserMessage,
} from "sessiontree";

/** Returns a text whose estimate is exactly `count` tokens. */
export function tokens(count: number, letter = "x"): string {
  return letter.repeat(count * 4);
}

export function user(content: string, timestamp = 1): UserMessage {
  return { role: "user", content, timestamp };
}

export function usage(totalTokens: number, cost = 0): Usage {
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    input: totalTokens,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens,
    cost: { ...free, total: cost },
  };
}

/** @param args - Arguments; a string is that of `path`. */
export function call(id: string, name = "bash", args: string | ToolCall["arguments"] = {}): ToolCall {
  return { type: "toolCall", id, name, arguments: typeof args === "string" ? { path: args } : args };
}

export function assistant(
  content: AssistantMessage["content"] | string,
  more: Partial<AssistantMessage> = {},
  ...calls: ToolCall[]
): AssistantMessage {
  return {
    role: "assistant",
    content: [
      ...(typeof content === "string" ? [{ type: "text" as const, text: content }] : content),
      ...calls,
    ],
    api: "test",
    provider: "acme",
    model: "m1",
    usage: usage(0),
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp: 1,
    ...more,
  };
}

export function toolResult(toolCallId: string, text: string, isError = false): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError,
    timestamp: 1,
  };
}

/** Returns an entry as from another session, which may contain anything and is copied unchanged. */
export function foreignEntry(fields: {
  readonly type: string;
  readonly [field: string]: unknown;
}): UnknownEntry {
  return { id: "0f0f0f0f", parentId: null, timestamp: "2026-02-03T22:52:06.410Z", ...fields };
}
