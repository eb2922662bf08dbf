import type { AgentMessage } from "../format/message.ts";
import { computeFileLists, type FileOperations, formatFileOperations } from "./file-operations.ts";
import type { CompactionLimits } from "./settings.ts";
import { estimateAll, estimateTextTokens, type TokenCounter } from "./tokens.ts";

/** Content that a summary replaces. */
export interface Replaced {
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
}

/** Sizes of a summary and of the content that it replaces, in tokens. */
export interface SummarySize {
  readonly replacedTokens: number;
  readonly textTokens: number;
  readonly fileListTokens: number;
}

const MIN_TEXT_TOKENS = 256;
const MAX_TEXT_TOKENS = 2048;
const REPLACED_PER_TEXT_TOKEN = 8;

/** Minimum number of tokens for a useful summary. */
const MIN_SUMMARY_TOKENS = 64;

/**
 * Estimates the length of a summary before it is written: an eighth of the content that it replaces, but at least 256 and at most
 * 2,048 tokens, plus the file lists, whose length is known.
 *
 * `compactWithoutModel` stays within this estimate; a model may exceed it.
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
    textTokens: Math.min(MAX_TEXT_TOKENS, Math.max(MIN_TEXT_TOKENS, share)),
    fileListTokens: estimateTextTokens(formatFileOperations(readFiles, modifiedFiles), counter),
  };
}

/**
 * Returns the maximum number of tokens that the text of a planned summary may have in a context window.
 *
 * Keeps the reserve free if possible. Otherwise, only ensures that the request fits.
 *
 * @returns Undefined if the messages that are kept leave no room for a summary.
 */
export function getSummaryRoom(
  planned: Replaced & { readonly estimatedTokensAfter: number; readonly settings: CompactionLimits },
  contextWindow: number,
  counter?: TokenCounter,
): number | undefined {
  const { textTokens } = expectSummarySize(planned, counter);
  const left = contextWindow - (planned.estimatedTokensAfter - textTokens);
  const { reserveTokens } = planned.settings;
  return [left - reserveTokens, left].find((room) => room >= MIN_SUMMARY_TOKENS);
}
