import { assertSession } from "../../../core/format/arguments.ts";
import type { SessionManager } from "../../../session/manager/session-manager.ts";
import { type ChatMessage, readChat } from "./chat-entries.ts";

/**
 * Returns the versions of a chat message that were created by regenerating or editing it, oldest first.
 *
 * To show a version, move the leaf to its `leafId` with `session.branch(leafId)`, and load the chat. `session.persistLeaf()`
 * keeps that leaf for the next time the session is opened.
 *
 * @param messageId - Id as in `loadChat`. Searched for on the active branch first, and then on the other branches.
 * @returns For each version, the id of its message, the leaf of the latest branch that contains it, and whether it is on the
 *   active branch. Empty if no branch contains the message.
 * @remarks Cost: O(entries + total length of all branches). Source: docs/chat-app.md
 */
export function chatVersions(
  session: SessionManager,
  messageId: string,
): { id: string; leafId: string; isActive: boolean }[] {
  assertSession(session);
  const active = session.getLeafId();
  const leafIds = session.getLeaves().map(({ id }) => id);
  // The active leaf may have children, if it was moved back.
  const all = active === null || leafIds.includes(active) ? leafIds : [...leafIds, active];
  const chats = all.map((leafId) => ({ leafId, chat: readChat(session.getBranch(leafId)) }));
  const ordered = [...chats.filter(({ leafId }) => leafId === active), ...chats];
  const has = ({ message }: ChatMessage) => message.id === messageId;
  const shown = ordered.find(({ chat }) => chat.some(has))?.chat;
  if (shown === undefined) return [];
  const at = shown.findIndex(has);
  const place = findVersionPlace(shown, at);
  const versions = new Map<string, { id: string; leafId: string; isActive: boolean }>();
  for (const { leafId, chat } of chats) {
    const found = chat[at];
    if (found === undefined || findVersionPlace(chat, at) !== place) continue;
    const key = found.entries[0]?.id ?? "";
    const isActive = leafId === active;
    if (versions.get(key)?.isActive !== true) versions.set(key, { id: found.message.id, leafId, isActive });
  }
  const order = session.getEntries().map(({ id }) => versions.get(id));
  return order.filter((version) => version !== undefined);
}

/** Returns a key for a message's position in the tree, which consists of the message's role and the preceding message. */
function findVersionPlace(chat: readonly ChatMessage[], at: number): string {
  const before = chat[at - 1]?.entries.map(({ id }) => id) ?? [];
  return JSON.stringify([chat[at]?.message.role, ...before]);
}
