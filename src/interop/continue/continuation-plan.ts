import { toRecord } from "../../core/context/entry-fields.ts";
import { makeEntryPath } from "../../core/context/entry-path.ts";
import { projectPath } from "../../core/context/session-context.ts";
import type { ImageContent } from "../../core/format/content.ts";
import type { AgentMessage } from "../../core/format/message.ts";
import type { ReadonlySessionManager } from "../../session/manager/session-manager.ts";
import type { Dialect } from "../convert/dialect.ts";
import { makePlaceholder } from "../convert/images.ts";
import { IMAGE_REPLACED } from "../convert/request-content.ts";
import type { PlannedAnswer, PlannedUser, RequestPlan } from "../convert/request-plan.ts";
import { planRequest } from "../convert/session/plan-source.ts";
import { normalizeName, ToolIds } from "../convert/tool-ids.ts";
import { type ExportedMessage, getMessageTime, listStages } from "./export-stages.ts";
import type { WriteTarget } from "./session-writer.ts";

/** Maximum length of a call id that every provider accepts, in characters. */
const MAX_CALL_ID = 64;

/** Creates a mapper from any provider's call ids to ids that all providers accept. */
export function makePortableIds(): ToolIds {
  return new ToolIds({ maxLength: MAX_CALL_ID, fitOwn: normalizeName });
}

/** A prompt or an answer with its results, and the entry from which it was created. */
export interface ContinuedTurn {
  readonly item: PlannedUser | PlannedAnswer;
  readonly entryId: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Message that the item was created from. For an added prompt, the message after it. */
  readonly message: AgentMessage;
}

/** History that another program continues. */
export interface ContinuationPlan extends Pick<RequestPlan, "ids" | "issues"> {
  readonly turns: readonly ContinuedTurn[];
}

/**
 * Prepares the messages at a leaf for a program whose files cannot contain a compaction. Instructions and thinking are omitted,
 * and each call has one result. The whole path is exported without summaries, because it contains the summarized messages.
 */
export function planContinuation(
  session: ReadonlySessionManager,
  target: WriteTarget,
  dialect: Dialect,
): ContinuationPlan {
  const sources = listSources(session, target);
  const messages = sources.map(({ message }) => withReadableImages(message));
  const { items, ids, issues } = planRequest(messages, dialect, { dropThinking: true });
  issues.locate((index) => sources[index]?.entry.id);
  messages.forEach((message, index) => {
    if (message !== sources[index]?.message)
      issues.report("CONTENT_REPLACED", index, `${IMAGE_REPLACED} that is not base64 with text.`);
  });
  const turns = items.flatMap((item): ContinuedTurn[] => {
    const source = sources[item.index];
    if (item.kind === "system" || source === undefined) return [];
    const { message, entry } = source;
    return [{ item, message, entryId: entry.id, timestamp: getMessageTime(source, target.now) }];
  });
  return { turns, ids, issues };
}

/** Replaces images that are not base64, because they crash programs that read them. */
function withReadableImages(message: AgentMessage): AgentMessage {
  if (message.role !== "user" && message.role !== "toolResult") return message;
  const { content } = message;
  if (!Array.isArray(content) || !content.some(isDamagedImage)) return message;
  const readable = content.map((block) =>
    isDamagedImage(block) ? makePlaceholder("image", block.mimeType) : block,
  );
  return { ...message, content: readable };
}

function isDamagedImage(block: unknown): block is ImageContent {
  const { type, data } = toRecord(block);
  return type === "image" && typeof data === "string" && !(data.length % 4 === 0 && BASE64.test(data));
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function listSources(session: ReadonlySessionManager, target: WriteTarget): readonly ExportedMessage[] {
  if (target.compacted === "context") return listStages(session, target).flatMap(({ sources }) => sources);
  const path = session.getBranch(target.leafId).filter(({ type }) => type !== "compaction");
  return projectPath(makeEntryPath(path)).entries.flatMap(({ sourceEntry: entry, messages }) =>
    messages.flatMap((message) => (message.role === "system" ? [] : { message, entry })),
  );
}
