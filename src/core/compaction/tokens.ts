import { toArray, toRecord } from "../context/entry-fields.ts";
import { getMessageParts, toJson, toText } from "../context/message-parts.ts";
import type { SessionProjection } from "../context/session-context.ts";
import { foldSystemMessages } from "../context/system-message.ts";
import { isUnfinished } from "../context/unfinished-answer.ts";
import { calculateContextTokens, isUsage } from "../context/usage.ts";
import { ARRAY, assertArgument, OBJECTS } from "../format/arguments.ts";
import type { Usage } from "../format/content.ts";
import type { AnySessionEntry } from "../format/entry.ts";
import type { JsonRecord } from "../format/json.ts";
import type { AgentMessage } from "../format/message.ts";
import { CALLBACK, OBJECT, type OptionRule } from "../format/options.ts";
import type { CompactionLimits } from "./settings.ts";

/** Counts the tokens in a string, as a tokenizer does. Must not return a negative number. */
export type TokenCounter = (text: string) => number;

/** Size of a context, and how it was determined. */
export interface ContextUsageEstimate {
  /** Sum of `usageTokens` and `trailingTokens`. */
  tokens: number;
  /** The provider's count up to `lastUsageIndex`; 0 if none applies. */
  usageTokens: number;
  /** Estimate for the messages that the provider did not count. */
  trailingTokens: number;
  /** Index of the assistant message whose usage was applied; null if no usage was applied. */
  lastUsageIndex: number | null;
}

const CHARACTERS_PER_TOKEN = 4;
const CHARACTERS_PER_IMAGE = 4800;

/** Parts of a message that determine its size: text, and the number of images. */
interface Weight {
  readonly texts: readonly string[];
  readonly images: number;
}

/**
 * Estimates the number of tokens in a message: a quarter of its characters, rounded up. An image counts as 4,800 characters.
 *
 * Ignores fields that are never sent to a model (details and nested calls) and malformed values.
 *
 * @param message - Message of any role.
 * @param counter - Counts the tokens in each string instead of estimating them. Images still count as 1,200 tokens.
 * @throws {TypeError} If `counter` does not return a nonnegative number.
 * @remarks Cost: O(size of the message). Source: docs/compaction.md#tokens
 */
export function estimateTokens(message: AgentMessage, counter?: TokenCounter): number {
  return countTokens(weighMessage(message), counter);
}

/** Estimates the number of tokens in a string, as `estimateTokens` does for a message with no other content. */
export function estimateTextTokens(text: string, counter?: TokenCounter): number {
  return countTokens({ texts: [text], images: 0 }, counter);
}

/** Estimates the total number of tokens in an array of messages. */
export function estimateAll(messages: readonly AgentMessage[], counter?: TokenCounter): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message, counter), 0);
}

function countTokens({ texts, images }: Weight, counter: TokenCounter | undefined): number {
  const imageCharacters = images * CHARACTERS_PER_IMAGE;
  if (counter === undefined) {
    const characters = texts.reduce((sum, text) => sum + text.length, imageCharacters);
    return Math.ceil(characters / CHARACTERS_PER_TOKEN);
  }
  assertArgument("counter", counter, CALLBACK);
  const imageTokens = imageCharacters / CHARACTERS_PER_TOKEN;
  return Math.ceil(
    texts.reduce((sum, text) => sum + (text === "" ? 0 : countText(text, counter)), imageTokens),
  );
}

/** First UTF-16 code unit after the Latin alphabet, and first code unit of scripts with larger character sets. */
const OTHER_ALPHABETS = 0x370;
const MANY_SIGNS = 0x800;

/**
 * Counts one token per four characters of Latin text, per two characters of another alphabet (Greek, Cyrillic, Hebrew, Arabic),
 * or per character of any other script, such as Chinese.
 *
 * Does not undercount: tokenizers use 0.5 to 1.0 tokens per Chinese, Japanese, or Korean character.
 */
export function countByScript(text: string): number {
  if (!/[\u0370-\uffff]/.test(text)) return text.length / CHARACTERS_PER_TOKEN;
  let quarters = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    quarters += unit < OTHER_ALPHABETS ? 1 : unit < MANY_SIGNS ? 2 : 4;
  }
  return quarters / CHARACTERS_PER_TOKEN;
}

function countText(text: string, counter: TokenCounter): number {
  const tokens = counter(text);
  if (Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new TypeError(`A token counter must return a number of at least 0, but returned ${String(tokens)}.`);
}

function weighMessage(message: AgentMessage): Weight {
  const fields = toRecord(message);
  switch (fields["role"]) {
    case "bashExecution":
      return { texts: [toText(fields["command"]), toText(fields["output"])], images: 0 };
    case "branchSummary":
    case "compactionSummary":
      return { texts: [toText(fields["summary"])], images: 0 };
    case "system":
      return { texts: [...weighContent(message).texts, ...getInstructionTexts(fields)], images: 0 };
    default:
      return weighContent(message);
  }
}

function weighContent(message: AgentMessage): Weight {
  const parts = getMessageParts(message);
  const texts = parts.flatMap((part) => {
    if (part.kind === "image") return [];
    return part.kind === "toolCall" ? [part.name, toJson(part.arguments)] : part.text;
  });
  return { texts, images: parts.filter(({ kind }) => kind === "image").length };
}

function getInstructionTexts(system: JsonRecord): string[] {
  const { sections, toolsAdded } = system;
  const tools = toArray(toolsAdded);
  return [...Object.values(toRecord(sections)).map(toText), ...tools.map(toJson)];
}

/**
 * Finds the usage of the last finished assistant message whose usage is not zero.
 *
 * @param entries - Entries of a branch, root first.
 * @returns The usage as stored, or undefined if there is none.
 */
export function getLastAssistantUsage(entries: readonly AnySessionEntry[]): Usage | undefined {
  assertArgument("entries", entries, ARRAY);
  for (let index = entries.length - 1; index >= 0; index--) {
    const { type, message } = toRecord(entries[index]);
    const usage = type === "message" ? findCountedUsage(message) : undefined;
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** Returns the usage of a message if it reflects the size of the context. */
function findCountedUsage(message: unknown): Usage | undefined {
  const { role, usage } = toRecord(message);
  if (role !== "assistant" || isUnfinished(message)) return undefined;
  return isUsage(usage) && calculateContextTokens(usage) > 0 ? usage : undefined;
}

/**
 * Estimates the size of a context: the last usage in it, plus an estimate of the messages after it.
 *
 * The last usage may describe different messages. After a compaction or a context edit, use `estimateProjectedContextTokens`.
 *
 * @param messages - The messages of a context.
 * @remarks Cost: O(messages after the last usage).
 */
export function estimateContextTokens(
  messages: readonly AgentMessage[],
  counter?: TokenCounter,
): ContextUsageEstimate {
  assertArgument("messages", messages, ARRAY);
  for (let index = messages.length - 1; index >= 0; index--) {
    const usage = findCountedUsage(messages[index]);
    if (usage !== undefined) return countSinceUsage(messages, index, usage, counter);
  }
  return withoutUsage(messages, counter);
}

const PROJECTION: OptionRule = {
  fits: (value) => [toRecord(value)["entries"], toRecord(value)["messages"]].every(Array.isArray),
  words: "what buildSessionProjection returned",
};

/**
 * Estimates the size of a projected context.
 *
 * Ignores usage before the last compaction or context edit, because it describes a different context. If no usage
 * applies, estimates all messages, with the system messages folded into one.
 *
 * @param projection - The context.
 * @param branchEntries - The branch of the context, root first.
 * @returns The same as for `estimateContextTokens`; `lastUsageIndex` is an index into `projection.messages`.
 * @remarks Cost: O(branch) head reads, plus the estimated messages.
 */
export function estimateProjectedContextTokens(
  projection: Pick<SessionProjection, "entries" | "messages">,
  branchEntries: readonly AnySessionEntry[],
  counter?: TokenCounter,
): ContextUsageEstimate {
  assertArgument("projection", projection, PROJECTION);
  assertArgument("branchEntries", branchEntries, OBJECTS);
  const { entries, messages } = projection;
  const changedAt = branchEntries.findLastIndex(
    ({ type }) => type === "compaction" || type === "context_edit",
  );
  const later = new Set(branchEntries.slice(changedAt + 1).map(({ id }) => id));
  let end = messages.length;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry === undefined || !later.has(entry.sourceEntry.id)) break;
    const within = entry.messages.findLastIndex((message) => findCountedUsage(message) !== undefined);
    end -= entry.messages.length;
    const usage = findCountedUsage(entry.messages[within]);
    if (usage !== undefined) return countSinceUsage(messages, end + within, usage, counter);
  }
  return withoutUsage(withFoldedSystem(messages), counter);
}

function withFoldedSystem(messages: readonly AgentMessage[]): AgentMessage[] {
  const system = foldSystemMessages(messages, 0);
  const others = messages.filter((message) => toRecord(message)["role"] !== "system");
  return system === undefined ? others : [system, ...others];
}

function countSinceUsage(
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

/** Returns whether a context leaves fewer tokens free than the settings reserve. Always false if compaction is disabled. */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionLimits,
): boolean {
  assertArgument("settings", settings, OBJECT);
  return settings.enabled && contextTokens > contextWindow - settings.reserveTokens;
}
