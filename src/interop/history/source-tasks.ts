import type { SessionIssue } from "../../core/format/issue.ts";
import type { ImportedSession } from "../import/imported-session.ts";
import { makeLeftOutIssue } from "../import/source-text.ts";
import { copyDatabase } from "./database-copies.ts";
import { readFileFacts } from "./file-facts.ts";
import type { KnownFile, ReadOptions, SourceSession } from "./source-program.ts";
import { findProgram, SOURCE_PROGRAMS } from "./source-table.ts";

/** Tasks on other programs' files. Arguments and results are plain data, so another process can run the tasks. */
export const SOURCE_TASKS = { prepareCopy, readFileFacts, readSourceSession };

/** The tasks by name. */
export type SourceTasks = typeof SOURCE_TASKS;

function prepareCopy(path: string, copy: string): void {
  copyDatabase(path, copy, Object.assign({}, ...SOURCE_PROGRAMS.map(({ lookups }) => lookups)));
}

/** Converts the files of another program's session to sessions, the main session first. Empty if they contain no conversation. */
function readSourceSession(session: SourceSession, options: ReadOptions): ImportedSession[] {
  const [main, ...others] = findProgram(session.source)?.read(session, options) ?? [];
  if (main === undefined) return [];
  const issues = session.copies.flatMap((copy) => findLeftOut(copy, session));
  return [issues.length === 0 ? main : { ...main, issues: [...main.issues, ...issues] }, ...others];
}

/** Returns an issue if a copy of a session contains records that are missing from the session. */
function findLeftOut(copy: KnownFile, session: SourceSession): SessionIssue[] {
  const { path, facts } = copy;
  const lost = findProgram(session.source)?.countMissing?.(copy, session);
  if (lost === 0) return [];
  const what = lost === undefined ? path : `${lost} ${lost === 1 ? "record" : "records"} of ${path}`;
  return [
    makeLeftOutIssue(`Left out ${what}: another file with the same id, ${facts.sessionId}, was imported.`),
  ];
}
