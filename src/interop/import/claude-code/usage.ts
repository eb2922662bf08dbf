import type { Usage } from "../../../core/format/content.ts";
import type { StopReason } from "../../../core/format/message.ts";
import { countOf, STOP_REASONS, usageOf } from "../../convert/answer.ts";
import { readUsage } from "../../convert/anthropic/anthropic-content.ts";
import { textIn } from "../source-values.ts";
import type { RecordNode } from "./record-graph.ts";

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
