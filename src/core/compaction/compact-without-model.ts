import { getTexts } from "../context/content-text.ts";
import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts, takeStart, toText } from "../context/message-parts.ts";
import type { AgentMessage } from "../format/message.ts";
import type { CompactionPreparation } from "./plan.ts";
import type { Summarize } from "./request-summary.ts";
import {
  addUsage,
  assertSomethingToCompact,
  type CompactionDetails,
  type CompactionResult,
  type CompactOptions,
  getPreviousText,
  makeCompactionResult,
  writeSummary,
} from "./summarize.ts";
import { expectSummarySize } from "./summary-size.ts";
import { estimateTextTokens, type TokenCounter } from "./tokens.ts";
import { describeCall } from "./transcript.ts";

const CHARACTERS_PER_TOKEN = 4;
const LINE_LENGTH = 240;
const INTRODUCTION = "(Extracted without a model: quotations, shortened, oldest first.)";
const GOAL_HEADING = "## Goal\n\n";
const PROGRESS_HEADING = "## Progress\n\n";
const NOTES_HEADING = "## Earlier Notes\n\n";
const GAP = "- …";
const GLUE = "\n\n";

/**
 * Builds a summary without a model: the user's requests, the last steps, the previous summary, and the files.
 *
 * Contains only quotes, and never exceeds the summary size that `planCompaction` expects, so that a host can always compact. The
 * same preparation always produces the same summary.
 *
 * @param preparation - As returned by `prepareCompaction`.
 * @param maxTokens - Maximum number of tokens in the text, excluding the file lists.
 * @param counter - Counts these tokens. By default, they are estimated.
 * @returns A result whose `details.withoutModel` is true.
 * @throws {SessionError} `NOTHING_TO_COMPACT` if the preparation has neither messages nor a summary.
 * @remarks Cost: O(size of the messages). Source: docs/compaction.md#without-a-model
 */
export function compactWithoutModel(
  preparation: CompactionPreparation,
  maxTokens = Number.POSITIVE_INFINITY,
  counter?: TokenCounter,
): CompactionResult<CompactionDetails> {
  assertSomethingToCompact(preparation);
  const tokens = Math.min(expectSummarySize(preparation, counter).textTokens, maxTokens);
  let length = Math.max(0, Math.floor(tokens * CHARACTERS_PER_TOKEN));
  let text = extractSummary(preparation, length);
  for (let used = estimateTextTokens(text, counter); used > tokens && length > 0; ) {
    length = Math.floor((Math.min(length, text.length) * tokens) / used);
    text = extractSummary(preparation, length);
    used = estimateTextTokens(text, counter);
  }
  const result = makeCompactionResult(preparation, text);
  return { ...result, details: { ...result.details, withoutModel: true } };
}

/** Parts of an extracted summary. Each line begins with `- ` and contains no line breaks. */
interface Extract {
  readonly goals: readonly string[];
  readonly steps: readonly string[];
  readonly notes: string;
}

function extractSummary(preparation: CompactionPreparation, length: number): string {
  const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages];
  const { goals, steps, notes } = parseExtract(getPreviousText(preparation) ?? "");
  const left = length - INTRODUCTION.length - 2 * GLUE.length;
  const share = Math.floor(left / (notes === "" ? 2 : 4));
  const sections = [
    INTRODUCTION,
    formatLineSection(GOAL_HEADING, [...goals, ...messages.flatMap(extractGoals)], share),
    formatLineSection(PROGRESS_HEADING, [...steps, ...messages.flatMap(extractSteps)], share),
    notes === "" ? "" : NOTES_HEADING + notes,
  ];
  return takeStart(sections.filter((text) => text !== "").join(GLUE), length).trimEnd();
}

/** Parses the previous summary if it was also extracted, to avoid nesting. */
function parseExtract(previous: string): Extract {
  if (!previous.startsWith(INTRODUCTION)) return { goals: [], steps: [], notes: previous };
  const notesAt = previous.indexOf(NOTES_HEADING);
  const notes = notesAt === -1 ? "" : previous.slice(notesAt + NOTES_HEADING.length);
  const [goals = "", steps = ""] = (notesAt === -1 ? previous : previous.slice(0, notesAt)).split(
    PROGRESS_HEADING,
  );
  return { goals: splitLines(goals), steps: splitLines(steps), notes };
}

function splitLines(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("- ") && line !== GAP);
}

/** Formats a heading and the lines that fit: the first line and the newest ones. */
function formatLineSection(heading: string, lines: readonly string[], length: number): string {
  const [first, ...others] = lines;
  if (first === undefined) return "";
  let left = length - heading.length - first.length - GAP.length - 1;
  let from = others.length;
  while (from > 0) {
    left -= (others[from - 1]?.length ?? 0) + 1;
    if (left < 0) break;
    from--;
  }
  const gap = from === 0 ? [] : [GAP];
  return heading + [first, ...gap, ...others.slice(from)].join("\n");
}

function extractGoals(message: AgentMessage): string[] {
  const { role, content } = toRecord(message);
  return role === "user" ? formatLine(getTexts(content).join(" ")) : [];
}

function extractSteps(message: AgentMessage): string[] {
  const fields = toRecord(message);
  switch (fields["role"]) {
    case "assistant":
      return getMessageParts(message).flatMap((part) => {
        if (part.kind === "toolCall") return formatLine(describeCall(part));
        return part.kind === "text" ? formatLine(part.text) : [];
      });
    case "toolResult":
      return fields["isError"] === true ? formatLine(`Failed: ${getTexts(fields["content"]).join(" ")}`) : [];
    case "bashExecution":
      return fields["excludeFromContext"] === true
        ? []
        : formatLine(`The user ran: ${toText(fields["command"])}`);
    case "branchSummary":
    case "compactionSummary":
      return formatLine(`Summary: ${toText(fields["summary"])}`);
    default:
      return [];
  }
}

function formatLine(text: string): string[] {
  // Only the beginning can fit, and the text may be several megabytes long.
  const words = takeStart(text, LINE_LENGTH * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (words === "") return [];
  return [words.length <= LINE_LENGTH ? `- ${words}` : `- ${takeStart(words, LINE_LENGTH)}…`];
}

/** Limits of a summary. */
interface SummaryFit {
  readonly contextWindow: number;
  /** Maximum number of tokens in the text of the summary; see `getSummaryRoom`. */
  readonly room: number;
  readonly counter?: TokenCounter | undefined;
}

/** Tokens in a prompt beyond the conversation and the previous summary. */
const INSTRUCTION_TOKENS = 1000;
/** Lower than average, because models count words inaccurately. */
const WORDS_PER_TOKEN = 0.5;

/**
 * Requests the summary of a planned compaction from a model, so that the prompt and the summary fit in the context window.
 *
 * If the summary is too long, it is requested again with a word limit; if it is still too long, a summary is extracted without a
 * model.
 */
export async function compactToFit(
  preparation: CompactionPreparation,
  summarize: Summarize,
  options: CompactOptions,
  { contextWindow, room, counter }: SummaryFit,
): Promise<CompactionResult<CompactionDetails>> {
  const { textTokens, fileListTokens } = expectSummarySize(preparation, counter);
  const others = estimateTextTokens(getPreviousText(preparation) ?? "", counter) + INSTRUCTION_TOKENS;
  const maxConversationTokens = Math.max(0, contextWindow - others - Math.min(room, textTokens));
  const bounds = { ...options, maxConversationTokens, counter };
  const fits = ({ summary }: CompactionResult) =>
    estimateTextTokens(summary, counter) <= room + fileListTokens;

  const first = await writeSummary(preparation, summarize, bounds);
  if (fits(first)) return first;
  const texts = preparation.isSplitTurn ? 2 : 1;
  const maxWords = Math.floor((room * WORDS_PER_TOKEN) / texts);
  const second = await writeSummary(preparation, summarize, { ...bounds, maxWords });
  const usage = addUsage(first.usage, second.usage);
  const result = fits(second) ? second : compactWithoutModel(preparation, room, counter);
  return { ...result, ...(usage !== undefined && { usage }) };
}
