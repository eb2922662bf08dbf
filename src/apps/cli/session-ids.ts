import { listSessions } from "../../catalog/list/list-sessions.ts";
import { getShortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { CommandCall } from "./command.ts";
import { getScope } from "./session-argument.ts";

/**
 * Returns the number of characters of session ids to display, so that every command accepts the shortened ids, even across all
 * projects.
 *
 * @param shown - Sessions whose ids are displayed.
 * @param isWhole - Whether these are all sessions.
 */
export async function measureSessionIds(
  call: Pick<CommandCall, "io" | "dir">,
  shown: readonly Pick<SessionRow, "id">[],
  isWhole: boolean,
): Promise<number> {
  const all = isWhole ? [] : await listSessions(getScope(call, true));
  return getShortIdLength(new Set([...shown, ...all].map(({ id }) => id)), WHOLE_ID);
}
