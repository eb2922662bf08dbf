import { toRecord } from "../../core/context/entry-fields.ts";
import { makeEntryPath } from "../../core/context/entry-path.ts";
import { projectPath } from "../../core/context/session-context.ts";
import type { AnySessionEntry, SessionEntry } from "../../core/format/entry.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { Dialect } from "../convert/dialect.ts";
import type { PlannedAnswer, PlannedUser, RequestPlan } from "../convert/request-plan.ts";
import { itemsUpTo } from "../convert/session/bound-thinking.ts";
import { planRequest } from "../convert/session/plan-source.ts";
import { readSteps } from "../convert/session/session-steps.ts";
import type { WriteTarget } from "./session-writer.ts";

/** A prompt, or an answer with its results, and where it comes from. */
export interface ContinuedTurn {
  readonly item: PlannedUser | PlannedAnswer;
  readonly entryId: string;
  /** Unix milliseconds. */
  readonly time: number;
  /** Message of the item; of a prompt that was added, the one that follows it. */
  readonly message: AgentMessage;
}

/** What a program gets to continue with. */
export interface ContinuationPlan extends Pick<RequestPlan, "ids" | "issues"> {
  readonly turns: readonly ContinuedTurn[];
}

interface Source {
  readonly message: AgentMessage;
  readonly entry: AnySessionEntry;
}

/**
 * Prepares the messages at a leaf for a program without compactions of its own: without instructions and thinking, each call with
 * one result.
 *
 * @param tools - Names of the program's own tools.
 */
export function planContinuation(
  session: ReadonlySessionManager,
  target: Pick<WriteTarget, "leafId" | "compacted">,
  dialect: Dialect,
  tools: ReadonlySet<string>,
): ContinuationPlan {
  const branch = session.getBranch(target.leafId);
  const steps =
    target.compacted === "context"
      ? readSteps(session, target.leafId)
      : projectPath(makeEntryPath(branch.filter(({ type }) => type !== "compaction"))).entries;
  const all: readonly Source[] = itemsUpTo(steps, steps.length);
  const sources = all.filter(({ message }) => !isSystem(message));
  const plan = planRequest(
    sources.map(({ message }) => message),
    dialect,
    { dropThinking: true },
  );
  plan.issues.locate((index) => sources[index]?.entry.id);
  for (const { message, entry } of all)
    if (isSystem(message))
      plan.issues.report("SYSTEM_LEFT_OUT", -1, "Left out instructions: the program has its own.", {
        entryId: entry.id,
      });
  reportTools(plan, tools);
  reportBranches(plan, session.getEntries(), branch);
  return { turns: plan.items.flatMap((item) => toTurn(item, sources)), ids: plan.ids, issues: plan.issues };
}

function isSystem({ role }: AgentMessage): boolean {
  return role === "system";
}

function toTurn(item: RequestPlan["items"][number], sources: readonly Source[]): ContinuedTurn[] {
  const source = sources[item.index];
  if (item.kind === "system" || source === undefined) return [];
  const { message, entry } = source;
  return [{ item, message, entryId: entry.id, time: getTime(message, entry.timestamp) }];
}

/** Returns the time of a message, else a time that its entry has; 0 if neither has one. */
export function getTime(message: object, timestamp: unknown): number {
  const stored = toRecord(message)["timestamp"];
  for (const value of [stored, timestamp]) {
    const time =
      typeof value === "number" || typeof value === "string" ? new Date(value).getTime() : Number.NaN;
    if (time >= 0) return time;
  }
  return 0;
}

function reportTools({ items, issues }: RequestPlan, tools: ReadonlySet<string>): void {
  const names = items.flatMap((item) =>
    item.kind !== "answer"
      ? []
      : item.content.flatMap((block) =>
          block.type === "toolCall" && !tools.has(block.name) ? [block.name] : [],
        ),
  );
  if (names.length === 0) return;
  const listed = [...new Set(names)].join(", ");
  issues.report("TOOLS_FOREIGN", -1, `The program lacks tools that were called: ${listed}.`);
}

function reportBranches(
  { issues }: RequestPlan,
  entries: readonly SessionEntry[],
  branch: readonly SessionEntry[],
): void {
  const ids = new Set(branch.map(({ id }) => id));
  const count = entries.filter(({ type, id }) => type === "message" && !ids.has(id)).length;
  if (count === 0) return;
  issues.report("BRANCHES_LEFT_OUT", -1, `Left out ${count} messages that are on other branches.`);
}
