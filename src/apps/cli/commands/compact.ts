import { compactWithoutModel } from "../../../core/compaction/compact-without-model.ts";
import { computeFileLists } from "../../../core/compaction/file-operations.ts";
import {
  type CompactionPreparation,
  type CompactionSkipReason,
  planCompaction,
} from "../../../core/compaction/plan.ts";
import { DEFAULT_COMPACTION_SETTINGS } from "../../../core/compaction/settings.ts";
import { estimateAll, estimateProjectedContextTokens } from "../../../core/compaction/tokens.ts";
import { getExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import type { SessionEntry } from "../../../core/format/entry.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { openOverLog, type SessionManager } from "../../../session/manager/session-manager.ts";
import { countKinds, getEntryKind, getMessageKind } from "../../text/entry-kind.ts";
import type { Command, CommandCall } from "../command.ts";
import { changeSession, type SessionLocation } from "../named-session.ts";
import type { Output } from "../output.ts";
import { argument, flag, numberOption } from "../parameters.ts";
import { fitColumn, truncateLine } from "../text/width.ts";
import { choosePaint, formatExcerptLine } from "../view/entry-line.ts";

const SESSION = argument("<session>", "the session");
const KEEP = numberOption(
  "--keep <tokens>",
  `how many tokens of the newest messages to keep; default: ${DEFAULT_COMPACTION_SETTINGS.keepRecentTokens}`,
);
const DRY_RUN = flag("--dry-run", "explain the plan, without changing anything");

/** Maximum number of files listed; --json lists all. */
const MAX_FILES = 12;

const SKIPPED: { readonly [reason in CompactionSkipReason]: string } = {
  empty: "the context holds no messages",
  justCompacted: "the last entry is a compaction",
  noCutPoint: "the context cannot be cut without separating a tool result from its call",
  nothingToSummarize: "everything not yet summarized is recent; a smaller --keep summarizes more",
};

interface Portion {
  readonly messages: readonly AgentMessage[];
  /** Estimated number of tokens. */
  readonly tokens: number;
}

interface ExplainedPlan {
  readonly preparation: CompactionPreparation;
  readonly cutEntry: SessionEntry | undefined;
  readonly summarized: Portion;
  readonly turnPrefix: Portion;
  readonly kept: Portion;
  /** Whether a provider counted all or most of the context. */
  readonly isCounted: boolean;
}

interface Compacted {
  readonly entry: string;
  readonly summary: string;
  /** Estimated size of the new context. */
  readonly tokensAfter: number;
}

/** `sessiontree compact`: explains a compaction, and can perform it without a model. */
export const command: Command = {
  details: `Shows where the context is cut, what is summarized, and what is kept. Without --dry-run, it appends a summary created without a model, which quotes what was asked and done. The tree keeps all entries. If there is nothing to compact, it explains why.`,
  parameters: [SESSION, KEEP, DRY_RUN],
  examples: [
    ["compact @last --dry-run", "explain the plan"],
    ["compact session.jsonl --keep 8000", "keep about 8,000 tokens, summarize the rest"],
    ["compact session.jsonl --dry-run --json", "the plan with all files, as JSON"],
  ],
  run: async (call) => {
    const named = await call.findSession(call.get(SESSION));
    const { location } = named;
    const { log } = await named.read();
    if (call.get(DRY_RUN)) compactSession(call, location, openOverLog(log, {}));
    else await changeSession(named, (session) => compactSession(call, location, session));
  },
};

function compactSession(call: CommandCall, { json: where }: SessionLocation, session: SessionManager): void {
  const { out, json, get } = call;
  const isDryRun = get(DRY_RUN);
  const keepRecentTokens = get(KEEP) ?? DEFAULT_COMPACTION_SETTINGS.keepRecentTokens;
  const plan = planCompaction(session.getBranch(), { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens });
  const location = { id: session.getSessionId(), ...where };
  if (plan.kind === "skip") {
    if (json) out.json({ ...location, isDryRun, skipped: plan.reason });
    else out.prose(`Nothing to compact: ${SKIPPED[plan.reason]}.`);
    return;
  }
  const explained = explainPlan(session, plan.preparation);
  const compacted = isDryRun ? undefined : appendCompaction(session, plan.preparation);
  if (json) out.json({ ...location, isDryRun, ...toPlanJson(explained), ...(compacted && { compacted }) });
  else writePlan(explained, compacted, out);
}

function explainPlan(session: SessionManager, preparation: CompactionPreparation): ExplainedPlan {
  const { firstKeptEntryId, messagesToSummarize, turnPrefixMessages } = preparation;
  const projection = session.buildSessionProjection();
  const { entries } = projection;
  const cut = entries.findIndex(({ sourceEntry: { id } }) => id === firstKeptEntryId);
  const kept = entries.slice(cut).flatMap(({ messages }) => messages.filter(({ role }) => role !== "system"));
  return {
    preparation,
    cutEntry: entries[cut]?.sourceEntry,
    summarized: toPortion(messagesToSummarize),
    turnPrefix: toPortion(turnPrefixMessages),
    kept: toPortion(kept),
    isCounted: estimateProjectedContextTokens(projection, session.getBranch()).usageTokens > 0,
  };
}

function toPortion(messages: readonly AgentMessage[]): Portion {
  return { messages, tokens: estimateAll(messages) };
}

function appendCompaction(session: SessionManager, preparation: CompactionPreparation): Compacted {
  const { summary, firstKeptEntryId, tokensBefore, details } = compactWithoutModel(preparation);
  const entry = session.appendCompaction(summary, firstKeptEntryId, tokensBefore, details);
  return { entry, summary, tokensAfter: estimateAll(session.buildSessionContext().messages) };
}

function toPlanJson({ preparation, summarized, turnPrefix, kept }: ExplainedPlan): object {
  const { tokensBefore, estimatedTokensAfter, firstKeptEntryId, isSplitTurn, wouldShrink } = preparation;
  return {
    tokensBefore,
    estimatedTokensAfter,
    wouldShrink,
    firstKeptEntryId,
    isSplitTurn,
    updatesSummary: preparation.previousSummary !== undefined,
    summarized: toPortionJson(summarized),
    turnPrefix: toPortionJson(turnPrefix),
    kept: toPortionJson(kept),
    ...computeFileLists(preparation.fileOps),
  };
}

function toPortionJson({ messages, tokens }: Portion): object {
  const byRole = new Map<string, number>();
  for (const { role } of messages) byRole.set(role, (byRole.get(role) ?? 0) + 1);
  return { messageCount: messages.length, estimatedTokens: tokens, byRole: Object.fromEntries(byRole) };
}

function writePlan(plan: ExplainedPlan, compacted: Compacted | undefined, out: Output): void {
  const { colors } = out;
  const { preparation, cutEntry } = plan;
  const { tokensBefore, estimatedTokensAfter, firstKeptEntryId, fileOps } = preparation;
  const before = `${formatCounted(tokensBefore, "token")}${plan.isCounted ? " as counted by the provider" : ""}`;
  const after = formatCount(compacted?.tokensAfter ?? estimatedTokensAfter);
  out.prose(`Context: ${before} → about ${after}`, colors.bold);
  out.line();
  writePortions(plan, out);
  out.line();
  const kind = getEntryKind(cutEntry);
  const facts = ["Cut before", toPlainLine(firstKeptEntryId), choosePaint(colors, kind.tone)(kind.word)];
  out.line(formatExcerptLine(facts, getExcerpt(cutEntry), out));
  if (preparation.isSplitTurn)
    out.prose("The cut falls inside a turn; the beginning of that turn gets its own summary.");
  if (preparation.previousSummary !== undefined) out.line("The previous summary is updated.");
  if (!preparation.wouldShrink) {
    out.prose("A summary would not be shorter than what it replaces.", colors.yellow);
  }
  const { readFiles, modifiedFiles } = computeFileLists(fileOps);
  writeFiles("read", readFiles, out);
  writeFiles("modified", modifiedFiles, out);
  out.line();
  if (compacted === undefined) out.line("Nothing was changed; this is the plan.");
  else out.prose(`Compacted without a model: entry ${compacted.entry} contains the summary.`);
}

function writePortions({ summarized, turnPrefix, kept }: ExplainedPlan, out: Output): void {
  const { colors } = out;
  const row = (name: string, messages: string, tokens: string) =>
    `${fitColumn(name, 11)} ${messages.padStart(8)} ${tokens.padStart(10)}`;
  const portions = [
    ["summarized", summarized],
    ["split turn", turnPrefix],
    ["kept", kept],
  ] as const;
  out.line(colors.dim(row("", "messages", "tokens")));
  for (const [name, { messages, tokens }] of portions) {
    if (messages.length === 0) continue;
    const facts = [row(name, formatCount(messages.length), formatCount(tokens))];
    const { kinds } = countKinds({ kinds: messages.map(getMessageKind), failures: new Set() });
    out.line(formatExcerptLine(facts, { text: kinds, isError: false }, out));
  }
}

function writeFiles(what: string, files: readonly string[], out: Output): void {
  const { colors, width } = out;
  if (files.length === 0) return;
  out.line();
  out.line(colors.dim(`${formatCounted(files.length, "file")} ${what}`));
  const others = files.length - MAX_FILES;
  for (const file of files.slice(0, MAX_FILES)) out.line(`  ${truncateLine(toPlainLine(file), width - 2)}`);
  if (others > 0) out.line(colors.dim(`  and ${formatCount(others)} more`));
}
