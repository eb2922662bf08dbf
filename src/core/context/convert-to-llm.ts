import { ARRAY, assertArgument } from "../format/arguments.ts";
import type { ImageContent, TextContent } from "../format/content.ts";
import type { AgentMessage, BashExecutionMessage, Message, UserMessage } from "../format/message.ts";
import { assertOptions, FLAG } from "../format/options.ts";
import { toRecord } from "./entry-fields.ts";
import { toText } from "./message-parts.ts";
import { repairToolPairs } from "./tool-pairs.ts";
import { toWellFormed } from "./well-formed.ts";

type UserBlock = TextContent | ImageContent;

const BRANCH_SUMMARY_SENTENCE =
  "The conversation followed another branch for a while and came back to this point. This is a summary of that branch:";

const COMPACTION_SUMMARY_SENTENCE =
  "The conversation before this point was compacted. This is a summary of the history that was left out:";

/**
 * Converts the messages of a context to roles that model providers support.
 *
 * Commands, extension messages, and summaries are converted to user messages. Omits unknown roles.
 *
 * @param messages - The messages of a context.
 * @param options - `repairToolPairs`: whether to add missing results and drop results without a call.
 * @returns A new array. Messages with a role that providers support are the same objects, unless their content must be converted,
 *   for example from a string to a text block.
 * @remarks Cost: O(messages). Source: docs/format.md#context
 */
export function convertToLlm(
  messages: readonly AgentMessage[],
  options: { repairToolPairs?: boolean | undefined } = {},
): Message[] {
  assertOptions(options, { repairToolPairs: FLAG });
  assertArgument("messages", messages, ARRAY);
  const converted = messages.flatMap((message) => convertMessage(message) ?? []);
  return options.repairToolPairs === true ? repairToolPairs(converted).messages : converted;
}

function convertMessage(message: AgentMessage): Message | undefined {
  // An array from another program may contain any value; only messages have a role.
  if (typeof toRecord(message)["role"] !== "string") return undefined;
  switch (message.role) {
    case "system":
    case "user":
    case "assistant":
    case "toolResult":
      return toWellFormed(message);
    case "bashExecution":
      return message.excludeFromContext
        ? undefined
        : makeUserMessage([makeTextBlock(formatBash(message))], message.timestamp);
    case "custom":
      return makeUserMessage(toUserBlocks(message.content), message.timestamp);
    case "branchSummary":
      return makeUserMessage([makeSummaryBlock(BRANCH_SUMMARY_SENTENCE, message.summary)], message.timestamp);
    case "compactionSummary":
      return makeUserMessage(
        [makeSummaryBlock(COMPACTION_SUMMARY_SENTENCE, message.summary)],
        message.timestamp,
      );
    default:
      return undefined;
  }
}

function makeUserMessage(content: UserBlock[], timestamp: number): UserMessage {
  return { role: "user", content, timestamp };
}

function makeTextBlock(text: string): TextContent {
  return { type: "text", text };
}

function toUserBlocks(content: string | UserBlock[]): UserBlock[] {
  if (typeof content === "string") return [makeTextBlock(content)];
  return Array.isArray(content) ? content : [];
}

function makeSummaryBlock(sentence: string, summary: unknown): TextContent {
  return makeTextBlock(`${sentence}\n\n<summary>\n${toText(summary)}\n</summary>`);
}

function formatBash(message: BashExecutionMessage): string {
  const { command, output, exitCode, cancelled, truncated, fullOutputPath } = toRecord(message);
  const said = toText(output);
  const shown = said === "" ? "(no output)" : `\`\`\`\n${said}\n\`\`\``;
  const parts = [`Ran \`${toText(command)}\`\n${shown}`];
  if (cancelled) parts.push("(command cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) parts.push(`Command exited with code ${exitCode}`);
  const path = toText(fullOutputPath);
  if (truncated && path !== "") parts.push(`[Output truncated. Full output: ${path}]`);
  return parts.join("\n\n");
}
