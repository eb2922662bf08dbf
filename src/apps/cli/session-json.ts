import type { SessionIssue } from "../../core/format/issue.ts";
import type { ListedRow } from "./stored-sessions.ts";

/** Returns a row as the JSON of every command names it; what is undefined is not written. */
export function toSessionJson(session: ListedRow): object {
  const { id, path, store, cwd, name, title, parentSession } = session;
  const { created, modified, messageCount, firstMessage, issueCount, source, sourceGone } = session;
  return {
    id,
    path,
    store,
    cwd,
    name,
    title,
    source,
    ...(sourceGone === true && { sourceGone }),
    parentSession,
    created,
    modified,
    messageCount,
    firstMessage,
    ...((path !== undefined || issueCount !== undefined) && { issueCount: issueCount ?? 0 }),
  };
}

/** Returns an issue as the JSON of every command names it. */
export function toIssueJson({ entryId: entry, ...issue }: SessionIssue): object {
  return { ...issue, entry };
}
