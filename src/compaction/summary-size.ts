import type { AgentMessage } from "../schema/message.ts";
import { computeFileLists, type FileOperations, formatFileOperations } from "./file-operations.ts";
import { estimateAll, estimateTextTokens, type TokenCounter } from "./tokens.ts";

/** What a summary replaces. */
export interface Replaced {
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
}

/** Sizes of a summary and of what it replaces, in tokens. */
export interface SummarySize {
  /** Estimate for the summarised messages and the previous summary. */
  readonly replacedTokens: number;
  /** Expected size of the new summary's text. */
  readonly textTokens: number;
  /** Size of the file lists at its end. */
  readonly fileListTokens: number;
}

const LEAST_TEXT_TOKENS = 256;
const MOST_TEXT_TOKENS = 2048;
const REPLACED_PER_TEXT_TOKEN = 8;

/**
 * Estimates the length of a summary before it is written: an eighth of what it replaces, between 256 and 2,048
 * tokens, plus the file lists, whose length is known.
 *
 * `compactWithoutModel` stays within this; a model may not.
 *
 * @remarks Cost: O(size of the messages).
 */
export function expectSummarySize(replaced: Replaced, counter?: TokenCounter): SummarySize {
  const { messagesToSummarize, turnPrefixMessages, previousSummary = "", fileOps } = replaced;
  const replacedTokens =
    estimateAll(messagesToSummarize, counter) +
    estimateAll(turnPrefixMessages, counter) +
    estimateTextTokens(previousSummary, counter);
  const { readFiles, modifiedFiles } = computeFileLists(fileOps);
  const share = Math.ceil(replacedTokens / REPLACED_PER_TEXT_TOKEN);
  return {
    replacedTokens,
    textTokens: Math.min(MOST_TEXT_TOKENS, Math.max(LEAST_TEXT_TOKENS, share)),
    fileListTokens: estimateTextTokens(formatFileOperations(readFiles, modifiedFiles), counter),
  };
}
