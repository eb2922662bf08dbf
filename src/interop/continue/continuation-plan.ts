import { makeEntryPath } from "../../core/context/entry-path.ts";
import { projectPath } from "../../core/context/session-context.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { Dialect } from "../convert/dialect.ts";
import type { PlannedAnswer, PlannedUser, RequestPlan } from "../convert/request-plan.ts";
import { planRequest } from "../convert/session/plan-source.ts";
import { type ExportedMessage, getMessageTime, listStages } from "./export-stages.ts";
import type { WriteTarget } from "./session-writer.ts";

/** A prompt, or an answer with its results, and where it comes from. */
export interface ContinuedTurn {
  readonly item: PlannedUser | PlannedAnswer;
  readonly entryId: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Message of the item; of a prompt that was added, the one that follows it. */
  readonly message: AgentMessage;
}

/** The history that a program gets to continue with. */
export interface ContinuationPlan extends Pick<RequestPlan, "ids" | "issues"> {
  readonly turns: readonly ContinuedTurn[];
}

/**
 * Prepares the messages at a leaf for a program whose file holds no compaction: without instructions and thinking, each call
 * with one result. The whole path has no summaries of what it holds anyway.
 */
export function planContinuation(
  session: ReadonlySessionManager,
  target: WriteTarget,
  dialect: Dialect,
): ContinuationPlan {
  const sources = listSources(session, target);
  const messages = sources.map(({ message }) => message);
  const { items, ids, issues } = planRequest(messages, dialect, { dropThinking: true });
  issues.locate((index) => sources[index]?.entry.id);
  const turns = items.flatMap((item): ContinuedTurn[] => {
    const source = sources[item.index];
    if (item.kind === "system" || source === undefined) return [];
    const { message, entry } = source;
    return [{ item, message, entryId: entry.id, timestamp: getMessageTime(source, target.now) }];
  });
  return { turns, ids, issues };
}

function listSources(session: ReadonlySessionManager, target: WriteTarget): readonly ExportedMessage[] {
  if (target.compacted === "context") return listStages(session, target).flatMap(({ sources }) => sources);
  const path = session.getBranch(target.leafId).filter(({ type }) => type !== "compaction");
  return projectPath(makeEntryPath(path)).entries.flatMap(({ sourceEntry: entry, messages }) =>
    messages.flatMap((message) => (message.role === "system" ? [] : { message, entry })),
  );
}
