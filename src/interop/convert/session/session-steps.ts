import { makeEntryPath } from "../../../core/context/entry-path.ts";
import { type ProjectedSessionEntry, projectPath } from "../../../core/context/session-context.ts";
import { makeEntryNotFoundError } from "../../../core/format/errors.ts";
import type { AgentMessage } from "../../../core/format/message.ts";
import type { ConversationSession } from "../append-conversation.ts";

/** Source of a request: the messages of a context, or a session, whose tree also shows earlier requests. */
export type RequestSource = readonly AgentMessage[] | ConversationSession;

/** Returns whether a source is a session. */
export function isSession(source: RequestSource): source is ConversationSession {
  if (Array.isArray(source)) return false;
  if (typeof source === "object" && source !== null && "buildSessionProjection" in source) return true;
  throw new TypeError("Pass the messages of a context, or a session.");
}

/**
 * Returns the selected entries of a session at a leaf, with their messages.
 *
 * @param leafId - Leaf at which to read. Default: the session's leaf.
 * @throws {SessionError} `ENTRY_NOT_FOUND`
 */
export function readSteps(
  session: Pick<ConversationSession, "getLeafId" | "getBranch" | "buildSessionProjection">,
  leafId?: string,
): readonly ProjectedSessionEntry[] {
  if (leafId === undefined || leafId === session.getLeafId()) return session.buildSessionProjection().entries;
  const branch = session.getBranch(leafId);
  if (branch.at(-1)?.id !== leafId) throw makeEntryNotFoundError(leafId);
  return projectPath(makeEntryPath(branch)).entries;
}

/** Returns the messages of a source. */
export function getMessages(source: RequestSource, leafId?: string): readonly AgentMessage[] {
  return isSession(source) ? readSteps(source, leafId).flatMap(({ messages }) => messages) : source;
}
