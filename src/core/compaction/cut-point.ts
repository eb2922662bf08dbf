import { toRecord } from "../context/entry-fields.ts";
import { getMessageParts } from "../context/message-parts.ts";
import { sessionEntryToContextMessages } from "../context/project-entry.ts";
import { assertArgument, OBJECTS } from "../format/arguments.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { AgentMessage } from "../format/message.ts";
import { estimateAll, type TokenCounter } from "./tokens.ts";

/** Position of a compaction's cut. */
export interface CutPointResult {
  /** Index of the first entry to keep. */
  firstKeptEntryIndex: number;
  /** Index of the entry that begins the split turn; -1 if the cut does not split a turn. */
  turnStartIndex: number;
  /** Whether the cut splits a turn. */
  isSplitTurn: boolean;
}

/** Entry and the messages that it contributes. */
export interface CutEntry {
  readonly sourceEntry: AnySessionEntry;
  readonly messages: readonly AgentMessage[];
}

const TURN_STARTING_ROLES: ReadonlySet<unknown> = new Set([
  "user",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
]);

/**
 * Finds the cut that keeps about `keepRecentTokens` of the newest messages.
 *
 * Cuts at the nearest legal position at or after the entry that reaches the budget or, failing that, at the last legal position.
 * If no entry reaches the budget, cuts at the first legal position. A cut is legal before a message that begins a turn and before
 * an assistant message, but not between a tool call and its result. Keeps metadata directly before the cut.
 *
 * @param entries - Entries of a branch, root first, counted as stored.
 * @param startIndex - Index of the first entry that may be cut off.
 * @param endIndex - Index after the last entry.
 * @param keepRecentTokens - Budget, in tokens.
 * @returns `startIndex`, without a split turn, if no position is legal.
 * @remarks Cost: O(entries). Source: docs/compaction.md#cut-point
 */
export function findCutPoint(
  entries: readonly AnySessionEntry[],
  startIndex: number,
  endIndex: number,
  keepRecentTokens: number,
  counter?: TokenCounter,
): CutPointResult {
  assertArgument("entries", entries, OBJECTS);
  const contributions = entries.slice(0, endIndex).map(onItsOwn);
  const cut = cutContributions(contributions, startIndex, keepRecentTokens, counter);
  return cut ?? { firstKeptEntryIndex: startIndex, turnStartIndex: -1, isSplitTurn: false };
}

/**
 * Finds the start of an entry's turn: the nearest user-like message at or before it.
 *
 * @param entries - Entries of a branch, root first.
 * @param entryIndex - Index of the entry.
 * @param startIndex - Index at which the search stops.
 * @returns Index of the message, or -1 if there is none.
 */
export function findTurnStartIndex(
  entries: readonly AnySessionEntry[],
  entryIndex: number,
  startIndex: number,
): number {
  assertArgument("entries", entries, OBJECTS);
  return entries.findLastIndex(
    (entry, i) => i >= startIndex && i <= entryIndex && isTurnStart(onItsOwn(entry)),
  );
}

/**
 * Returns an entry and its messages. A compaction contributes no messages, because the new compaction replaces it whether it is
 * summarized or kept.
 */
function onItsOwn(sourceEntry: AnySessionEntry): CutEntry {
  const messages = sourceEntry.type === "compaction" ? [] : sessionEntryToContextMessages(sourceEntry);
  return { sourceEntry, messages };
}

/**
 * Finds the cut for entries and their contributions, as `findCutPoint` does. Returns undefined if no position at or after
 * `startIndex` is legal.
 */
export function cutContributions(
  entries: readonly CutEntry[],
  startIndex: number,
  keepRecentTokens: number,
  counter?: TokenCounter,
): CutPointResult | undefined {
  const legal = findLegalPositions(entries, startIndex);
  const reachedAt = findBudgetStart(entries, startIndex, keepRecentTokens, counter);
  const cut = reachedAt === -1 ? legal[0] : (legal.find((position) => position >= reachedAt) ?? legal.at(-1));
  if (cut === undefined) return undefined;
  const turnAt = entries.findLastIndex((entry, i) => i >= startIndex && i <= cut && isTurnStart(entry));
  const isSplitTurn = turnAt !== -1 && turnAt !== cut;
  return {
    firstKeptEntryIndex: skipMetadata(entries, cut, startIndex),
    turnStartIndex: isSplitTurn ? turnAt : -1,
    isSplitTurn,
  };
}

/**
 * Returns the index of the newest entry that reaches the budget, or -1 if none does. Ignores system messages, because they are
 * replayed.
 */
function findBudgetStart(
  entries: readonly CutEntry[],
  startIndex: number,
  keepRecentTokens: number,
  counter: TokenCounter | undefined,
): number {
  let total = 0;
  for (let index = entries.length - 1; index >= startIndex; index--) {
    const kept = entries[index]?.messages.filter(({ role }) => role !== "system") ?? [];
    if (kept.length === 0) continue;
    total += estimateAll(kept, counter);
    if (total >= keepRecentTokens) return index;
  }
  return -1;
}

function findLegalPositions(entries: readonly CutEntry[], startIndex: number): number[] {
  const tornBy = countTornPairs(entries);
  const positions: number[] = [];
  entries.forEach((entry, index) => {
    if (index < startIndex || tornBy[index] !== 0) return;
    if (isTurnStart(entry) || isAnswer(entry)) positions.push(index);
  });
  return positions;
}

/** Returns, for each index, the number of earlier tool calls whose results are at or after it. */
function countTornPairs(entries: readonly CutEntry[]): number[] {
  const changes = new Array<number>(entries.length + 1).fill(0);
  const open = new Map<string, number>();
  const change = (index: number, by: number) => {
    changes[index] = (changes[index] ?? 0) + by;
  };
  entries.forEach(({ messages }, index) => {
    for (const message of messages) {
      for (const id of getCallIds(message)) open.set(id, index);
      const answered = findAnsweredId(message);
      const calledAt = answered === undefined ? undefined : open.get(answered);
      if (answered === undefined || calledAt === undefined) continue;
      change(calledAt + 1, 1);
      change(index + 1, -1);
      // A second result for a call would block all cuts before it, and requests omit it anyway.
      open.delete(answered);
    }
  });
  let torn = 0;
  return changes.map((by) => (torn += by));
}

function getCallIds(message: AgentMessage): string[] {
  if (message.role !== "assistant") return [];
  return getMessageParts(message).flatMap((part) => (part.kind === "toolCall" ? part.id : []));
}

function findAnsweredId(message: AgentMessage): string | undefined {
  const { role, toolCallId } = toRecord(message);
  return role === "toolResult" && typeof toolCallId === "string" ? toolCallId : undefined;
}

function skipMetadata(entries: readonly CutEntry[], cut: number, startIndex: number): number {
  let first = cut;
  while (first > startIndex && isMetadata(entries[first - 1])) first--;
  return first;
}

function isMetadata(entry: CutEntry | undefined): boolean {
  return entry !== undefined && entry.messages.length === 0 && entry.sourceEntry.type !== "compaction";
}

function isTurnStart(entry: CutEntry): boolean {
  return hasRole(entry, (role) => TURN_STARTING_ROLES.has(role));
}

function isAnswer(entry: CutEntry): boolean {
  return hasRole(entry, (role) => role === "assistant");
}

function hasRole({ sourceEntry, messages }: CutEntry, is: (role: unknown) => boolean): boolean {
  return sourceEntry.type !== "compaction" && messages.some(({ role }) => is(role));
}
