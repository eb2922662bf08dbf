import { usageOf } from "../../convert/answer.ts";
import type { Usage } from "../../schema/content.ts";
import type { StopReason } from "../../schema/message.ts";
import { member } from "../source-values.ts";
import type { RecordNode } from "./record-graph.ts";

/** Converts the tokens of a record; the input excludes cached tokens. */
function usageOfRecord({ record: { value } }: RecordNode): Usage {
  const usage = member(member(value, "message"), "usage");
  return usageOf({
    input: usage["input_tokens"],
    output: usage["output_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"],
    cacheWrite1h: member(usage, "cache_creation")["ephemeral_1h_input_tokens"],
    cost: value["costUSD"],
  });
}

/** Returns the usage of a message whose growing records repeat it: the one with the most output. */
export function usageOfMessage(nodes: readonly RecordNode[]): Usage {
  let most = usageOf();
  let cost = 0;
  for (const usage of nodes.map(usageOfRecord)) {
    if (usage.output >= most.output) most = usage;
    cost = Math.max(cost, usage.cost.total);
  }
  return { ...most, cost: { ...most.cost, total: cost } };
}

const STOP_REASONS: ReadonlyMap<unknown, StopReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "toolUse"],
  ["refusal", "error"],
]);

/** Returns why a message ended: the last reason in its records, else whether it calls a tool. */
export function stopReasonOf(nodes: readonly RecordNode[], hasCalls: boolean): StopReason {
  if (nodes.some(({ record: { value } }) => value["isApiErrorMessage"] === true)) return "error";
  const named = nodes
    .map(({ record: { value } }) => STOP_REASONS.get(member(value, "message")["stop_reason"]))
    .findLast((reason) => reason !== undefined);
  return named ?? (hasCalls ? "toolUse" : "stop");
}
