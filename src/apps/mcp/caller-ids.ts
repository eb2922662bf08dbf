import { toRecord } from "../../core/context/entry-fields.ts";
import { toText } from "../../core/context/message-parts.ts";

/** Characters of an id. */
const MAX_ID = 200;

/**
 * Returns the ids by which a client names the session that asks, from the `_meta` of its request; empty if it names none.
 *
 * Codex names its thread in three places, and those of a subagent differ: all of them are what the caller knows.
 */
export function getCallerIds(meta: unknown): string[] {
  const { threadId, sessionId, "x-codex-turn-metadata": turn } = toRecord(meta);
  const ids = [threadId, sessionId, toRecord(turn)["thread_id"]].map((id) => toText(id).slice(0, MAX_ID));
  return [...new Set(ids)].filter((id) => id !== "");
}
