import type { IssueCode, SessionIssue } from "../format/issue.ts";

/**
 * Issues that concern links, versions, ids, or parts of messages rather than lines: every line is legible, and readers find every
 * entry.
 */
const LEGIBLE: ReadonlySet<IssueCode> = new Set([
  "PARENT_MISSING",
  "PARENT_BRIDGED",
  "PARENT_CYCLE",
  "VERSION_TOO_NEW",
  "VERSION_UNCLEAR",
  "FOREIGN_FORMAT",
  "ID_INVENTED",
  "KEPT_ENTRY_MISSING",
  "MESSAGE_FOREIGN",
  "IMAGE_MISSING",
]);

/** Returns whether any of the issues concerns a line, so that lists mark the session as damaged. */
export function isDamaged(issues: readonly SessionIssue[]): boolean {
  return issues.some(({ code }) => !LEGIBLE.has(code));
}
