import type { ToolCall } from "../../../src/core/format/content.ts";
import type { AnySessionEntry, SessionEntry } from "../../../src/core/format/entry.ts";
import { isJsonRecord } from "../../../src/core/format/json.ts";
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  SystemMessage,
} from "../../../src/core/format/message.ts";
import { assistant as answer, usage } from "../../support/messages.ts";

/** Creates an answer whose usage is that of a context of `totalTokens`. */
export function assistant(text: string, calls: ToolCall[] = [], totalTokens = 0): AssistantMessage {
  return answer(text === "" ? [] : text, { usage: usage(totalTokens) }, ...calls);
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

/** Returns whether a value is a draft of an entry; otherwise it is a message. */
function isDraft(value: AgentMessage | Draft): value is Draft {
  return isJsonRecord(value) && "type" in value;
}

/** Chains messages and drafts of entries to a path; ids are `e0`, `e1`, … */
export function makePath(...drafts: (AgentMessage | Draft)[]): AnySessionEntry[] {
  return drafts.map((draft, index) => ({
    ...(isDraft(draft) ? draft : { type: "message", message: draft }),
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
  }));
}

/** Does the same as `makePath` for calls that accept known entries only. */
export function makeKnownPath(...drafts: (AgentMessage | Draft)[]): SessionEntry[] {
  return makePath(...drafts) as SessionEntry[];
}

/** Casts a value to a message, for values that a file can hold but the types do not allow. */
export function malformed(value: unknown): AgentMessage {
  return value as AgentMessage;
}
