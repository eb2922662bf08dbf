import { textsOf } from "../context/content-text.ts";
import { convertToLlm } from "../context/convert-to-llm.ts";
import { fieldsOf } from "../context/entry-fields.ts";
import { isContextEdit, projectContextEntry } from "../context/project-entry.ts";
import type { Usage } from "../schema/content.ts";
import type { AnySessionEntry, ContextEditEntry, SessionEntry } from "../schema/entry.ts";
import { SessionError } from "../schema/errors.ts";
import type { AgentMessage } from "../schema/message.ts";
import {
  addFileListsOf,
  computeFileLists,
  createFileOps,
  extractFileOpsFromMessage,
  type FileOperations,
  formatFileOperations,
} from "./file-operations.ts";
import { branchPrompt } from "./prompts.ts";
import { refuseCancelled, requestSummary, type Summarize } from "./request-summary.ts";
import type { CompactOptions } from "./summarize.ts";
import { estimateAll, type TokenCounter } from "./tokens.ts";
import { serializeConversation, shortenText } from "./transcript.ts";

/** What is needed of a session to tell its branches apart; a `SessionManager` has it. */
export interface BranchSource {
  /** The entries root → `fromId`; empty if the id is unknown. */
  getBranch(fromId?: string): SessionEntry[];
}

/** The entries that a navigation leaves behind. */
export interface CollectEntriesResult {
  /** Oldest first. */
  entries: SessionEntry[];
  /** The deepest entry that both paths have; null if they share none. */
  commonAncestorId: string | null;
}

/** What a branch summary is made of. */
export interface BranchPreparation {
  /** Oldest first. */
  messages: AgentMessage[];
  fileOps: FileOperations;
  /** Estimate of `messages`. */
  totalTokens: number;
}

/** How a branch summary can come out, in the shape that hosts and extensions hand around. */
export interface BranchSummaryResult {
  summary?: string;
  readFiles?: string[];
  modifiedFiles?: string[];
  usage?: Usage;
  aborted?: boolean;
  error?: string;
}

/** A branch summary that was written. `generateBranchSummary` gives nothing less: what goes wrong is thrown. */
export interface WrittenBranchSummary extends BranchSummaryResult {
  /** Empty if the branch holds nothing to summarise. */
  summary: string;
  readFiles: string[];
  modifiedFiles: string[];
}

/** How a branch summary is to be written. */
export interface GenerateBranchSummaryOptions extends CompactOptions {
  summarize: Summarize;
  /** Size of the summarizing model's context, in tokens; 128,000 unless given. */
  contextWindow?: number | undefined;
  /** Part of it that stays free for the prompt and the reply, in tokens; 16,384 unless given. */
  reserveTokens?: number | undefined;
  counter?: TokenCounter | undefined;
}

const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_RESERVE_TOKENS = 16_384;
const SQUEEZE_IN_BELOW = 0.9;

/** Shorter than in a transcript, so that what is shortened here is not shortened again there. */
const TOOL_RESULT_LENGTH = 1000;

/**
 * Collects what a navigation leaves behind: the entries after the deepest common ancestor, up to the old leaf.
 *
 * @param session - Where the entries are.
 * @param oldLeafId - The leaf that is left; null if there was none.
 * @param targetId - Where the navigation goes.
 * @returns No entries if the target is the old leaf or comes after it.
 * @remarks Cost: O(both paths).
 */
export function collectEntriesForBranchSummary(
  session: BranchSource,
  oldLeafId: string | null,
  targetId: string,
): CollectEntriesResult {
  if (oldLeafId === null) return { entries: [], commonAncestorId: null };
  const left = session.getBranch(oldLeafId);
  const onTargetPath = new Set(session.getBranch(targetId).map(({ id }) => id));
  const ancestorAt = left.findLastIndex(({ id }) => onTargetPath.has(id));
  return { entries: left.slice(ancestorAt + 1), commonAncestorId: left[ancestorAt]?.id ?? null };
}

/**
 * Makes messages of the entries of a branch, the newest that fit a budget, and collects the files of all of them.
 *
 * Context edits among the entries are applied. Texts of tool results are shortened. System messages are left out. The first
 * entry that does not fit ends the selection; a summary still gets in while less than 90 % of the budget is used.
 *
 * @param entries - Entries of a branch, oldest first.
 * @param tokenBudget - In tokens; 0 is no limit.
 * @remarks Cost: O(size of the entries).
 */
export function prepareBranchEntries(
  entries: readonly AnySessionEntry[],
  tokenBudget = 0,
  counter?: TokenCounter,
): BranchPreparation {
  const edits = editsAmong(entries);
  const newestFirst: AgentMessage[][] = [];
  let totalTokens = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    const messages = entry === undefined ? [] : summarizable(entry, edits.get(entry.id));
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
  return { messages: newestFirst.reverse().flat(), fileOps: filesOf(entries), totalTokens };
}

function isSummary({ role }: AgentMessage): boolean {
  return role === "compactionSummary" || role === "branchSummary";
}

function editsAmong(entries: readonly AnySessionEntry[]): Map<string, ContextEditEntry> {
  const edits = new Map<string, ContextEditEntry>();
  for (const entry of entries) if (isContextEdit(entry)) edits.set(entry.targetId, entry);
  return edits;
}

function summarizable(entry: AnySessionEntry, edit: ContextEditEntry | undefined): AgentMessage[] {
  return projectContextEntry(entry, edit)
    .filter(({ role }) => role !== "system")
    .map(withShortResult);
}

function withShortResult(message: AgentMessage): AgentMessage {
  if (message.role !== "toolResult") return message;
  const text = textsOf(message.content).join("");
  const isShort = text.length <= TOOL_RESULT_LENGTH;
  // Images never get into a transcript, so they must not use up the budget either.
  if (isShort && !hasImage(message.content)) return message;
  return { ...message, content: [{ type: "text", text: shortenText(text, TOOL_RESULT_LENGTH) }] };
}

function hasImage(content: unknown): boolean {
  return Array.isArray(content) && content.some((block) => fieldsOf(block)["type"] === "image");
}

function filesOf(entries: readonly AnySessionEntry[]): FileOperations {
  const fileOps = createFileOps();
  for (const entry of entries) {
    if (entry.type === "compaction" || entry.type === "branch_summary") addFileListsOf(entry, fileOps);
    for (const message of projectContextEntry(entry)) extractFileOpsFromMessage(message, fileOps);
  }
  return fileOps;
}

/**
 * Has a summary written of a branch that is left.
 *
 * @param entries - As `collectEntriesForBranchSummary` gives them.
 * @returns The summary with the file lists at its end; an empty one, and no model was asked, if the branch holds no conversation.
 * @throws {SessionError} `ABORTED`, with the message "Branch summary cancelled"; `SUMMARY_FAILED` when the reply is no summary.
 * @remarks Source: docs/compaction.md#branch-summaries
 */
export async function generateBranchSummary(
  entries: readonly AnySessionEntry[],
  options: GenerateBranchSummaryOptions,
): Promise<WrittenBranchSummary> {
  const { summarize, customInstructions, replaceInstructions, signal, counter } = options;
  refuseCancelled("branch", signal);
  const window = options.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const budget = window - (options.reserveTokens ?? DEFAULT_RESERVE_TOKENS);
  // A budget of 0 would be no limit.
  const { messages, fileOps } = prepareBranchEntries(entries, Math.max(budget, 1), counter);
  const { readFiles, modifiedFiles } = computeFileLists(fileOps);
  const conversation = serializeConversation(convertToLlm(messages));
  if (conversation === "") {
    assertNothingLeftOut(entries, messages, budget);
    return { summary: "", readFiles, modifiedFiles };
  }
  const prompt = branchPrompt({ conversation, customInstructions, replaceInstructions });
  const { text, usage } = await requestSummary(summarize, { kind: "branch", prompt, signal });
  const summary = text + formatFileOperations(readFiles, modifiedFiles);
  return { summary, readFiles, modifiedFiles, ...(usage === undefined ? {} : { usage }) };
}

/** A branch whose newest message alone is too long must not pass for one that holds nothing. */
function assertNothingLeftOut(
  entries: readonly AnySessionEntry[],
  messages: readonly AgentMessage[],
  budget: number,
) {
  if (messages.length === prepareBranchEntries(entries).messages.length) return;
  throw new SessionError(
    "SUMMARY_FAILED",
    `No summary was written: the newest message of the branch does not fit into ${budget} tokens. Nothing was changed; use a model with a larger context window.`,
    { details: { kind: "branch", budget } },
  );
}
