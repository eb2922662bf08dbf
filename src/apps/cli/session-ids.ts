import { listSessions } from "../../catalog/list/list-sessions.ts";
import { getShortIdLength, WHOLE_ID } from "../../core/facts/short-id-length.ts";
import type { SessionRow } from "../../session/files/session-row.ts";
import type { CommandCall } from "./command.ts";
import { getScope } from "./session-argument.ts";

/**
 * Returns how many characters of a session's id every command accepts, whatever sessions other projects have.
 *
 * @param shown - The sessions of which the ids are shown.
 * @param isWhole - Whether these are all that there are.
 */
export async function measureSessionIds(
  call: Pick<CommandCall, "io" | "dir">,
  shown: readonly Pick<SessionRow, "id">[],
  isWhole: boolean,
): Promise<number> {
  const all = isWhole ? [] : await listSessions(getScope(call, true));
  return getShortIdLength(new Set([...shown, ...all].map(({ id }) => id)), WHOLE_ID);
}
