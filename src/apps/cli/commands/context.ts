import { estimateTokens } from "../../../core/compaction/tokens.ts";
import { convertToLlm } from "../../../core/context/convert-to-llm.ts";
import { findModel, type ModelChoice } from "../../../core/context/path-settings.ts";
import type { SessionProjection } from "../../../core/context/session-context.ts";
import { repairToolPairs, type ToolPairRepair } from "../../../core/context/tool-pairs.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import { getMessageExcerpt } from "../../../core/facts/excerpt.ts";
import { formatCount, formatCounted } from "../../../core/facts/number-text.ts";
import { toPlainLine } from "../../../core/facts/plain-text.ts";
import { getShortIdLength } from "../../../core/facts/short-id-length.ts";
import { findCall } from "../../../core/facts/tool-calls.ts";
import { findUsage } from "../../../core/facts/usage.ts";
import type { UsageTotals } from "../../../core/facts/usage-tally.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import { NONE } from "../../../core/tree/entry-tree.ts";
import { isBoundAnswer } from "../../../interop/convert/request-plan.ts";
import { listRequestChanges } from "../../../interop/convert/session/request-changes.ts";
import { estimateContextUsage } from "../../../session/controller/compact-if-needed.ts";
import { openOverLog, type SessionManager } from "../../../session/manager/session-manager.ts";
import type { SessionView } from "../../../session/manager/session-view.ts";
import { getEntryKind, getMessageKind } from "../../text/entry-kind.ts";
import { type ContextSize, formatAnswer, formatContextSize, getSizeBefore } from "../../text/usage-text.ts";
import type { Command, CommandCall } from "../command.ts";
import { flag, numberOption, textOption } from "../parameters.ts";
import { SESSION_OR_LATEST as SESSION } from "../session-argument.ts";
import { fitColumn, truncateLine, wrapText } from "../text/width.ts";
import { UsageError } from "../usage-error.ts";
import { getMessageBlocks, writeBlocks } from "../view/entry-blocks.ts";
import { formatExcerptLine, formatKindColumn, measureLongest, takeShortId } from "../view/entry-line.ts";

const LEAF = textOption(
  "--leaf <entry>",
  "end at this entry instead of the leaf: its id or the beginning of it, or its label",
);
const BEFORE = textOption(
  "--before <entry>",
  "what the model saw when it wrote this answer, or made the call with this result",
);
const TAIL = numberOption("--tail <number>", "only this many messages, the last ones");
const FULL = flag("--full", "the full text of each message, not only its beginning");
const LLM = flag(
  "--llm",
  "as sent to a provider: only supported roles, no unfinished answers, every tool call with its result",
);

const CHANGES = flag(
  "--changes",
  "requests that do not continue the previous one, so that a prompt cache was lost or thinking became invalid",
);

interface ContextLine {
  readonly message: AgentMessage;
  /** Entry from which the message was created; undefined if the message was created to repair a tool pair. */
  readonly entryId: string | undefined;
}

/** A model's context and the changes that make it a valid request. */
interface ShownContext extends Pick<SessionProjection, "model" | "thinkingLevel"> {
  readonly lines: readonly ContextLine[];
  /** Total number of messages, including messages that are not shown. */
  readonly count: number;
  readonly repairs: readonly ToolPairRepair[] | undefined;
  /** Ids of answers that are not sent to a provider because they failed or were aborted. */
  readonly leftOut: readonly string[] | undefined;
  /** Size of the context, as shown by `stats` and the page. */
  readonly size: ContextSize;
  /** Description of the entry after the context and of its usage; undefined without `--before`. */
  readonly answer: string | undefined;
}

/** `sessiontree context`: shows the context that the model receives. */
export const command: Command = {
  details: `Prints one line per message, with the entry it comes from and an estimate of the tokens of this message alone. With --full, the whole text follows.

The first lines show the size of the context, the same number that stats and the page show. If a provider counted it, as it did before an answer whose record states its input, the size includes everything sent with the messages, such as tool descriptions, so the estimates may not add up to it.

--leaf shows the context up to and including an entry. --before shows what the model saw when it wrote an answer, without the answer. With --json it prints the whole messages, as an agent would load them.`,
  parameters: [SESSION, LEAF, BEFORE, TAIL, FULL, LLM, CHANGES],
  examples: [
    ["context @last", "at the leaf"],
    ["context session.jsonl --leaf 1a2b3c4d", "at another entry"],
    [
      "context session.jsonl --before 1a2b3c4d --tail 10",
      "the end of what the model saw when it wrote an answer",
    ],
    ["context @last --tail 5 --full", "the last five messages as the model saw them"],
    ["context session.jsonl --llm --json", "the messages of a request, as JSON"],
    ["context session.jsonl --changes", "why the prompt cache was lost"],
  ],
  run: async (call) => {
    if (call.get(CHANGES)) {
      await writeChanges(call);
      return;
    }
    const shown = await readContext(call);
    if (call.json) writeJson(call, shown);
    else writeLines(call, shown);
  },
};

async function readContext(call: CommandCall): Promise<ShownContext> {
  const view = await (await call.findSession(call.get(SESSION))).read();
  const session = openOverLog(view.log, {});
  const answer = moveTo(call, session, view);
  const { entries, model, thinkingLevel } = session.buildSessionProjection();
  const all = entries.flatMap(({ sourceEntry, messages }) =>
    messages.map((message): ContextLine => ({ message, entryId: sourceEntry.id })),
  );
  const { lines, ...request } = call.get(LLM) ? asRequest(all) : { ...AS_STORED, lines: all };
  return {
    lines: lines.slice(-(call.get(TAIL) ?? lines.length)),
    count: lines.length,
    ...request,
    // The path before an answer has the model of the previous answer.
    model: answer?.model ?? model,
    thinkingLevel,
    size: getSizeBefore(answer?.used, estimateContextUsage(session)),
    answer: answer?.text,
  };
}

async function writeChanges(call: CommandCall): Promise<void> {
  const { out } = call;
  const view = await (await call.findSession(call.get(SESSION))).read();
  const session = openOverLog(view.log, {});
  moveTo(call, session, view);
  const changes = listRequestChanges(session);
  if (call.json) {
    out.json({ changes });
    return;
  }
  out.prose(
    `${formatCounted(changes.length, "request")} on this branch did not continue the previous request.`,
  );
  if (changes.length > 0) out.line();
  for (const { toId, message } of changes)
    for (const line of wrapText(toPlainLine(`${toId}: ${message}`), out.width)) out.line(line);
}

/** Values used without `--llm`, because messages are changed only for a request. */
const AS_STORED = { repairs: undefined, leftOut: undefined };

interface AskedAnswer {
  readonly text: string;
  /** Model that wrote the answer; undefined if the entry is not an answer or does not specify a model. */
  readonly model: ModelChoice | undefined;
  /** Usage of the answer, if known. */
  readonly used: UsageTotals | undefined;
}

/** Moves the leaf as requested. With `--before`, returns the entry that follows the context; otherwise, returns undefined. */
function moveTo({ get }: CommandCall, session: SessionManager, view: SessionView): AskedAnswer | undefined {
  const [leaf, before] = [get(LEAF), get(BEFORE)];
  if (leaf !== undefined && before !== undefined) throw new UsageError("Give --leaf or --before, not both.");
  if (leaf === undefined && before === undefined) return undefined;
  if (leaf !== undefined) session.branch(view.findEntry(leaf));
  if (before === undefined) return undefined;
  const named = view.tree.find(view.findEntry(before));
  const ordinal = findCall(view, named)?.ordinal ?? named;
  const parent = view.tree.parentAt(ordinal);
  if (parent === NONE) session.resetLeaf();
  else session.branch(view.tree.idAt(parent));
  const entry = view.entryAt(ordinal);
  const used = formatAnswer(entry);
  const id = view.tree.idAt(ordinal);
  const text = `before ${getEntryKind(entry).word} ${id}${used === "" ? "" : `: ${used}`}`;
  return { text, model: entry && findModel(entry), used: findUsage(entry) };
}

function asRequest(lines: readonly ContextLine[]): Pick<ShownContext, "lines" | "repairs" | "leftOut"> {
  const sources = new Map<AgentMessage, string | undefined>();
  const finished = lines.filter(({ message }) => !isUnfinished(message));
  const converted = finished.flatMap(({ message, entryId }) => {
    const messages = convertToLlm([message]);
    for (const one of messages) sources.set(one, entryId);
    return messages;
  });
  const { messages, repairs } = repairToolPairs(converted, { bindsThinking: isBoundAnswer });
  const quoted = repairs.flatMap(({ kind, index }) =>
    kind === "resultQuoted" ? (converted[index] ?? []) : [],
  );
  for (const message of messages)
    if (message.role === "user" && !sources.has(message)) {
      const result = quoted.shift();
      if (result !== undefined) sources.set(message, sources.get(result));
    }
  return {
    lines: messages.map((message) => ({ message, entryId: sources.get(message) })),
    repairs,
    leftOut: lines.flatMap(({ message, entryId }) => (isUnfinished(message) ? (entryId ?? []) : [])),
  };
}

function writeJson({ out }: CommandCall, shown: ShownContext): void {
  const { model, thinkingLevel, lines, count: total, repairs, leftOut, size } = shown;
  const { tokens, usageTokens, trailingTokens } = size;
  const messages = lines.map(({ message }) => message);
  // In the order of the messages; null for a message created to repair a tool pair.
  const entries = lines.map(({ entryId = null }) => entryId);
  const context = { tokens, usageTokens, trailingTokens };
  out.json({ model, thinkingLevel, context, total, messages, entries, repairs, leftOut });
}

function writeLines(
  { get, out }: CommandCall,
  { model, thinkingLevel, lines, count: total, repairs, leftOut, size, answer }: ShownContext,
): void {
  const { colors, width } = out;
  const sizes = lines.map(({ message }) => estimateTokens(message));
  const name = model === null ? "no model" : toPlainLine(`${model.provider}/${model.modelId}`);
  out.line(truncateLine(`${name}, thinking ${toPlainLine(thinkingLevel)}`, width));
  out.prose(`context: ${formatContextSize(size)}`);
  if (answer !== undefined) for (const line of wrapText(toPlainLine(answer), width)) out.line(line);
  const which = lines.length < total ? `, the last ${formatCount(lines.length)} shown` : "";
  out.prose(`${formatCounted(total, "message")}${which}; the tokens of each are estimated`);
  if (lines.length > 0) out.line();
  const ids = lines.map(({ entryId = "" }) => entryId);
  const idLength = out.isLaidOut ? getShortIdLength(ids) : measureLongest(ids);
  const sizeWidth = Math.max(0, ...sizes.map((size) => formatCount(size).length));
  lines.forEach(({ message, entryId = "-" }, i) => {
    const facts = [
      colors.dim(fitColumn(takeShortId(entryId, idLength), idLength)),
      formatKindColumn(colors, getMessageKind(message)),
      colors.dim(formatCount(sizes[i] ?? 0).padStart(sizeWidth)),
    ];
    if (!get(FULL)) {
      out.line(formatExcerptLine(facts, getMessageExcerpt(message, !out.isLaidOut), out));
      return;
    }
    if (i > 0) out.line();
    out.line(facts.join(" "));
    writeBlocks(out, getMessageBlocks(message));
  });
  if (leftOut !== undefined && leftOut.length > 0) {
    const answers = formatCounted(leftOut.length, "unfinished answer");
    out.line();
    out.prose(`Left out: ${answers}, which providers do not receive; --json lists them.`, colors.yellow);
  }
  if (repairs !== undefined && repairs.length > 0) {
    out.line();
    out.prose(`${formatCounted(repairs.length, "repair")} of tool pairs; --json lists them.`, colors.yellow);
  }
}
