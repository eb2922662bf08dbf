import { convertToLlm } from "../context/convert-to-llm.ts";
import { toNumber, toRecord } from "../context/entry-fields.ts";
import { assertArgument } from "../format/arguments.ts";
import type { Usage } from "../format/content.ts";
import { SessionError } from "../format/errors.ts";
import type { AgentMessage } from "../format/message.ts";
import { assertOptions, CALLBACK, OBJECT, type OptionRule } from "../format/options.ts";
import {
  computeFileLists,
  type FileLists,
  formatFileOperations,
  withoutFileOperations,
} from "./file-operations.ts";
import type { CompactionPreparation } from "./plan.ts";
import { buildPrompt, type SummaryKind } from "./prompts.ts";
import { refuseCancelled, requestSummary, type Summarize } from "./request-summary.ts";
import type { TokenCounter } from "./tokens.ts";
import { fitTokens, serializeConversation } from "./transcript.ts";

/** Compaction ready to be appended. */
export interface CompactionResult<T = unknown> {
  summary: string;
  firstKeptEntryId: string;
  /** Size of the context before compaction, in tokens. */
  tokensBefore: number;
  /** Stored with the summary. */
  details?: T;
  /** Usage of the model calls. */
  usage?: Usage;
}

/** Details that this library stores with a compaction summary. */
export interface CompactionDetails extends FileLists {
  /** Whether the summary was extracted without a model. */
  withoutModel?: true;
}

/** Options for summarizing. */
export interface CompactOptions {
  /** Instructions from the user. They add a focus, unless `replaceInstructions` is set. */
  customInstructions?: string | undefined;
  /** Whether `customInstructions` replace the prompt's instructions. */
  replaceInstructions?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Limits on the model's input and output for each part of a summary. */
export interface SummaryBounds {
  /** Maximum number of tokens in the conversation. The middle of a longer conversation is omitted. */
  readonly maxConversationTokens?: number | undefined;
  readonly counter?: TokenCounter | undefined;
  /** Maximum number of words to request from the model. */
  readonly maxWords?: number | undefined;
}

/** Summary to use if the messages have no content for a model. */
const NOTHING_SAID = "(Nothing before this point needs to be remembered.)";

const TURN_PREFIX_HEADING = "## Beginning of the Current Turn";

/** Part of a summary and its usage. The text is empty if there is nothing to summarize. */
interface Text {
  readonly text: string;
  readonly usage?: Usage | undefined;
}

/**
 * Requests the summary for a planned compaction from a model.
 *
 * A split turn requires two sequential calls: one for the history and one for the beginning of the turn. Does not retry. Changes
 * nothing on failure.
 *
 * @param preparation - As returned by `prepareCompaction`.
 * @param summarize - Requests text from a model.
 * @throws {SessionError} `ABORTED`, with the message `Compaction cancelled`; `SUMMARY_FAILED` if a reply is not a summary;
 *   `NOTHING_TO_COMPACT` if the preparation has neither messages nor a summary.
 * @remarks Source: docs/compaction.md#summary-text
 */
export async function compact(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions = {},
): Promise<CompactionResult<CompactionDetails>> {
  assertOptions<object>(options, {});
  assertArgument("summarize", summarize, CALLBACK);
  return writeSummary(preparation, summarize, options);
}

/**
 * Summarizes as `compact` does, within the given limits.
 *
 * @throws {SessionError} The same as `compact`.
 */
export async function writeSummary(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions & SummaryBounds,
): Promise<CompactionResult<CompactionDetails>> {
  refuseCancelled("history", options.signal);
  assertSomethingToCompact(preparation);
  const { messagesToSummarize, turnPrefixMessages } = preparation;
  const writer = { summarize, options };
  const history = await writeText(writer, "history", messagesToSummarize, getPreviousText(preparation));
  const prefix = await writeText(writer, "turnPrefix", turnPrefixMessages);
  const usage = addUsage(history.usage, prefix.usage);
  const result = makeCompactionResult(preparation, joinTexts(history.text, prefix.text));
  return { ...result, ...(usage === undefined ? {} : { usage }) };
}

/** Requests one part of a summary. Without messages, returns the previous summary. */
async function writeText(
  { summarize, options }: { readonly summarize: Summarize; readonly options: CompactOptions & SummaryBounds },
  kind: SummaryKind,
  messages: readonly AgentMessage[],
  previousSummary?: string,
): Promise<Text> {
  const { signal, maxConversationTokens = Number.POSITIVE_INFINITY, counter, ...parts } = options;
  const whole = serializeConversation(convertToLlm(messages));
  if (whole === "") return { text: previousSummary ?? "" };
  const conversation = fitTokens(whole, maxConversationTokens, counter);
  const prompt = buildPrompt(kind, { ...parts, conversation, previousSummary });
  return requestSummary(summarize, { kind, prompt, signal });
}

/** Joins the two parts of a summary: the history, and the beginning of a split turn under its own heading. */
function joinTexts(history: string, turnPrefix: string): string {
  const prefix = turnPrefix === "" ? "" : `${TURN_PREFIX_HEADING}\n\n${turnPrefix}`;
  return [history, prefix].filter((text) => text !== "").join("\n\n") || NOTHING_SAID;
}

/** Returns the summary to update, without the file lists, which are appended to the new summary. */
export function getPreviousText(
  planned: Pick<CompactionPreparation, "previousSummary" | "fileOps">,
): string | undefined {
  const { previousSummary, fileOps } = planned;
  return previousSummary === undefined ? undefined : withoutFileOperations(previousSummary, fileOps);
}

/** Creates the result from a preparation and the text of its summary, and appends the file lists. */
export function makeCompactionResult(
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

const PREPARATION: OptionRule = {
  fits: (value) => {
    const { messagesToSummarize, turnPrefixMessages, fileOps } = toRecord(value);
    return [messagesToSummarize, turnPrefixMessages].every(Array.isArray) && OBJECT.fits(fileOps);
  },
  words: "what prepareCompaction returned",
};

/**
 * Throws if a preparation has no content.
 *
 * @throws {SessionError} `NOTHING_TO_COMPACT`
 */
export function assertSomethingToCompact(preparation: CompactionPreparation): void {
  assertArgument("preparation", preparation, PREPARATION);
  const { messagesToSummarize, turnPrefixMessages, previousSummary } = preparation;
  if (messagesToSummarize.length + turnPrefixMessages.length > 0 || previousSummary) return;
  throw new SessionError(
    "NOTHING_TO_COMPACT",
    "There is nothing to summarize: plan again once there are messages.",
  );
}

/** Adds the usage of two model calls, as returned by an adapter. Missing numbers are treated as 0. */
export function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const sum = (name: keyof Usage) => toNumber(toRecord(first)[name]) + toNumber(toRecord(second)[name]);
  const has = (name: keyof Usage) => first[name] !== undefined || second[name] !== undefined;
  const sumCost = (name: keyof Usage["cost"]) =>
    toNumber(toRecord(first.cost)[name]) + toNumber(toRecord(second.cost)[name]);
  return {
    input: sum("input"),
    output: sum("output"),
    cacheRead: sum("cacheRead"),
    cacheWrite: sum("cacheWrite"),
    ...(has("cacheWrite1h") && { cacheWrite1h: sum("cacheWrite1h") }),
    ...(has("reasoning") && { reasoning: sum("reasoning") }),
    totalTokens: sum("totalTokens"),
    cost: {
      input: sumCost("input"),
      output: sumCost("output"),
      cacheRead: sumCost("cacheRead"),
      cacheWrite: sumCost("cacheWrite"),
      total: sumCost("total"),
    },
  };
}
