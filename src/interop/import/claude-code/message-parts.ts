import { toArray, toCount, toRecord } from "../../../core/context/entry-fields.ts";
import type { Usage } from "../../../core/format/content.ts";
import type { JsonRecord } from "../../../core/format/json.ts";
import type { StopReason } from "../../../core/format/message.ts";
import { STOP_REASONS, toUsage } from "../../convert/answer.ts";
import { readUsage } from "../../convert/anthropic/anthropic-content.ts";
import { getMember, joinContentText, toNonemptyText } from "../source-text.ts";
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

/** Returns the text of a user record, with its blocks joined; empty if the record has no text. */
export function getUserText({ message }: RecordNode): string {
  return joinContentText(message["content"]);
}

/** Returns a record's blocks of the given type. */
export function findBlocksOfType(
  { message }: Pick<RecordNode, "message">,
  type: "tool_use" | "tool_result",
): JsonRecord[] {
  return toArray(message["content"])
    .map(toRecord)
    .filter((block) => block["type"] === type);
}

/** Returns the tool results in a user record. */
export function findResultBlocks(node: RecordNode): JsonRecord[] {
  return findBlocksOfType(node, "tool_result");
}

/** Returns the id of the API message that an assistant record belongs to; undefined if it has none. */
export function findMessageKey({ message, value }: RecordNode): string | undefined {
  return toNonemptyText(message["id"]) ?? toNonemptyText(value["requestId"]);
}

/** Returns the role of a record. */
export function classifyRecord(node: RecordNode): RecordRole {
  const { value } = node;
  switch (node.type) {
    case "assistant":
      return "assistant";
    case "progress":
      return "progress";
    case "user":
      return classifyUser(node);
    case "system":
      return value["subtype"] === "compact_boundary" ? "boundary" : "aside";
    case "attachment":
      return classifyQueued(node);
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

function classifyUser(node: RecordNode): RecordRole {
  const { value } = node;
  if (value["isCompactSummary"] === true) return "summary";
  if (value["isVisibleInTranscriptOnly"] === true) return "aside";
  if (findResultBlocks(node).length > 0) return "results";
  if (value["isMeta"] === true) return "meta";
  const text = getUserText(node).trimStart();
  const found = BEGINNINGS.find(([beginning]) => text.startsWith(beginning));
  if (found !== undefined) return found[1];
  return value["promptSource"] === "system" && !isSidechain(node) ? "notification" : "prompt";
}

/**
 * Classifies an attachment. A prompt that was queued while the agent was working is an attachment; all other attachments come
 * from the program.
 */
function classifyQueued({ value }: RecordNode): RecordRole {
  const attachment = getMember(value, "attachment");
  if (attachment["type"] !== "queued_command") return "aside";
  const { prompt, commandMode } = attachment;
  if (joinContentText(prompt).startsWith("<task-notification>") || commandMode === "task-notification")
    return "notification";
  return commandMode === undefined || commandMode === "prompt" ? "prompt" : "aside";
}

/** Returns whether a record indicates that the user interrupted the answer while it was arriving. */
export function isAborted({ value }: RecordNode): boolean {
  return value["isAbortedMidStream"] === true;
}

/**
 * Returns a message's usage. Each of the message's records repeats the usage as it grows; the usage with the most output tokens
 * is returned.
 *
 * Records of an aborted answer report the output count from its start, so output is estimated at four characters per token.
 */
export function getMessageUsage(nodes: readonly RecordNode[]): Usage {
  let best = toUsage();
  let cost = 0;
  for (const { message, value } of nodes) {
    const usage = readUsage(message["usage"]);
    if (usage.output >= best.output) best = usage;
    cost = Math.max(cost, toCount(value["costUSD"]));
  }
  const arrived = nodes.some(isAborted)
    ? nodes.map(({ message }) => joinContentText(message["content"])).join("")
    : "";
  const output = Math.max(best.output, Math.round(arrived.length / 4));
  const totalTokens = best.totalTokens + output - best.output;
  return { ...best, output, totalTokens, cost: { ...best.cost, total: cost } };
}

/** Returns why a message stopped: the last reason in its records, or a default that depends on whether it calls a tool. */
export function getStopReason(nodes: readonly RecordNode[], hasCalls: boolean): StopReason {
  if (nodes.some(({ value }) => value["isApiErrorMessage"] === true)) return "error";
  const named = nodes
    .map(({ message }) => STOP_REASONS.get(message["stop_reason"]))
    .findLast((reason) => reason !== undefined);
  return named ?? (hasCalls ? "toolUse" : "stop");
}
