import { expect } from "vitest";
import { compactWithoutModel } from "../../../src/core/compaction/compact-without-model.ts";
import { type CompactionPreparation, planCompaction } from "../../../src/core/compaction/plan.ts";
import type { CompactionSettings } from "../../../src/core/compaction/settings.ts";
import type { CompactionResult } from "../../../src/core/compaction/summarize.ts";
import { estimateTokens } from "../../../src/core/compaction/tokens.ts";
import { convertToLlm } from "../../../src/core/context/convert-to-llm.ts";
import { makeEntryPath } from "../../../src/core/context/entry-path.ts";
import { projectPath, type SessionProjection } from "../../../src/core/context/session-context.ts";
import { foldSystemMessages } from "../../../src/core/context/system-message.ts";
import { repairToolPairs } from "../../../src/core/context/tool-pairs.ts";
import type { AnySessionEntry } from "../../../src/core/format/entry.ts";
import type { AgentMessage, Message } from "../../../src/core/format/message.ts";

/** Result of one compaction of a branch. */
export interface Compacted {
  readonly preparation: CompactionPreparation;
  readonly result: CompactionResult;
  /** Fields of the compaction entry to append. */
  readonly draft: { type: string; [field: string]: unknown };
}

export const project = (path: readonly AnySessionEntry[]) => projectPath(makeEntryPath(path));

/** Returns the messages that a compaction must account for, without system messages and the leading summary. */
export function getConversation({ entries, messages }: SessionProjection): AgentMessage[] {
  const startsCompacted = entries[0]?.sourceEntry.type === "compaction";
  const summaryAt = startsCompacted ? messages.findIndex(({ role }) => role === "compactionSummary") : -1;
  return messages.slice(summaryAt + 1).filter(({ role }) => role !== "system");
}

/** Estimates the size of a context as `tokensBefore` does in the absence of usage. */
function estimateContext({ messages }: SessionProjection): number {
  const folded = foldSystemMessages(messages, 0);
  const others = messages.filter(({ role }) => role !== "system");
  return [...(folded ? [folded] : []), ...others].reduce((sum, message) => sum + estimateTokens(message), 0);
}

/**
 * Compacts a branch without a model, and checks every invariant of a compaction.
 *
 * @returns Undefined if the plan reports that there is nothing to compact.
 */
export function compactAndCheck(
  path: readonly AnySessionEntry[],
  settings: CompactionSettings,
): Compacted | undefined {
  const plan = planCompaction(path, settings);
  expect(planCompaction(structuredClone(path), settings)).toEqual(plan);
  if (plan.kind === "skip") {
    expect(plan.reason === "justCompacted").toBe(path.at(-1)?.type === "compaction");
    return undefined;
  }
  const { preparation } = plan;
  const before = project(path);
  const result = compactWithoutModel(preparation);
  const systemMessage = foldSystemMessages(before.messages, 0);
  const draft = { type: "compaction", ...result, ...(systemMessage ? { systemMessage } : {}) };
  const head = {
    id: "compaction-under-test",
    parentId: path.at(-1)?.id ?? null,
    timestamp: "2026-01-01T00:00:00.000Z",
  };
  const after = project([...path, { ...draft, ...head }]);
  checkAccounts(preparation, before, after);
  checkTurn(preparation, after);
  checkPairs(preparation, before, after);
  expect(estimateContext(after)).toBeLessThanOrEqual(preparation.estimatedTokensAfter);
  if (preparation.wouldShrink) expect(estimateContext(after)).toBeLessThan(estimateContext(before));
  expect(foldSystemMessages(after.messages, 0)).toEqual(systemMessage);
  return { preparation, result, draft };
}

/** Checks that every message is summarized or kept, once, in order. */
function checkAccounts(
  preparation: CompactionPreparation,
  before: SessionProjection,
  after: SessionProjection,
): void {
  const { messagesToSummarize, turnPrefixMessages } = preparation;
  const summarized = [...messagesToSummarize, ...turnPrefixMessages];
  expect(summarized.length).toBeGreaterThan(0);
  expect([...summarized, ...getConversation(after)]).toEqual(getConversation(before));
  expect(after.entries[0]?.sourceEntry.type).toBe("compaction");
}

/** Roles that begin a turn. */
export const TURN_STARTS: readonly string[] = [
  "user",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
];

/** Checks that a split turn is split at an answer, and that its prefix begins with the start of the turn. */
function checkTurn(preparation: CompactionPreparation, after: SessionProjection): void {
  const { isSplitTurn, turnPrefixMessages } = preparation;
  const firstKept = getConversation(after)[0]?.role ?? "";
  expect([...TURN_STARTS, "assistant"]).toContain(firstKept);
  const starts = turnPrefixMessages.map(({ role }) => TURN_STARTS.includes(role));
  expect(starts).toEqual(starts.map((_, index) => index === 0));
  expect(isSplitTurn).toBe(turnPrefixMessages.length > 0);
  if (isSplitTurn) expect(firstKept).toBe("assistant");
}

/** Checks that the cut leaves no result without its call, and that the request is valid. */
function checkPairs(
  preparation: CompactionPreparation,
  before: SessionProjection,
  after: SessionProjection,
): void {
  const cut = preparation.messagesToSummarize.length + preparation.turnPrefixMessages.length;
  for (const [calledAt, answeredAt] of findPairs(getConversation(before)))
    expect(calledAt < cut).toBe(answeredAt < cut);
  const kept = getConversation(before).slice(cut);
  expect(countDropped(kept)).toBeLessThanOrEqual(countDropped(getConversation(before)));
  checkRequest(convertToLlm(after.messages, { repairToolPairs: true }));
}

function countDropped(messages: readonly AgentMessage[]): number {
  return repairToolPairs(messages).repairs.filter(({ kind }) => kind === "resultDropped").length;
}

/** Returns the positions of each call and its first result. Quadratic, for simplicity. */
export function findPairs(messages: readonly AgentMessage[]): [number, number][] {
  const pairs: [number, number][] = [];
  messages.forEach((message, answeredAt) => {
    if (message.role !== "toolResult" || typeof message.toolCallId !== "string") return;
    const calledAt = messages.findLastIndex(
      (other, at) => at < answeredAt && callIds(other).includes(message.toolCallId),
    );
    const isTaken = pairs.some(
      ([called, answered]) => called === calledAt && idAt(messages, answered) === message.toolCallId,
    );
    if (calledAt !== -1 && !isTaken) pairs.push([calledAt, answeredAt]);
  });
  return pairs;
}

function idAt(messages: readonly AgentMessage[], index: number): string | undefined {
  const message = messages[index];
  return message?.role === "toolResult" ? message.toolCallId : undefined;
}

function callIds(message: AgentMessage): string[] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.flatMap((block) => (block?.type === "toolCall" ? block.id : []));
}

/** Checks that every call is answered once, directly after its message, and that nothing else is answered. */
function checkRequest(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      expect(open).toContain(message.toolCallId);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    expect(open).toEqual([]);
    open = callIds(message);
  }
  expect(open).toEqual([]);
}
