import { toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";

/** Maximum length of an id, in characters. */
const MAX_ID = 200;

/**
 * Returns the ids of the calling session from the `_meta` of a client's request; empty if it has no ids.
 *
 * Codex specifies its thread in three places. For a subagent, the three ids differ, and the caller knows the content of all three
 * threads.
 */
export function getCallerIds(meta: unknown): string[] {
  const { threadId, sessionId, "x-codex-turn-metadata": turn } = toRecord(meta);
  const ids = [threadId, sessionId, toRecord(turn)["thread_id"]].map((id) => toText(id).slice(0, MAX_ID));
  return [...new Set(ids)].filter((id) => id !== "");
}
