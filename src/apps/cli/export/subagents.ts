import { collectCalls } from "../../../catalog/usage/collect-usage.ts";
import { type CallsOfSession, findStarters } from "../../../catalog/usage/usage-groups.ts";
import type { CatalogScope } from "../../../session/files/session-files.ts";
import type { SessionRow } from "../../../session/files/session-row.ts";

/**
 * Finds the sessions of a session's subagents, including nested subagents.
 *
 * @param path - Absolute path of the session.
 * @param scopes - Scopes to search in order, until the session is found.
 * @returns Absolute paths, oldest first.
 * @remarks Cost: the same as listing the sessions.
 */
export async function findSubagents(path: string, scopes: readonly CatalogScope[]): Promise<string[]> {
  for (const scope of scopes) {
    const { sessions } = await collectCalls(scope);
    const own = sessions.find(({ row, isOutside = false }) => row.path === path && !isOutside);
    if (own !== undefined) return findBelow(own.row, sessions);
  }
  return [];
}

function findBelow(own: SessionRow, sessions: readonly CallsOfSession[]): string[] {
  const starters = findStarters(sessions);
  const isBelow = (row: SessionRow): boolean => {
    const starter = starters.get(row);
    return starter !== undefined && (starter === own || isBelow(starter));
  };
  return [...starters.keys()]
    .filter(isBelow)
    .sort((a, b) => a.created.getTime() - b.created.getTime())
    .flatMap(({ path }) => path ?? []);
}
