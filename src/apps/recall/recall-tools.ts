import { getErrorMessage } from "../../core/format/errors.ts";
import { MIN_ANSWER_BYTES } from "./answer.ts";
import { readArguments } from "./argument.ts";
import { fileHistoryTool } from "./file-history.ts";
import { findFailuresTool } from "./find-failures.ts";
import { readEntriesTool } from "./read-entries.ts";
import { type CallOrigin, MAX_BYTES, type Recall, type RecallTool } from "./recall.ts";
import { searchSessionsTool } from "./search-past.ts";
import { sessionOverviewTool } from "./session-overview.ts";
import { usageTool } from "./usage-summary.ts";

/** All tools that query past sessions. */
export const RECALL_TOOLS: readonly RecallTool[] = [
  searchSessionsTool,
  readEntriesTool,
  sessionOverviewTool,
  findFailuresTool,
  fileHistoryTool,
  usageTool,
];

/** Result of a call. */
export interface RecallResult {
  readonly text: string;
  /** Whether the text describes an error in the call. */
  readonly isError: boolean;
}

/** Answers a tool call. Never throws: returns errors as text, so that an agent can correct the call. */
export async function callRecallTool(
  tool: RecallTool,
  recall: Recall,
  values: { readonly [name: string]: unknown },
  origin: CallOrigin = {},
): Promise<RecallResult> {
  const own = recall.during(origin);
  try {
    const call = readArguments(tool.arguments, values);
    const answer = own.answer(call.get(MAX_BYTES));
    await tool.run(own, call, answer);
    return { text: answer.finish(), isError: false };
  } catch (error) {
    return { text: formatError(own, error), isError: true };
  }
}

/**
 * Writes an error as an answer: messages of our own argument checks are not framed, because they contain no session
 * content.
 */
export function formatError(recall: Recall, error: unknown): string {
  const answer = recall.answer(MIN_ANSWER_BYTES);
  try {
    if (error instanceof TypeError) answer.note(getErrorMessage(error));
    else answer.addText(getErrorMessage(error));
    return answer.finish();
  } catch {
    // The message itself cannot be cleaned.
    return "Secrets could not be hidden, so nothing is shown. Check the patterns or the function that hides them.";
  }
}
