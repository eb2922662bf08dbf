import { dirname } from "node:path";
import { listSessions } from "../../catalog/list/list-sessions.ts";
import type { FileRow } from "../../session/files/session-row.ts";
import type { CommandCall } from "./command.ts";
import { sessionScope } from "./session-argument.ts";

/** Lists all sessions that can be found: those of all projects, and those beside some files. */
export async function knownSessions(
  call: Pick<CommandCall, "io" | "dir">,
  paths: readonly string[],
): Promise<FileRow[]> {
  const found = new Map<string, FileRow>();
  const folders = new Set(paths.map((path) => dirname(path)));
  // A folder that was given is not all that there is.
  const usual = sessionScope({ io: call.io, dir: undefined }, true);
  const scopes = [usual, sessionScope(call, true), ...[...folders].map((sessionDir) => ({ sessionDir }))];
  for (const scope of scopes) {
    for (const session of await listSessions(scope)) found.set(session.path, session);
  }
  return [...found.values()];
}
