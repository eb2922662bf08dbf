import { getTexts } from "../context/content-text.ts";
import { convertToLlm } from "../context/convert-to-llm.ts";
import { toRecord } from "../context/entry-fields.ts";
import { isContextEdit, projectContextEntry } from "../context/project-entry.ts";
import { assertArgument, assertSession, OBJECTS } from "../format/arguments.ts";
import type { Usage } from "../format/content.ts";
import type { AnySessionEntry, ContextEditEntry, SessionEntry } from "../format/entry.ts";
import { SessionError } from "../format/errors.ts";
import type { AgentMessage } from "../format/message.ts";
import { assertOptions } from "../format/options.ts";
import {
  addFilesOfSummary,
  computeFileLists,
  createFileOps,
  extractFileOpsFromMessage,
  type FileOperations,
  formatFileOperations,
} from "./file-operations.ts";
import { buildPrompt } from "./prompts.ts";
import { refuseCancelled, requestSummary, type Summarize } from "./request-summary.ts";
import type { CompactOptions } from "./summarize.ts";
import { estimateAll, type TokenCounter } from "./tokens.ts";
import { serializeConversation, shortenText } from "./transcript.ts";

/** Session method required to compare branches. `SessionManager` implements it. */
export interface BranchSource {
  /** Returns the entries root → `fromId`, or an empty array if the id is unknown. */
  getBranch(fromId?: string): SessionEntry[];
}

/** Entries that a navigation abandons, and the point where the paths diverge. */
export interface CollectEntriesResult {
  /** Oldest first. */
  entries: SessionEntry[];
  /** Deepest common entry of both paths; null if there is none. */
  commonAncestorId: string | null;
}

/** Input for a branch summary. */
export interface BranchPreparation {
  /** Oldest first. */
  messages: AgentMessage[];
  fileOps: FileOperations;
  /** Estimated tokens of `messages`. */
  totalTokens: number;
}

/** Result of a branch summary, in the shape that hosts and extensions exchange. */
export interface BranchSummaryResult {
  summary?: string;
  readFiles?: string[];
  modifiedFiles?: string[];
  usage?: Usage;
  aborted?: boolean;
  error?: string;
}

/** Successful branch summary. On failure, `generateBranchSummary` throws instead. */
export interface WrittenBranchSummary extends BranchSummaryResult {
  /** Empty if the branch has nothing to summarize. */
  summary: string;
  readFiles: string[];
  modifiedFiles: string[];
}

/** Options for generating a branch summary. */
export interface GenerateBranchSummaryOptions extends CompactOptions {
  summarize: Summarize;
  /** Context window of the summarizing model, in tokens. Default: 128,000. */
  contextWindow?: number | undefined;
  /** Number of tokens in the context window to reserve for the prompt and the reply. Default: 16,384. */
  reserveTokens?: number | undefined;
  counter?: TokenCounter | undefined;
}

const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_RESERVE_TOKENS = 16_384;
const SQUEEZE_IN_BELOW = 0.9;

/** Less than the transcript's limit, so that the transcript does not truncate it again. */
const TOOL_RESULT_LENGTH = 1000;

/**
 * Collects the entries that a navigation abandons: those after the deepest common ancestor, up to the old leaf.
 *
 * @param session - The session.
 * @param oldLeafId - Id of the leaf before the navigation; null if there was no leaf.
 * @param targetId - Id of the entry to navigate to.
 * @returns Empty if the target is the old leaf or one of its descendants.
 * @remarks Cost: O(both paths).
 */
export function collectEntriesForBranchSummary(
  session: BranchSource,
  oldLeafId: string | null,
  targetId: string,
): CollectEntriesResult {
  assertSession(session);
  if (oldLeafId === null) return { entries: [], commonAncestorId: null };
  const left = session.getBranch(oldLeafId);
  const onTargetPath = new Set(session.getBranch(targetId).map(({ id }) => id));
  const ancestorAt = left.findLastIndex(({ id }) => onTargetPath.has(id));
  return { entries: left.slice(ancestorAt + 1), commonAncestorId: left[ancestorAt]?.id ?? null };
}

/**
 * Converts the newest entries that fit a budget to messages, and collects the files of all entries.
 *
 * Applies context edits, shortens tool results, and omits system messages. Stops at the first entry that does not fit. If that
 * entry is a summary and less than 90% of the budget is used, it is still included.
 *
 * @param entries - Entries of a branch, oldest first.
 * @param tokenBudget - Budget, in tokens; 0 means no limit.
 * @remarks Cost: O(size of the entries).
 */
export function prepareBranchEntries(
  entries: readonly AnySessionEntry[],
  tokenBudget = 0,
  counter?: TokenCounter,
): BranchPreparation {
  assertArgument("entries", entries, OBJECTS);
  const edits = collectEdits(entries);
  const newestFirst: AgentMessage[][] = [];
  let totalTokens = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    const messages = entry === undefined ? [] : selectSummarizable(entry, edits.get(entry.id));
    const tokens = estimateAll(messages, counter);
    if (tokenBudget > 0 && totalTokens + tokens > tokenBudget) {
      const squeezed = totalTokens < tokenBudget * SQUEEZE_IN_BELOW ? messages.filter(isSummary) : [];
      newestFirst.push(squeezed);
      totalTokens += estimateAll(squeezed, counter);
      break;
    }
    newestFirst.push(messages);
    totalTokens += tokens;
  }
  return { messages: newestFirst.reverse().flat(), fileOps: collectFiles(entries, edits), totalTokens };
}

function isSummary({ role }: AgentMessage): boolean {
  return role === "compactionSummary" || role === "branchSummary";
}

function collectEdits(entries: readonly AnySessionEntry[]): Map<string, ContextEditEntry> {
  const edits = new Map<string, ContextEditEntry>();
  for (const entry of entries) if (isContextEdit(entry)) edits.set(entry.targetId, entry);
  return edits;
}

function selectSummarizable(entry: AnySessionEntry, edit: ContextEditEntry | undefined): AgentMessage[] {
  return projectContextEntry(entry, edit)
    .filter(({ role }) => role !== "system")
    .map(withShortResult);
}

function withShortResult(message: AgentMessage): AgentMessage {
  if (message.role !== "toolResult") return message;
  const text = getTexts(message.content).join("");
  const isShort = text.length <= TOOL_RESULT_LENGTH;
  // Transcripts contain no images, so images must not use up the budget.
  if (isShort && !hasImage(message.content)) return message;
  return { ...message, content: [{ type: "text", text: shortenText(text, TOOL_RESULT_LENGTH) }] };
}

function hasImage(content: unknown): boolean {
  return Array.isArray(content) && content.some((block) => toRecord(block)["type"] === "image");
}

function collectFiles(
  entries: readonly AnySessionEntry[],
  edits: ReadonlyMap<string, ContextEditEntry>,
): FileOperations {
  const fileOps = createFileOps();
  for (const entry of entries) {
    const edit = edits.get(entry.id);
    // The files of a removed entry must not return either.
    if (edit?.replacement === null) continue;
    if (entry.type === "compaction" || entry.type === "branch_summary") addFilesOfSummary(entry, fileOps);
    for (const message of projectContextEntry(entry, edit)) extractFileOpsFromMessage(message, fileOps);
  }
  return fileOps;
}

/**
 * Requests a summary of an abandoned branch from the model.
 *
 * @param entries - As returned by `collectEntriesForBranchSummary`.
 * @returns The summary, followed by the file lists. If the branch has no conversation, the summary is empty and the model is not
 *   called.
 * @throws {SessionError} `ABORTED`, with the message `Branch summary cancelled`; `SUMMARY_FAILED` if the reply is not a summary.
 * @remarks Source: docs/compaction.md#branch-summaries
 */
export async function generateBranchSummary(
  entries: readonly AnySessionEntry[],
  options: GenerateBranchSummaryOptions,
): Promise<WrittenBranchSummary> {
  assertOptions<object>(options, {});
  const { summarize, customInstructions, replaceInstructions, signal, counter } = options;
  refuseCancelled("branch", signal);
  const window = options.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const budget = window - (options.reserveTokens ?? DEFAULT_RESERVE_TOKENS);
  // A budget of 0 would mean no limit.
  const { messages, fileOps } = prepareBranchEntries(entries, Math.max(budget, 1), counter);
  const { readFiles, modifiedFiles } = computeFileLists(fileOps);
  const conversation = serializeConversation(convertToLlm(messages));
  if (conversation === "") {
    assertNothingLeftOut(entries, messages, budget);
    return { summary: "", readFiles, modifiedFiles };
  }
  const prompt = buildPrompt("branch", { conversation, customInstructions, replaceInstructions });
  const { text, usage } = await requestSummary(summarize, { kind: "branch", prompt, signal });
  const summary = text + formatFileOperations(readFiles, modifiedFiles);
  return { summary, readFiles, modifiedFiles, ...(usage === undefined ? {} : { usage }) };
}

/** Throws if even the newest message exceeds the budget, because otherwise the branch would appear to be empty. */
function assertNothingLeftOut(
  entries: readonly AnySessionEntry[],
  messages: readonly AgentMessage[],
  budget: number,
) {
  if (messages.length === prepareBranchEntries(entries).messages.length) return;
  const message = `No summary was written: the newest message of the branch does not fit into ${budget} tokens. Nothing was changed; use a model with a larger context window.`;
  throw new SessionError("SUMMARY_FAILED", message, { details: { kind: "branch", budget } });
}
