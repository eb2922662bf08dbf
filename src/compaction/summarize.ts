import { convertToLlm } from "../context/convert-to-llm.ts";
import type { Usage } from "../schema/content.ts";
import { SessionError } from "../schema/errors.ts";
import type { AgentMessage } from "../schema/message.ts";
import {
  computeFileLists,
  type FileLists,
  type FileOperations,
  formatFileOperations,
  withoutFileOperations,
} from "./file-operations.ts";
import type { CompactionPreparation } from "./plan.ts";
import { historyPrompt, turnPrefixPrompt } from "./prompts.ts";
import { refuseCancelled, requestSummary, type Summarize, type SummaryKind } from "./request-summary.ts";
import { serializeConversation } from "./transcript.ts";
import { addUsage } from "./usage.ts";

/** A compaction, ready to be appended. */
export interface CompactionResult<T = unknown> {
  summary: string;
  firstKeptEntryId: string;
  /** Size of the context before, in tokens. */
  tokensBefore: number;
  /** Stored beside the summary. */
  details?: T;
  /** What the model calls used. */
  usage?: Usage;
}

/** What a compaction of this library stores beside its summary. */
export interface CompactionDetails extends FileLists {
  /** Whether the summary was extracted without a model. */
  withoutModel?: true;
}

/** Options of a summary. */
export interface CompactOptions {
  /** The user's instructions: a focus, unless `replaceInstructions` is set. */
  customInstructions?: string | undefined;
  /** Whether `customInstructions` replace the prompt's own. */
  replaceInstructions?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Summary of messages that held nothing for a model. */
const NOTHING_SAID = "(Nothing before this point needs to be remembered.)";

const TURN_PREFIX_HEADING = "## Beginning of the Current Turn";

/** A text of a summary and its usage; the text is empty if there is nothing to summarise. */
interface Text {
  readonly text: string;
  readonly usage?: Usage | undefined;
}

/**
 * Asks a model for the summary of a planned compaction.
 *
 * A split turn takes two calls in sequence: for the history and for the beginning of the turn. Does not retry, and
 * changes nothing on failure.
 *
 * @param preparation - As `prepareCompaction` returns it.
 * @param summarize - Asks a model for a text.
 * @throws {SessionError} `ABORTED`, with the message "Compaction cancelled"; `SUMMARY_FAILED` if a reply is not a
 *   summary; `NOTHING_TO_COMPACT` if the preparation has neither messages nor a summary.
 * @remarks Source: docs/compaction.md#summary-text
 */
export async function compact(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions = {},
): Promise<CompactionResult<CompactionDetails>> {
  refuseCancelled("history", options.signal);
  assertSomethingToCompact(preparation);
  const history = await historyText(preparation, summarize, options);
  const prefix = await turnPrefixText(preparation, summarize, options);
  const usage = addUsage(history.usage, prefix.usage);
  const result = compactionResult(preparation, joinTexts(history.text, prefix.text));
  return { ...result, ...(usage === undefined ? {} : { usage }) };
}

async function historyText(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions,
): Promise<Text> {
  const conversation = transcriptOf(preparation.messagesToSummarize);
  const previousSummary = previousText(preparation);
  if (conversation === "") return { text: previousSummary ?? "" };
  const { customInstructions, replaceInstructions } = options;
  const prompt = historyPrompt({ conversation, previousSummary, customInstructions, replaceInstructions });
  return request(summarize, "history", prompt, options);
}

async function turnPrefixText(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions,
): Promise<Text> {
  const conversation = transcriptOf(preparation.turnPrefixMessages);
  if (conversation === "") return { text: "" };
  const { customInstructions, replaceInstructions } = options;
  const prompt = turnPrefixPrompt({ conversation, customInstructions, replaceInstructions });
  return request(summarize, "turnPrefix", prompt, options);
}

function request(
  summarize: Summarize,
  kind: SummaryKind,
  prompt: string,
  { signal }: CompactOptions,
): Promise<Text> {
  return requestSummary(summarize, { kind, prompt, signal });
}

function transcriptOf(messages: readonly AgentMessage[]): string {
  return serializeConversation(convertToLlm(messages));
}

/** Joins the two texts of a summary: the history, and the beginning of a split turn under its heading. */
function joinTexts(history: string, turnPrefix: string): string {
  const prefix = turnPrefix === "" ? "" : `${TURN_PREFIX_HEADING}\n\n${turnPrefix}`;
  return [history, prefix].filter((text) => text !== "").join("\n\n") || NOTHING_SAID;
}

/** Returns the summary to update, without the file lists, which the new one gets at its end. */
export function previousText({
  previousSummary,
  fileOps,
}: {
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
}): string | undefined {
  return previousSummary === undefined ? undefined : withoutFileOperations(previousSummary, fileOps);
}

/** Makes the result from a preparation and its text, and appends the file lists. */
export function compactionResult(
  { firstKeptEntryId, tokensBefore, fileOps }: CompactionPreparation,
  text: string,
): CompactionResult<CompactionDetails> & { details: CompactionDetails } {
  const { readFiles, modifiedFiles } = computeFileLists(fileOps);
  return {
    summary: text + formatFileOperations(readFiles, modifiedFiles),
    firstKeptEntryId,
    tokensBefore,
    details: { readFiles, modifiedFiles },
  };
}

/**
 * Refuses a preparation without content.
 *
 * @throws {SessionError} `NOTHING_TO_COMPACT`
 */
export function assertSomethingToCompact(preparation: CompactionPreparation): void {
  const { messagesToSummarize, turnPrefixMessages, previousSummary } = preparation;
  if (messagesToSummarize.length + turnPrefixMessages.length > 0 || previousSummary) return;
  throw new SessionError(
    "NOTHING_TO_COMPACT",
    "There is nothing to summarise: plan again once there are messages.",
  );
}
