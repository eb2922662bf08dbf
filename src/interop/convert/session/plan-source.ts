import { fieldsOf, listOf } from "../../../core/context/entry-fields.ts";
import { isUnfinished } from "../../../core/context/unfinished-answer.ts";
import type { AgentMessage, AssistantMessage } from "../../../core/format/message.ts";
import type { ConversationSession } from "../append-conversation.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, findTarget, isWrittenBy, type ModelIdentity } from "../dialect.ts";
import { keepRaw, rawOf } from "../raw-form.ts";
import { planMessages, type RequestPlan } from "../request-plan.ts";
import { BoundThinking, type ContextItem, itemsUpTo, type VoidThinking } from "./bound-thinking.ts";
import { bindsThinking, isSameClaude } from "./claude-model.ts";
import { type ProviderSummary, readSummary, withSummaryBlock } from "./provider-summary.ts";
import {
  digestSignature,
  isThinkingBlock,
  readRecord,
  type WrittenMessage,
  type WrittenSource,
} from "./request-digest.ts";
import { isSession, type RequestSource, readSteps } from "./session-steps.ts";

/** What a form does beside its dialect. */
export interface RequestForm {
  /** Prepares the messages, each by itself. */
  prepare?(messages: readonly AgentMessage[]): readonly AgentMessage[];
  /** Writes a request; absent if the form carries no thinking that is bound to it. */
  write?(plan: RequestPlan): WrittenMessage[];
}

/** A plan that knows the messages and entries that it is made of, if it is made of a session. */
export interface SourcePlan extends RequestPlan {
  readonly sourceAt: (index: number) => WrittenSource | undefined;
}

const AS_IS = (messages: readonly AgentMessage[]) => messages;

/**
 * Prepares a request of messages, or of a session at a leaf.
 *
 * Of a session, it drops thinking that is void, if the model binds its thinking to what was before it, and issues name entries.
 */
export function planRequest(
  source: RequestSource,
  dialect: Dialect,
  options: RequestOptions,
  { prepare = AS_IS, write }: RequestForm = {},
): SourcePlan {
  if (!isSession(source))
    return { ...planMessages(prepare(source), dialect, options), sourceAt: () => undefined };
  const steps = readSteps(source, options.leafId);
  const items = itemsUpTo(steps, steps.length);
  const messages = prepare(items.map(({ message }) => message));
  const target = findTarget(messages.filter(isFinishedAnswer), dialect.apis, dialect.provider, options);
  const summary = dialect.form === "anthropic" ? readSummary(steps[0]?.sourceEntry) : undefined;
  const isBound = write !== undefined && options.dropThinking !== true && bindsThinking(target?.model);
  const plan = isBound
    ? planBound({
        session: source,
        steps,
        items,
        messages,
        target,
        dialect,
        options,
        prepare,
        write,
        summary,
      })
    : planMessages(messages, dialect, options);
  const sourceAt = (index: number): WrittenSource | undefined => items[index];
  plan.issues.locate((index) => sourceAt(index)?.entry.id);
  return { ...plan, sourceAt };
}

/** A request of a session whose model binds thinking. */
interface BoundInput extends Required<RequestForm> {
  readonly session: ConversationSession;
  readonly steps: ReturnType<typeof readSteps>;
  readonly items: readonly ContextItem[];
  readonly messages: readonly AgentMessage[];
  readonly target: ModelIdentity | undefined;
  readonly dialect: Dialect;
  readonly options: RequestOptions;
  readonly summary: ProviderSummary | undefined;
}

function planBound({ messages: all, ...rest }: BoundInput): RequestPlan {
  const { items, target, dialect, options, summary } = rest;
  const messages = withSummaryBlock(all, summary, target);
  const input = { ...rest, messages };
  const dropped = findDropped(input);
  const sent = messages.map((message, index) => {
    if (!isAnswer(message) || !hasThinking(message)) return message;
    return dropped.has(index) ? withoutThinking(message, dialect) : asTarget(message, target);
  });
  const plan = planMessages(sent, dialect, options);
  for (const [index, { why, causedBy }] of dropped)
    if (items[index] !== undefined)
      plan.issues.report("THINKING_DROPPED", index, `Dropped thinking ${why}.`, { causedBy });
  return plan;
}

/** Finds the answers whose thinking is not sent, and why. */
function findDropped(input: BoundInput): Map<number, VoidThinking> {
  const { session, steps, items, messages, target, dialect, options, prepare, write, summary } = input;
  const dropped = new Map<number, VoidThinking>();
  const thinking = new BoundThinking({
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
        isAnswer(message) ? withoutThinking(message, dialect) : message,
      );
      const plan = planMessages(bare, dialect, options);
      return { system: plan.system, messages: write(plan) };
    },
  });
  const kept: { readonly index: number; readonly answer: AssistantMessage }[] = [];
  messages.forEach((answer, index) => {
    const item = items[index];
    if (item === undefined || !isFinishedAnswer(answer) || !hasThinking(answer)) return;
    const found = canRead(answer, target, dialect) ? thinking.find(item) : UNREADABLE;
    if (found === undefined) kept.push({ index, answer });
    else dropped.set(index, found);
  });
  dropBefore(kept, items, dropped);
  return dropped;
}

const UNREADABLE: VoidThinking = { why: "that the model would refuse", causedBy: undefined };

/** Drops what is in front of an answer whose request did not hold it: thinking must not be put back in the middle. */
function dropBefore(
  kept: readonly { readonly index: number; readonly answer: AssistantMessage }[],
  items: readonly ContextItem[],
  dropped: Map<number, VoidThinking>,
): void {
  const start = kept.findLastIndex(({ answer }, at) => {
    const record = readRecord(answer);
    const before = kept[at - 1]?.answer;
    return record !== undefined && before !== undefined && record.thinking !== lastSignature(before);
  });
  const causedBy = items[kept[start]?.index ?? -1]?.entry.id;
  for (const { index } of kept.slice(0, Math.max(start, 0)))
    dropped.set(index, { why: `that the request of answer ${causedBy} did not hold`, causedBy });
}

function lastSignature({ content }: AssistantMessage): string {
  const last = content.findLast(({ type }) => type === "thinking");
  return digestSignature(last?.type === "thinking" ? last.thinkingSignature : undefined);
}

function isAnswer(message: AgentMessage): message is AssistantMessage {
  return fieldsOf(message)["role"] === "assistant";
}

function isFinishedAnswer(message: AgentMessage): message is AssistantMessage {
  return isAnswer(message) && !isUnfinished(message);
}

function hasThinking({ content }: AssistantMessage): boolean {
  return listOf(content).some((block) => fieldsOf(block)["type"] === "thinking");
}

/** Tells whether the model can read all thinking of an answer: family and version count, not how the model is named. */
function canRead(answer: AssistantMessage, target: ModelIdentity | undefined, dialect: Dialect): boolean {
  if (target === undefined || !isWrittenBy(target, asTarget(answer, target))) return false;
  const { content } = answer;
  if (dialect.wantsThinkingWhole && fieldsOf(content.at(-1))["type"] === "thinking") return false;
  return content.every((block) => block.type !== "thinking" || dialect.canReplay(block, answer));
}

/** Returns an answer under the name of the model that is asked, if that is the one that wrote it. */
function asTarget(answer: AssistantMessage, target: ModelIdentity | undefined): AssistantMessage {
  if (target === undefined || isWrittenBy(target, answer)) return answer;
  const { model, responseModel = model } = answer;
  const isSame = [model, responseModel].some((name) => isSameClaude(String(name), target.model));
  return isSame ? { ...answer, model: target.model } : answer;
}

/** Returns an answer without thinking, also in its kept original. */
function withoutThinking(answer: AssistantMessage, { form }: Dialect): AssistantMessage {
  if (!hasThinking(answer)) return answer;
  const content = answer.content.filter((block) => fieldsOf(block)["type"] !== "thinking");
  const raw = rawOf(answer, form);
  if (!Array.isArray(raw)) return { ...answer, content };
  const kept = raw.filter((block) => !isThinkingBlock(block));
  const { details } = answer;
  const others = typeof details === "object" && !Array.isArray(details) ? details : {};
  return { ...answer, content, details: { ...others, ...keepRaw(form, kept) } };
}

/** Writes what was planned without a provider's form, to compare requests of SDKs that write it themselves. */
export function writePlan({ items, ids }: RequestPlan): WrittenMessage[] {
  return items.flatMap((item): WrittenMessage[] => {
    const { index } = item;
    if (item.kind === "system") return [{ role: "system", content: item.text, index }];
    if (item.kind === "user") return [{ role: "user", content: item.content, index }];
    const content = item.content.map((block) =>
      block.type === "toolCall" ? { ...block, id: ids.of(block.id) } : block,
    );
    const results = item.results.map(({ message }) => {
      const { content: said, isError, toolCallId } = message;
      return { type: "tool_result", id: ids.of(toolCallId), content: said, isError };
    });
    const answer = { role: "assistant", content, index };
    return results.length === 0 ? [answer] : [answer, { role: "user", content: results, index }];
  });
}
