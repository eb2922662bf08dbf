import type { AgentMessage } from "../schema/message.ts";
import { computeFileLists, type FileOperations, formatFileOperations } from "./file-operations.ts";
import { estimateAll, estimateTextTokens, type TokenCounter } from "./tokens.ts";

/** What a summary takes the place of. */
export interface Replaced {
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages: readonly AgentMessage[];
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
}

/** How much goes, and how much comes in its place; in tokens. */
export interface SummarySize {
  /** Estimate of the messages that are summarised, and of the summary before. */
  readonly replacedTokens: number;
  /** What the new summary's text may be expected to need. */
  readonly textTokens: number;
  /** What the file lists at its end need. */
  readonly fileListTokens: number;
}

const LEAST_TEXT_TOKENS = 256;
const MOST_TEXT_TOKENS = 2048;
const REPLACED_PER_TEXT_TOKEN = 8;

/**
 * Says how long a summary will be before anybody has written it: an eighth of what it replaces, between 256 and 2,048
 * tokens, and the file lists, whose length is known.
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
