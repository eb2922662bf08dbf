import { compactWithoutModel } from "./compact-without-model.ts";
import type { CompactionPreparation } from "./plan.ts";
import type { Summarize } from "./request-summary.ts";
import {
  addUsage,
  type CompactionDetails,
  type CompactionResult,
  type CompactOptions,
  previousText,
  writeSummary,
} from "./summarize.ts";
import { expectSummarySize } from "./summary-size.ts";
import { estimateTextTokens, type TokenCounter } from "./tokens.ts";

/** What a summary must fit. */
export interface SummaryFit {
  readonly contextWindow: number;
  /** The most tokens that the text of the summary may have; see `roomForSummary`. */
  readonly room: number;
  readonly counter?: TokenCounter | undefined;
}

/** Tokens of a prompt beside the conversation and the previous summary. */
const INSTRUCTION_TOKENS = 1000;
const CHARACTERS_PER_TOKEN = 4;
/** Fewer than a token holds on average, because models count badly. */
const WORDS_PER_TOKEN = 0.5;

/**
 * Asks a model for the summary of a planned compaction, so that prompt and summary fit the context window.
 *
 * A summary that is too long is requested once more, with a bound; if that is too long as well, it is extracted without a
 * model.
 */
export async function compactToFit(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions,
  { contextWindow, room, counter }: SummaryFit,
): Promise<CompactionResult<CompactionDetails>> {
  const { textTokens, fileListTokens } = expectSummarySize(preparation, counter);
  const others = estimateTextTokens(previousText(preparation) ?? "", counter) + INSTRUCTION_TOKENS;
  const conversationTokens = contextWindow - others - Math.min(room, textTokens);
  const maxConversationLength = Math.max(0, conversationTokens) * CHARACTERS_PER_TOKEN;
  const fits = ({ summary }: CompactionResult) =>
    estimateTextTokens(summary, counter) <= room + fileListTokens;

  const first = await writeSummary(preparation, summarize, { ...options, maxConversationLength });
  if (fits(first)) return first;
  const texts = preparation.isSplitTurn ? 2 : 1;
  const maxWords = Math.floor((room * WORDS_PER_TOKEN) / texts);
  const second = await writeSummary(preparation, summarize, { ...options, maxConversationLength, maxWords });
  const usage = addUsage(first.usage, second.usage);
  const result = fits(second) ? second : compactWithoutModel(preparation, room);
  return { ...result, ...(usage !== undefined && { usage }) };
}
