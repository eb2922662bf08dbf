import { messageOf } from "../../core/format/errors.ts";
import { Answer } from "./answer.ts";
import { readArguments } from "./argument.ts";
import { fileHistoryTool } from "./file-history.ts";
import { findFailuresTool } from "./find-failures.ts";
import { readEntriesTool } from "./read-entries.ts";
import { MAX_BYTES, type Recall, type RecallTool } from "./recall.ts";
import { searchSessionsTool } from "./search-past.ts";
import { sessionOverviewTool } from "./session-overview.ts";
import { usageTool } from "./usage-summary.ts";

/** All that can be asked of past sessions. */
export const RECALL_TOOLS: readonly RecallTool[] = [
  searchSessionsTool,
  readEntriesTool,
  sessionOverviewTool,
  findFailuresTool,
  fileHistoryTool,
  usageTool,
];

/** What a call came to. */
export interface RecallResult {
  readonly text: string;
  /** Whether the text says what is wrong with the call. */
  readonly isError: boolean;
}

/** Answers a call of a tool; never throws: an agent can mend what the text says is wrong. */
export async function callRecallTool(
  tool: RecallTool,
  recall: Recall,
  values: { readonly [name: string]: unknown },
): Promise<RecallResult> {
  try {
    const call = readArguments(tool.arguments, values);
    const answer = new Answer(call.get(MAX_BYTES), recall.hide);
    await tool.run(recall, call, answer);
    return { text: answer.finish(), isError: false };
  } catch (error) {
    return { text: recall.cleanLine(messageOf(error)), isError: true };
  }
}
