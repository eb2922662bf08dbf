import { planCompaction } from "../../core/compaction/plan.ts";
import {
  type CompactionLimits,
  fitSettingsToWindow,
  settingsForModel,
} from "../../core/compaction/settings.ts";
import { estimateAll, estimateTokens, type TokenCounter } from "../../core/compaction/tokens.ts";
import { fitTokens } from "../../core/compaction/transcript.ts";
import { foldSystemMessages } from "../../core/context/system-message.ts";
import type { TextContent } from "../../core/format/content.ts";
import type { AgentMessage, ToolResultMessage } from "../../core/format/message.ts";
import type { ControllerHost } from "./controller-host.ts";

/** Window that a request must fit in, and the number of tokens in the request's other parts. */
interface RequestRoom {
  readonly contextWindow: number;
  readonly overheadTokens: number;
}

/** Minimum number of tokens in a shortened result. */
const MIN_RESULT_TOKENS = 64;

/** Returns whether a request leaves enough of the window for the reply: half of the reserve. */
export function leavesRoom(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionLimits,
): boolean {
  return contextTokens + usableReserve(contextWindow, settings) / 2 <= contextWindow;
}

/** Returns the reserve, or half of the window if the host reserves more. */
function usableReserve(contextWindow: number, { reserveTokens }: CompactionLimits): number {
  return Math.min(reserveTokens, contextWindow / 2);
}

/**
 * Shortens the largest tool results that a compaction must keep, so that a request fits.
 *
 * Appends context edits, so that the session keeps the original results. Images are kept.
 *
 * @returns Ids of the shortened results; empty if that would not help.
 * @remarks Cost: O(branch) head reads, plus O(context size).
 */
export function shortenResults(
  host: ControllerHost,
  { contextWindow, overheadTokens }: RequestRoom,
): string[] {
  const { counter } = host;
  const { session } = host.current;
  const { kept, tokens } = minimalContext(host, contextWindow);
  const { model } = session.buildSessionContext();
  const settings = settingsForModel(fitSettingsToWindow(host.settings, contextWindow), model);
  const results = kept.flatMap(({ id, message }) => {
    if (message.role !== "toolResult") return [];
    return [{ id, message, tokens: estimateTokens(message, counter) }];
  });
  const others = tokens - results.reduce((sum, result) => sum + result.tokens, 0) + overheadTokens;
  const reserve = usableReserve(contextWindow, settings);
  const maxTokens = [reserve, reserve / 2]
    .map((free) =>
      shareEvenly(
        results.map((result) => result.tokens),
        contextWindow - others - free,
      ),
    )
    .find((share) => share >= MIN_RESULT_TOKENS);
  if (maxTokens === undefined) return [];
  return results.flatMap(({ id, message, tokens }) => {
    const content = tokens > maxTokens ? shortenContent(message, maxTokens, counter) : undefined;
    if (content === undefined) return [];
    session.appendContextEdit(id, { content });
    return [id];
  });
}

/** Returns the maximum number of tokens per part, so that all parts together have at most `total` tokens. */
function shareEvenly(sizes: readonly number[], total: number): number {
  const ascending = [...sizes].sort((a, b) => a - b);
  let left = total;
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** Returns the content with its text blocks joined and shortened; undefined if the images by themselves are too large. */
function shortenContent(
  message: ToolResultMessage,
  maxTokens: number,
  counter: TokenCounter,
): ToolResultMessage["content"] | undefined {
  const texts = message.content.flatMap((block) => (block.type === "text" ? block.text : []));
  const others = message.content.filter(({ type }) => type !== "text");
  const textTokens = maxTokens - estimateTokens({ ...message, content: others }, counter);
  if (textTokens < MIN_RESULT_TOKENS) return undefined;
  const text: TextContent = { type: "text", text: fitTokens(texts.join("\n"), textTokens, counter) };
  return [...others, text];
}

/** Message that a compaction cannot summarize, and its entry. */
interface KeptMessage {
  readonly id: string;
  readonly message: AgentMessage;
}

/**
 * Returns the content that would remain after a compaction that keeps as little as possible, and its size including the summary.
 */
function minimalContext(
  { current, counter, settings }: ControllerHost,
  contextWindow: number,
): { kept: KeptMessage[]; systemTokens: number; tokens: number } {
  const { session } = current;
  const { entries, messages, model } = session.buildSessionProjection();
  const minSettings = { ...fitSettingsToWindow(settings, contextWindow), keepRecentTokens: 0, models: {} };
  const plan = planCompaction(session.getBranch(), minSettings, { counter, model });
  const firstKept = plan.kind === "compact" ? plan.preparation.firstKeptEntryId : undefined;
  const from = entries.findIndex(({ sourceEntry }) => sourceEntry.id === firstKept);
  const kept = entries.slice(Math.max(0, from)).flatMap(({ sourceEntry: { id }, messages }) => {
    return messages.flatMap((message) => (message.role === "system" ? [] : [{ id, message }]));
  });
  const system = foldSystemMessages(messages, 0);
  const systemTokens = system === undefined ? 0 : estimateTokens(system, counter);
  const keptTokens = estimateAll(
    kept.map(({ message }) => message),
    counter,
  );
  const tokens = plan.kind === "compact" ? plan.preparation.estimatedTokensAfter : systemTokens + keptTokens;
  return { kept, systemTokens, tokens };
}

/** Describes what takes up a window that is too small for a context, and what to do about it. */
export function explainCannotFit(
  host: ControllerHost,
  { contextWindow, overheadTokens }: RequestRoom,
): string {
  const { kept, systemTokens } = minimalContext(host, contextWindow);
  const sizes = kept.map(({ id, message }) => ({
    id,
    role: message.role,
    tokens: estimateTokens(message, host.counter),
  }));
  const [largest] = sizes.sort((a, b) => b.tokens - a.tokens);
  const parts = [
    `the system message takes ${systemTokens}`,
    ...(overheadTokens > 0 ? [`other parts of the request take ${overheadTokens}`] : []),
    ...(largest === undefined
      ? []
      : [
          `the largest message that must be kept, of role ${largest.role} in entry ${largest.id}, ${largest.tokens}`,
        ]),
  ];
  const edit =
    largest === undefined ? "" : `, shorten entry ${largest.id} with appendContextEdit, go back before it`;
  return (
    `The context cannot be made to fit a window of ${contextWindow} tokens: ${parts.join(", ")}. ` +
    `Use a model with a larger window${edit}, or shorten the system message and the tool declarations.`
  );
}
