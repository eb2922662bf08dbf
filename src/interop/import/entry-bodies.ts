import type { ToolCall, Usage } from "../../core/format/content.ts";
import { SUBAGENT_CUSTOM_TYPE } from "../../core/format/import-origin.ts";
import { type JsonRecord, pickDefined } from "../../core/format/json.ts";
import type { AssistantMessage, StopReason, ToolResultMessage } from "../../core/format/message.ts";
import type { AnswerBlock, UserBlock } from "../convert/dialect.ts";
import { parseArguments } from "../convert/tool-arguments.ts";
import { isPresent, toNonemptyText } from "./source-text.ts";

/** Body of an entry. */
export interface EntryBody {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Creates the body of a custom entry. */
export function makeCustom(customType: string, data?: unknown): EntryBody {
  return pickDefined({ type: "custom", customType, data });
}

/** Creates the body for text that the user did not type but that the model sees. */
export function makeCustomMessage(
  customType: string,
  content: unknown,
  display: boolean,
  details?: unknown,
): EntryBody {
  return pickDefined({ type: "custom_message", customType, content, display, details });
}

/** Link to a subagent's session: the agent's id, and other facts such as the call that started it. */
export interface SubagentLink {
  readonly agentId: string;
  readonly [fact: string]: unknown;
}

/** Creates the body of an entry that links a subagent's session to the call that started it. */
export function makeSubagentLink(link: SubagentLink): EntryBody {
  return makeCustom(SUBAGENT_CUSTOM_TYPE, pickDefined(link));
}

/** Creates the body of an entry that reports the tokens of calls whose messages do not report them. */
export function makeUsageEntry(
  kind: string,
  provider: string,
  model: string,
  usage: Usage,
  note?: string,
): EntryBody {
  return pickDefined({ type: "usage", kind, provider, model, usage, note });
}

/** Creates the body for a thinking level change. */
export function makeThinkingChange(effort: string): EntryBody {
  return { type: "thinking_level_change", thinkingLevel: effort === "none" ? "off" : effort };
}

/** Creates the block of a tool call. */
export function makeToolCall(id: unknown, name: unknown, args: unknown): ToolCall {
  return {
    type: "toolCall",
    id: toNonemptyText(id) ?? "",
    name: toNonemptyText(name) ?? "unknown",
    arguments: parseArguments(args) ?? {},
  };
}

interface ToolOutput {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: UserBlock[];
  /** Omitted if undefined. */
  readonly details?: unknown;
  readonly isError: boolean;
}

/** Creates a tool result message. Undefined details are omitted. */
export function makeToolResult(output: ToolOutput): Omit<ToolResultMessage, "timestamp"> {
  const { toolCallId, toolName, content, details, isError } = output;
  const told = isPresent(details) ? { details } : {};
  return { role: "toolResult", toolCallId, toolName, content, ...told, isError };
}

/** Returns a record; undefined if it is empty. */
export function toFilled(record: JsonRecord): JsonRecord | undefined {
  return Object.keys(record).length === 0 ? undefined : record;
}

/** An answer that later records may extend. */
type OpenAnswer = Pick<AssistantMessage, "content" | "stopReason" | "errorMessage">;

/** Adds blocks to an answer. If they include a call, the stop reason is set to `toolUse`. */
export function addBlocks(answer: OpenAnswer, blocks: readonly AnswerBlock[]): void {
  answer.content.push(...blocks);
  if (blocks.some(({ type }) => type === "toolCall")) answer.stopReason = "toolUse";
}

/** Sets an answer's stop reason, unless it is already `toolUse`. */
export function endAnswer(answer: OpenAnswer, reason: StopReason, errorMessage?: string): void {
  if (answer.stopReason === "toolUse") return;
  answer.stopReason = reason;
  if (errorMessage !== undefined) answer.errorMessage = errorMessage;
}
