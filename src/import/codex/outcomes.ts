import { fieldsOf } from "../../context/entry-fields.ts";
import { countOf } from "../../convert/answer.ts";
import type { JsonRecord } from "../../schema/json.ts";
import type { SourceRecord } from "../source-text.ts";
import { member, textOf } from "../source-values.ts";

/** How a tool call ended, according to events. */
export interface CallOutcome {
  readonly isError: boolean;
  readonly details: JsonRecord;
}

/**
 * Collects the outcomes of calls from events: how commands ended, and whether tools failed. Outputs do not always say.
 *
 * @returns By call id.
 */
export function collectOutcomes(records: readonly SourceRecord[]): Map<string, CallOutcome> {
  const outcomes = new Map<string, CallOutcome>();
  for (const { value } of records) {
    if (value["type"] !== "event_msg") continue;
    const payload = member(value, "payload");
    const item = payload["type"] === "item_completed" ? member(payload, "item") : payload;
    const id = textOf(item["call_id"]) ?? textOf(item["id"]);
    const outcome = outcomeOf(item);
    if (id !== undefined && outcome !== undefined) outcomes.set(id, outcome);
  }
  return outcomes;
}

function outcomeOf(item: JsonRecord): CallOutcome | undefined {
  switch (item["type"]) {
    case "CommandExecution":
      return commandOutcome(item);
    case "FileChange":
    case "McpToolCall":
    case "CollabAgentToolCall":
      return {
        isError: item["status"] === "failed" || item["status"] === "declined",
        details: statusOf(item),
      };
    case "mcp_tool_call_end": {
      const { Err: failure, Ok: success } = member(item, "result");
      return { isError: failure !== undefined || fieldsOf(success)["is_error"] === true, details: {} };
    }
    case "patch_apply_end":
      return { isError: item["success"] === false, details: {} };
    default:
      return undefined;
  }
}

function statusOf(item: JsonRecord): JsonRecord {
  const status = textOf(item["status"]);
  return status === undefined ? {} : { status };
}

function commandOutcome(item: JsonRecord): CallOutcome {
  const { exit_code: exitCode } = item;
  const { secs, nanos } = member(item, "duration");
  const details = {
    ...statusOf(item),
    ...(typeof exitCode === "number" && { exitCode }),
    ...(typeof secs === "number" && { durationMs: Math.round(countOf(secs) * 1000 + countOf(nanos) / 1e6) }),
  };
  const isFailed = item["status"] === "failed" || item["status"] === "declined";
  return { isError: typeof exitCode === "number" ? exitCode !== 0 : isFailed, details };
}
