import { type CompactionPreparation, planCompaction } from "../../../core/compaction/plan.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../core/compaction/settings.ts";
import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import { assertArgument, assertSession } from "../../../core/format/arguments.ts";
import type { Usage } from "../../../core/format/content.ts";
import { SessionError } from "../../../core/format/errors.ts";
import { isJsonRecord, type JsonObject } from "../../../core/format/json.ts";
import { assertOptions, type OptionRule } from "../../../core/format/options.ts";
import type { ConversationSession } from "../append-conversation.ts";
import type { ConversionIssue } from "../conversion-issue.ts";
import { assertResponse } from "../message-history.ts";
import { bindsThinking } from "../session/claude-model.ts";
import type { SourcePlan } from "../session/plan-source.ts";
import { keepSummary, type SummaryRecord } from "../session/provider-summary.ts";
import {
  digestSystem,
  digestTools,
  hashMessages,
  isThinkingBlock,
  type WrittenMessage,
} from "../session/request-digest.ts";
import {
  type AnthropicMessage,
  type AnthropicOptions,
  type AnthropicResponseLike,
  type AnthropicSystemMessage,
  readUsage,
} from "./anthropic-content.ts";
import { planAnthropic } from "./to-anthropic.ts";

/** Request for Anthropic to summarize the older part of a session, with the data required to store the response. */
export interface AnthropicSummaryRequest {
  /** Parameters for `beta.messages.create`, in addition to the model, the tools, and the name of the beta. */
  readonly request: {
    readonly system?: string;
    readonly messages: (AnthropicMessage | AnthropicSystemMessage)[];
    readonly compaction: { readonly type: "summarize"; readonly instructions?: string };
  };
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** Leaf at which the request was created. */
  readonly leafId: string;
  /** Hashes used later to determine which thinking is still valid. */
  readonly record: SummaryRecord;
  readonly issues: readonly ConversionIssue[];
}

/** Session to which a summary can be appended. */
interface SummarizedSession extends ConversationSession {
  appendCompaction(
    summary: string,
    firstKeptEntryId: string,
    tokensBefore: number,
    details?: JsonObject,
    fromHook?: boolean,
    usage?: Usage,
  ): string;
}

const SUMMARY_REQUEST: OptionRule = {
  fits: (value) => isJsonRecord(value) && isJsonRecord(value["record"]),
  words: "what requestAnthropicSummary returned",
};

/**
 * Creates a request for Anthropic to summarize the older part of a session. The retained turns then keep their thinking,
 * which any other summary would invalidate.
 *
 * @param options - Options for `toAnthropic`; `keepRecentTokens`, as in the compaction settings; and `instructions` to
 *   replace the provider's prompt.
 * @throws {TypeError} If the model does not bind its thinking.
 * @throws {SessionError} `NOTHING_TO_COMPACT`
 * @remarks Source: docs/messages.md#summaries-by-the-provider
 */
export function requestAnthropicSummary(
  session: ConversationSession,
  options: AnthropicOptions & { readonly keepRecentTokens?: number; readonly instructions?: string } = {},
): AnthropicSummaryRequest {
  assertSession(session);
  assertOptions<object>(options, {});
  const { keepRecentTokens, instructions, ...rest } = options;
  const leafId = options.leafId ?? session.getLeafId() ?? "";
  const preparation = prepare(session, leafId, keepRecentTokens);
  const { plan, written } = planAnthropic(session, rest);
  if (!bindsThinking(plan.target?.model))
    throw new TypeError("A summary by the provider requires Claude 5.1 or later; pass { model }.");
  const at = findCut(session.getBranch(leafId), plan, written, preparation.firstKeptEntryId);
  const firstKeptEntryId = plan.sourceAt(written[at]?.index ?? -1)?.entry.id;
  if (firstKeptEntryId === undefined) throw nothingToCompact("noCutPoint");
  const { before } = hashMessages(written, plan.sourceAt);
  const kept = written.flatMap(({ content, index }, place) => {
    const id = plan.sourceAt(index)?.entry.id;
    const isKept = place >= at && id !== undefined && toArray(content).some(isThinkingBlock);
    return isKept ? [[id, before[place] ?? ""] as const] : [];
  });
  const { system } = plan;
  const messages = written.slice(0, at).map(({ index: _, ...message }) => message);
  const compaction = { type: "summarize" as const, ...(instructions !== undefined && { instructions }) };
  return {
    request: { ...(system !== "" && { system }), messages, compaction },
    firstKeptEntryId,
    tokensBefore: preparation.tokensBefore,
    leafId,
    record: {
      system: digestSystem(options.system ?? system),
      tools: options.tools === undefined ? "" : digestTools(options.tools),
      messages: before[at] ?? "",
      kept: Object.fromEntries(kept),
    },
    issues: plan.issues.list(),
  };
}

/**
 * Stores the response to a `requestAnthropicSummary` request as a compaction. The compaction's block is later sent back
 * unchanged.
 *
 * @returns Id of the compaction.
 * @throws {SessionError} `SUMMARY_FAILED` if the response contains no summary; `STALE_LEAF` if the session is on a different
 * branch or was compacted in the meantime.
 */
export function appendAnthropicSummary(
  session: SummarizedSession,
  request: AnthropicSummaryRequest,
  response: AnthropicResponseLike,
): string {
  assertSession(session);
  assertArgument("request", request, SUMMARY_REQUEST);
  assertResponse(response);
  const { firstKeptEntryId, tokensBefore, leafId, record } = request;
  const block: unknown = toArray(response.content).find((one) => toRecord(one)["type"] === "compaction");
  const { content } = toRecord(block);
  if (!isJsonRecord(block) || typeof content !== "string" || content.trim() === "")
    throw new SessionError(
      "SUMMARY_FAILED",
      "The provider's response contains no summary; nothing was written. Request it again, or compact with your own summary.",
      { details: { kind: "history" } },
    );
  const path = session.getBranch();
  const since = path.findIndex(({ id }) => id === leafId);
  if (since === -1 || path.slice(since + 1).some(({ type }) => type === "compaction"))
    throw new SessionError(
      "STALE_LEAF",
      "The session moved to another branch or was compacted in the meantime; nothing was written. Request the summary again.",
      { details: { expectedLeafId: leafId, leafId: session.getLeafId() } },
    );
  const details = keepSummary({ block, record });
  const usage = readUsage(response.usage);
  return session.appendCompaction(content, firstKeptEntryId, tokensBefore, details, undefined, usage);
}

function prepare(
  session: ConversationSession,
  leafId: string,
  keepRecentTokens = DEFAULT_COMPACTION_SETTINGS.keepRecentTokens,
): CompactionPreparation {
  const settings = { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens };
  const plan = planCompaction(session.getBranch(leafId), settings);
  if (plan.kind === "skip") throw nothingToCompact(plan.reason);
  return plan.preparation;
}

/**
 * Returns the index of the first kept message. It may precede the planned message, because its role must differ from
 * that of the last summarized message, and results must stay with their calls.
 */
function findCut(
  branch: ReturnType<ConversationSession["getBranch"]>,
  { sourceAt }: SourcePlan,
  written: readonly WrittenMessage[],
  firstKeptEntryId: string,
): number {
  const places = new Map(branch.map(({ id }, place) => [id, place]));
  const firstKept = places.get(firstKeptEntryId) ?? 0;
  const isKept = ({ index }: WrittenMessage) => {
    const entry = sourceAt(index)?.entry;
    return entry?.type !== "compaction" && (places.get(entry?.id ?? "") ?? -1) >= firstKept;
  };
  let at = written.findIndex(isKept);
  const isCut = () => {
    const [last, first] = [written[at - 1], written[at]];
    const isResult = first?.role === "user" && sourceAt(first.index)?.message.role === "assistant";
    return first?.role !== last?.role && first?.role !== "system" && !isResult;
  };
  while (at > 0 && !isCut()) at--;
  const isAfter = sourceAt(written[at]?.index ?? -1)?.entry.type !== "compaction";
  if (at <= 0 || !isAfter) throw nothingToCompact("noCutPoint");
  return at;
}

function nothingToCompact(reason: string): SessionError {
  return new SessionError(
    "NOTHING_TO_COMPACT",
    `There is nothing to summarize (${reason}); try again after the next turn.`,
    { details: { reason } },
  );
}
