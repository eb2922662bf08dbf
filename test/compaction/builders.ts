import type { ToolCall, Usage } from "../../src/schema/content.ts";
import type { AnySessionEntry, SessionEntry } from "../../src/schema/entry.ts";
import { isJsonRecord, type JsonObject } from "../../src/schema/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "../../src/schema/message.ts";

/** A text of which a model's estimate is exactly `tokens`. */
export function tokens(count: number, letter = "x"): string {
  return letter.repeat(count * 4);
}

export function user(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

export function usage(totalTokens: number): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return { input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens, cost };
}

export function call(id: string, name = "bash", args: JsonObject = {}): ToolCall {
  return { type: "toolCall", id, name, arguments: args };
}

export function assistant(text: string, calls: ToolCall[] = [], totalTokens = 0): AssistantMessage {
  const content: AssistantMessage["content"] = text === "" ? [...calls] : [{ type: "text", text }, ...calls];
  const stopReason = calls.length > 0 ? "toolUse" : "stop";
  return {
    role: "assistant",
    content,
    api: "test",
    provider: "test",
    model: "model-1",
    usage: usage(totalTokens),
    stopReason,
    timestamp: 1,
  };
}

export function result(toolCallId: string, text: string): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 1,
  };
}

export function bash(command: string, output: string): BashExecutionMessage {
  return {
    role: "bashExecution",
    command,
    output,
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  };
}

export function system(content: string): SystemMessage {
  return { role: "system", content, timestamp: 1 };
}

type Draft = { type: string; [field: string]: unknown };

/** What is not a draft of an entry is a message. */
function isDraft(value: AgentMessage | Draft): value is Draft {
  return isJsonRecord(value) && "type" in value;
}

/** Chains messages and drafts of entries to a path; ids are `e0`, `e1`, … */
export function pathOf(...drafts: (AgentMessage | Draft)[]): AnySessionEntry[] {
  return drafts.map((draft, index) => ({
    ...(isDraft(draft) ? draft : { type: "message", message: draft }),
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
  }));
}

/** The same for calls that take known entries only. */
export function knownPathOf(...drafts: (AgentMessage | Draft)[]): SessionEntry[] {
  return pathOf(...drafts) as SessionEntry[];
}

/** Passes a value off as a message: what a file can hold, the types do not allow. */
export function malformed(value: unknown): AgentMessage {
  return value as AgentMessage;
}
