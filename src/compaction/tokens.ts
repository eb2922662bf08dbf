import { fieldsOf, listOf } from "../context/entry-fields.ts";
import type { SessionProjection } from "../context/session-context.ts";
import { foldSystemMessages } from "../context/system-message.ts";
import type { Usage } from "../schema/content.ts";
import type { AnySessionEntry } from "../schema/entry.ts";
import type { JsonRecord } from "../schema/json.ts";
import type { AgentMessage } from "../schema/message.ts";
import { jsonOf, partsOf, textOf } from "./message-parts.ts";
import type { CompactionLimits } from "./settings.ts";
import { isUsage } from "./usage.ts";

/** Counts the tokens of a text, as a real tokenizer does. A whole number or not, never negative. */
export type TokenCounter = (text: string) => number;

/** How large a context is, and how that is known. */
export interface ContextUsageEstimate {
  /** `usageTokens` and `trailingTokens` together. */
  tokens: number;
  /** What the provider counted up to `lastUsageIndex`; 0 if nothing it said applies. */
  usageTokens: number;
  /** Estimate of what the provider did not count. */
  trailingTokens: number;
  /** Index of the assistant message whose usage was taken; null if none was. */
  lastUsageIndex: number | null;
}

const CHARACTERS_PER_TOKEN = 4;
const CHARACTERS_PER_IMAGE = 4800;

/** What counts in a message: its texts, and how many images it has. */
interface Weight {
  readonly texts: readonly string[];
  readonly images: number;
}

/**
 * Estimates the tokens of one message: a quarter of its characters, rounded up; an image counts as 4,800 characters.
 *
 * What is never sent to a model (details, nested calls) does not count. A malformed message counts for what is legible.
 *
 * @param message - A message of any role.
 * @param counter - Counts the tokens of each text in place of the quarter; images stay at 1,200 tokens.
 * @throws {TypeError} If `counter` gives something that is no size.
 * @remarks Cost: O(size of the message). Source: docs/compaction.md#tokens
 */
export function estimateTokens(message: AgentMessage, counter?: TokenCounter): number {
  return tokensOf(weigh(message), counter);
}

/** Estimates the tokens of a text, as `estimateTokens` does for a message that holds nothing else. */
export function estimateTextTokens(text: string, counter?: TokenCounter): number {
  return tokensOf({ texts: [text], images: 0 }, counter);
}

/** Adds up the estimates of messages. */
export function estimateAll(messages: readonly AgentMessage[], counter?: TokenCounter): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message, counter), 0);
}

function tokensOf({ texts, images }: Weight, counter: TokenCounter | undefined): number {
  const imageCharacters = images * CHARACTERS_PER_IMAGE;
  if (counter === undefined) {
    const characters = texts.reduce((sum, text) => sum + text.length, imageCharacters);
    return Math.ceil(characters / CHARACTERS_PER_TOKEN);
  }
  const imageTokens = imageCharacters / CHARACTERS_PER_TOKEN;
  return texts.reduce((sum, text) => sum + (text === "" ? 0 : count(text, counter)), imageTokens);
}

function count(text: string, counter: TokenCounter): number {
  const tokens = counter(text);
  if (Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new TypeError(`A token counter must give a number of at least 0 and gave ${String(tokens)}.`);
}

function weigh(message: AgentMessage): Weight {
  const fields = fieldsOf(message);
  switch (fields["role"]) {
    case "bashExecution":
      return { texts: [textOf(fields["command"]), textOf(fields["output"])], images: 0 };
    case "branchSummary":
    case "compactionSummary":
      return { texts: [textOf(fields["summary"])], images: 0 };
    case "system":
      return { texts: [...weighContent(message).texts, ...instructionTexts(fields)], images: 0 };
    default:
      return weighContent(message);
  }
}

function weighContent(message: AgentMessage): Weight {
  const parts = partsOf(message);
  const texts = parts.flatMap((part) => {
    if (part.kind === "image") return [];
    return part.kind === "toolCall" ? [part.name, jsonOf(part.arguments)] : part.text;
  });
  return { texts, images: parts.filter(({ kind }) => kind === "image").length };
}

function instructionTexts(system: JsonRecord): string[] {
  const { sections, toolsAdded } = system;
  const tools = listOf(toolsAdded);
  return [...Object.values(fieldsOf(sections)).map(textOf), ...tools.map(jsonOf)];
}

/**
 * Returns the size of the context that a usage was counted for: `totalTokens`, else the sum of its four parts.
 *
 * @returns 0 if the usage has none of these, as with other programs' keys.
 */
export function calculateContextTokens(usage: Usage): number {
  const { totalTokens, input, output, cacheRead, cacheWrite } = fieldsOf(usage);
  return sizeOf(totalTokens) || sizeOf(input) + sizeOf(output) + sizeOf(cacheRead) + sizeOf(cacheWrite);
}

function sizeOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * Finds the usage of the last assistant message that was neither aborted nor failed and whose usage is not zero.
 *
 * @param entries - Entries of a branch, root first.
 * @returns The usage as stored, or undefined if there is none.
 */
export function getLastAssistantUsage(entries: readonly AnySessionEntry[]): Usage | undefined {
  for (let index = entries.length - 1; index >= 0; index--) {
    const { type, message } = fieldsOf(entries[index]);
    const usage = type === "message" ? countedUsage(message) : undefined;
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** The usage of a message that says how large its context was, if it says so. */
function countedUsage(message: unknown): Usage | undefined {
  const { role, stopReason, usage } = fieldsOf(message);
  if (role !== "assistant" || stopReason === "aborted" || stopReason === "error") return undefined;
  return isUsage(usage) && calculateContextTokens(usage) > 0 ? usage : undefined;
}

/**
 * Tells how large a context is: the last usage in it, and an estimate of the messages after that.
 *
 * It does not know whether that usage was counted for these messages: after a compaction or an edit use
 * `estimateProjectedContextTokens`.
 *
 * @param messages - The messages of a context.
 * @remarks Cost: O(messages after the last usage).
 */
export function estimateContextTokens(
  messages: readonly AgentMessage[],
  counter?: TokenCounter,
): ContextUsageEstimate {
  for (let index = messages.length - 1; index >= 0; index--) {
    const usage = countedUsage(messages[index]);
    if (usage !== undefined) return sinceUsage(messages, index, usage, counter);
  }
  return withoutUsage(messages, counter);
}

/**
 * Tells how large a projected context is.
 *
 * A usage that is not later on the branch than the last compaction or context edit was counted for another context. Where
 * no usage applies, the folded system message and all other messages are estimated.
 *
 * @param projection - The context.
 * @param branchEntries - The branch that it was made of, root first.
 * @returns As `estimateContextTokens` does; `lastUsageIndex` is an index into `projection.messages`.
 * @remarks Cost: O(branch) in heads, and the messages that are estimated.
 */
export function estimateProjectedContextTokens(
  projection: Pick<SessionProjection, "entries" | "messages">,
  branchEntries: readonly AnySessionEntry[],
  counter?: TokenCounter,
): ContextUsageEstimate {
  const { entries, messages } = projection;
  const changedAt = branchEntries.findLastIndex(
    ({ type }) => type === "compaction" || type === "context_edit",
  );
  const later = new Set(branchEntries.slice(changedAt + 1).map(({ id }) => id));
  let end = messages.length;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry === undefined || !later.has(entry.sourceEntry.id)) break;
    const within = entry.messages.findLastIndex((message) => countedUsage(message) !== undefined);
    end -= entry.messages.length;
    const usage = countedUsage(entry.messages[within]);
    if (usage !== undefined) return sinceUsage(messages, end + within, usage, counter);
  }
  return withoutUsage(withFoldedSystem(messages), counter);
}

/** Puts what the system messages come to in place of all of them. */
function withFoldedSystem(messages: readonly AgentMessage[]): AgentMessage[] {
  const system = foldSystemMessages(messages, 0);
  const others = messages.filter((message) => fieldsOf(message)["role"] !== "system");
  return system === undefined ? others : [system, ...others];
}

function sinceUsage(
  messages: readonly AgentMessage[],
  index: number,
  usage: Usage,
  counter: TokenCounter | undefined,
): ContextUsageEstimate {
  const usageTokens = calculateContextTokens(usage);
  const trailingTokens = estimateAll(messages.slice(index + 1), counter);
  return { tokens: usageTokens + trailingTokens, usageTokens, trailingTokens, lastUsageIndex: index };
}

function withoutUsage(
  messages: readonly AgentMessage[],
  counter: TokenCounter | undefined,
): ContextUsageEstimate {
  const tokens = estimateAll(messages, counter);
  return { tokens, usageTokens: 0, trailingTokens: tokens, lastUsageIndex: null };
}

/** Tells whether a context leaves less free than its settings reserve. */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionLimits,
): boolean {
  return settings.enabled && contextTokens > contextWindow - settings.reserveTokens;
}
