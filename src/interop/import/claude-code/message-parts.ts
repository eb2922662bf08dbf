import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { StopReason } from "../../../core/format/message.ts";
import { countOf, STOP_REASONS, usageOf } from "../../convert/answer.ts";
import { readUsage } from "../../convert/anthropic/anthropic-content.ts";
import { member, textIn, textOf } from "../source-text.ts";
import { isSidechain, type RecordNode } from "./record-graph.ts";

/** Role of a record in the conversation. */
export type RecordRole =
  | "assistant"
  | "results"
  | "prompt"
  | "meta"
  | "summary"
  | "boundary"
  | "bash-input"
  | "bash-output"
  | "command"
  | "notification"
  | "aside"
  | "progress";

/** Returns the text of a user record, blocks joined; empty if it has none. */
export function userText({ message }: RecordNode): string {
  return textIn(message["content"]);
}

/** Returns the blocks of a type in a record. */
export function blocksOfType(
  { message }: Pick<RecordNode, "message">,
  type: "tool_use" | "tool_result",
): JsonRecord[] {
  return listOf(message["content"])
    .map(fieldsOf)
    .filter((block) => block["type"] === type);
}

/** Returns the tool results in a user record. */
export function resultBlocks(node: RecordNode): JsonRecord[] {
  return blocksOfType(node, "tool_result");
}

/** Returns the id of the API message that an assistant record belongs to; undefined if it has none. */
export function messageKey({ message, value }: RecordNode): string | undefined {
  return textOf(message["id"]) ?? textOf(value["requestId"]);
}

/** Classifies a record. */
export function roleOf(node: RecordNode): RecordRole {
  const { value } = node;
  switch (node.type) {
    case "assistant":
      return "assistant";
    case "progress":
      return "progress";
    case "user":
      return userRole(node);
    case "system":
      return value["subtype"] === "compact_boundary" ? "boundary" : "aside";
    case "attachment":
      return queuedRole(node);
    default:
      return "aside";
  }
}

const BEGINNINGS: readonly (readonly [string, RecordRole])[] = [
  ["<task-notification>", "notification"],
  ["<command-name>", "command"],
  ["<local-command-stdout>", "command"],
  ["<local-command-stderr>", "command"],
  ["<bash-input>", "bash-input"],
  ["<bash-stdout>", "bash-output"],
  ["<bash-stderr>", "bash-output"],
];

function userRole(node: RecordNode): RecordRole {
  const { value } = node;
  if (value["isCompactSummary"] === true) return "summary";
  if (value["isVisibleInTranscriptOnly"] === true) return "aside";
  if (resultBlocks(node).length > 0) return "results";
  if (value["isMeta"] === true) return "meta";
  const text = userText(node).trimStart();
  const found = BEGINNINGS.find(([beginning]) => text.startsWith(beginning));
  if (found !== undefined) return found[1];
  return value["promptSource"] === "system" && !isSidechain(node) ? "notification" : "prompt";
}

/** A prompt that waited while the agent worked is an attachment; the program writes all other attachments. */
function queuedRole({ value }: RecordNode): RecordRole {
  const attachment = member(value, "attachment");
  if (attachment["type"] !== "queued_command") return "aside";
  const { prompt, commandMode } = attachment;
  if (textIn(prompt).startsWith("<task-notification>") || commandMode === "task-notification")
    return "notification";
  return commandMode === undefined || commandMode === "prompt" ? "prompt" : "aside";
}

/** Tells whether the program says that the user interrupted an answer while this record of it arrived. */
export function isAborted({ value }: RecordNode): boolean {
  return value["isAbortedMidStream"] === true;
}

/**
 * Returns the usage of a message whose growing records repeat it: the one with the most output.
 *
 * Records of an answer that was aborted tell the output at its start; the program counts a token for four characters.
 */
export function usageOfMessage(nodes: readonly RecordNode[]): Usage {
  let most = usageOf();
  let cost = 0;
  for (const { message, value } of nodes) {
    const usage = readUsage(message["usage"]);
    if (usage.output >= most.output) most = usage;
    cost = Math.max(cost, countOf(value["costUSD"]));
  }
  const arrived = nodes.some(isAborted)
    ? nodes.map(({ message }) => textIn(message["content"])).join("")
    : "";
  const output = Math.max(most.output, Math.round(arrived.length / 4));
  const totalTokens = most.totalTokens + output - most.output;
  return { ...most, output, totalTokens, cost: { ...most.cost, total: cost } };
}

/** Returns why a message ended: the last reason in its records, else whether it calls a tool. */
export function stopReasonOf(nodes: readonly RecordNode[], hasCalls: boolean): StopReason {
  if (nodes.some(({ value }) => value["isApiErrorMessage"] === true)) return "error";
  const named = nodes
    .map(({ message }) => STOP_REASONS.get(message["stop_reason"]))
    .findLast((reason) => reason !== undefined);
  return named ?? (hasCalls ? "toolUse" : "stop");
}
