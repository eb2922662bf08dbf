import type { SessionIssue } from "../../core/format/issue.ts";
import type { ListedRow } from "./stored-sessions.ts";

/** Converts a row to the JSON format that all commands use; undefined fields are omitted. */
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

/** Converts an issue to the JSON format that all commands use. */
export function toIssueJson({ entryId: entry, ...issue }: SessionIssue): object {
  return { ...issue, entry };
}
