import type { ImportedSession } from "../import/imported-session.ts";
import { leftOut } from "../import/source-text.ts";
import type { SessionIssue } from "../schema/issue.ts";
import type { KnownFile, ReadOptions, SourceSession } from "./source-program.ts";
import { programOf } from "./source-table.ts";

/**
 * Converts the files of another program's session to sessions: its own, and those of its subagents.
 *
 * @returns The main session first; none if the files hold no conversation.
 */
export function readSourceSession(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const [main, ...others] = programOf(session.source)?.read(session, options) ?? [];
  if (main === undefined) return [];
  const issues = session.copies.flatMap((copy) => leftOutOf(copy, session));
  return [issues.length === 0 ? main : { ...main, issues: [...main.issues, ...issues] }, ...others];
}

/** Returns an issue if a copy of a session holds what the session does not. */
function leftOutOf(copy: KnownFile, session: SourceSession): SessionIssue[] {
  const { path, facts } = copy;
  const lost = programOf(session.source)?.countMissing?.(copy, session);
  if (lost === 0) return [];
  const what = lost === undefined ? path : `${lost} ${lost === 1 ? "record" : "records"} of ${path}`;
  return [
    leftOut(`Left out ${what}: it has the id ${facts.sessionId}, too, and is not the largest file that has.`),
  ];
}
