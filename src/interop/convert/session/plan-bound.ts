import { toArray, toRecord } from "../../../core/context/entry-fields.ts";
import type { ProjectedSessionEntry } from "../../../core/context/session-context.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import type { AgentMessage, AssistantMessage } from "../../../core/format/message.ts";
import type { ConversationSession } from "../append-conversation.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, isWrittenBy, type ModelIdentity } from "../dialect.ts";
import { findRaw, keepRaw } from "../raw-form.ts";
import { type PlannedAnswer, planMessages, type RequestPlan } from "../request-plan.ts";
import { BoundThinking, type ContextItem, type VoidThinking } from "./bound-thinking.ts";
import { isSameClaude } from "./claude-model.ts";
import { type ProviderSummary, withSummaryBlock } from "./provider-summary.ts";
import { digestSignature, isThinkingBlock, readRecord, type WrittenMessage } from "./request-digest.ts";

/** Request that is created from a session for a model that binds thinking. */
export interface BoundInput {
  readonly session: ConversationSession;
  readonly steps: readonly ProjectedSessionEntry[];
  readonly items: readonly ContextItem[];
  readonly messages: readonly AgentMessage[];
  readonly target: ModelIdentity | undefined;
  readonly dialect: Dialect;
  readonly options: RequestOptions;
  readonly summary: ProviderSummary | undefined;
  prepare(messages: readonly AgentMessage[]): readonly AgentMessage[];
  write(plan: RequestPlan): WrittenMessage[];
}

type Dropped = Map<number, VoidThinking>;

/** Plans a request without invalid thinking, and reports the dropped thinking. */
export function planBound({ messages: all, ...rest }: BoundInput): RequestPlan {
  const input = { ...rest, messages: withSummaryBlock(all, rest.summary, rest.target) };
  const dropped = findVoid(input);
  const plan = planWithout(dropped, input);
  const unchained = findUnchained(plan, input);
  return unchained.size === 0 ? plan : planWithout(new Map([...dropped, ...unchained]), input);
}

function planWithout(dropped: Dropped, { messages, target, dialect, options }: BoundInput): RequestPlan {
  const sent = messages.map((message, index) => {
    if (!isAnswerItem(message) || !hasThinking(message)) return message;
    return dropped.has(index) ? withoutThinking(message, dialect) : asTarget(message, target);
  });
  const plan = planMessages(sent, dialect, options);
  for (const [index, { why, causedBy }] of dropped)
    plan.issues.report("THINKING_DROPPED", index, `Dropped thinking ${why}.`, { causedBy });
  return plan;
}

/** Finds the answers whose thinking is invalid, or unreadable by the model. */
function findVoid(input: BoundInput): Dropped {
  const { items, messages, target, dialect } = input;
  const dropped: Dropped = new Map();
  let thinking: BoundThinking | undefined;
  messages.forEach((answer, index) => {
    const item = items[index];
    if (item === undefined || !isFinishedAnswer(answer) || !hasThinking(answer)) return;
    const isReadable = canRead(answer, target, dialect);
    if (isReadable) thinking ??= boundThinking(input);
    const found = isReadable ? thinking?.find(item) : UNREADABLE;
    if (found !== undefined) dropped.set(index, found);
  });
  return dropped;
}

function boundThinking({ prepare, write, ...input }: BoundInput): BoundThinking {
  const { session, steps, items, target, dialect, options, summary } = input;
  return new BoundThinking({
    session,
    steps,
    items,
    form: `${dialect.form} ${dialect.systemInFront}`,
    isSystemInPlace: dialect.systemInFront !== "all",
    system: options.system,
    tools: options.tools,
    summary,
    write: (all) => {
      const bare = withSummaryBlock(prepare(all), summary, target).map((message) =>
        isAnswerItem(message) ? withoutThinking(message, dialect) : message,
      );
      const plan = planMessages(bare, dialect, options);
      return { system: plan.system, messages: write(plan) };
    },
  });
}

const UNREADABLE: VoidThinking = { why: "that the model would reject", causedBy: undefined };

/**
 * Finds answers with thinking that precede an answer whose request did not contain this thinking. Thinking may be
 * missing at the start, but reinserting it would invalidate later thinking.
 */
function findUnchained({ items: planned }: RequestPlan, { items, messages }: BoundInput): Dropped {
  const kept = planned.flatMap((item) => {
    const answer = messages[item.index];
    const isKept =
      item.kind === "answer" && holdsThinking(item) && answer !== undefined && isAnswerItem(answer);
    return isKept ? [{ index: item.index, answer }] : [];
  });
  const start = kept.findLastIndex(({ answer }, at) => {
    const record = readRecord(answer);
    const before = kept[at - 1]?.answer;
    return record !== undefined && before !== undefined && record.thinking !== lastSignature(before);
  });
  const causedBy = items[kept[start]?.index ?? -1]?.entry.id;
  const why = `that the request of answer ${causedBy} did not hold`;
  return new Map(kept.slice(0, Math.max(start, 0)).map(({ index }) => [index, { why, causedBy }]));
}

function holdsThinking({ content, raw }: PlannedAnswer): boolean {
  return Array.isArray(raw) ? raw.some(isThinkingBlock) : content.some(({ type }) => type === "thinking");
}

function lastSignature({ content }: AssistantMessage): string {
  const last = content.findLast(({ type }) => type === "thinking");
  return digestSignature(last?.type === "thinking" ? last.thinkingSignature : undefined);
}

function isAnswerItem(message: AgentMessage): message is AssistantMessage {
  return toRecord(message)["role"] === "assistant";
}

/** Returns whether a message is an answer that requests include. */
export function isFinishedAnswer(message: AgentMessage): message is AssistantMessage {
  return isAnswerItem(message) && !isUnfinished(message);
}

function hasThinking({ content }: AssistantMessage): boolean {
  return toArray(content).some((block) => toRecord(block)["type"] === "thinking");
}

/**
 * Returns whether the model can read all thinking in an answer. This depends on the family and version, not on the
 * model's name.
 */
function canRead(answer: AssistantMessage, target: ModelIdentity | undefined, dialect: Dialect): boolean {
  if (target === undefined || !isWrittenBy(target, asTarget(answer, target))) return false;
  const { content } = answer;
  if (dialect.wantsThinkingWhole && toRecord(content.at(-1))["type"] === "thinking") return false;
  return content.every((block) => block.type !== "thinking" || dialect.canReplay(block, answer));
}

/** Returns an answer with the name of the requested model, if that model wrote it. */
function asTarget(answer: AssistantMessage, target: ModelIdentity | undefined): AssistantMessage {
  if (target === undefined || isWrittenBy(target, answer)) return answer;
  const { model, responseModel = model } = answer;
  const isSame = [model, responseModel].some((name) => isSameClaude(name, target.model));
  return isSame ? { ...answer, model: target.model } : answer;
}

/** Returns an answer without thinking, including in its stored original. */
function withoutThinking(answer: AssistantMessage, { form }: Dialect): AssistantMessage {
  if (!hasThinking(answer)) return answer;
  const content = answer.content.filter((block) => toRecord(block)["type"] !== "thinking");
  const raw = findRaw(answer, form);
  if (!Array.isArray(raw)) return { ...answer, content };
  const kept = raw.filter((block) => !isThinkingBlock(block));
  const { details } = answer;
  const others = typeof details === "object" && !Array.isArray(details) ? details : {};
  return { ...answer, content, details: { ...others, ...keepRaw(form, kept) } };
}
