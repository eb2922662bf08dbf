import type { AgentMessage } from "../../../core/format/message.ts";
import { assertOptions } from "../../../core/format/options.ts";
import type { RequestOptions } from "../conversion-options.ts";
import { type Dialect, findTarget } from "../dialect.ts";
import { planMessages, type RequestPlan } from "../request-plan.ts";
import { withTypedFields } from "../typed-message.ts";
import { itemsUpTo } from "./bound-thinking.ts";
import { bindsThinking } from "./claude-model.ts";
import { isFinishedAnswer, planBound } from "./plan-bound.ts";
import { readSummary } from "./provider-summary.ts";
import type { WrittenMessage, WrittenSource } from "./request-digest.ts";
import { isSession, type RequestSource, readSteps } from "./session-steps.ts";

/** Functions for a form, in addition to its dialect. */
export interface RequestForm {
  /** Prepares the messages, each independently of the others. */
  prepare?(messages: readonly AgentMessage[]): readonly AgentMessage[];
  /** Writes a request. Absent if the form does not contain thinking that is bound to requests. */
  write?(plan: RequestPlan): WrittenMessage[];
}

/** Plan with the messages and entries it was created from, if the source is a session. */
export interface SourcePlan extends RequestPlan {
  readonly sourceAt: (index: number) => WrittenSource | undefined;
}

const AS_IS = (messages: readonly AgentMessage[]) => messages;

/**
 * Prepares a request from messages, or from a session at a leaf.
 *
 * For a session, drops invalid thinking if the model binds thinking to the preceding content, and adds entry ids to
 * issues.
 */
export function planRequest(
  source: RequestSource,
  dialect: Dialect,
  options: RequestOptions,
  { prepare = AS_IS, write }: RequestForm = {},
): SourcePlan {
  assertOptions<object>(options, {});
  if (!isSession(source))
    return {
      ...planMessages(prepare(source).map(withTypedFields), dialect, options),
      sourceAt: () => undefined,
    };
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

/** Writes a plan in a neutral form, to compare requests from SDKs that write the requests themselves. */
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
