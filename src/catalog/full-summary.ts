import type { SessionIndex } from "../jsonl/session-index.ts";
import type { IssueCode } from "../schema/issue.ts";
import { isJsonRecord, type JsonRecord } from "../schema/json.ts";
import { isNameType } from "../schema/session-name.ts";
import type { OpenFile } from "./open-file.ts";
import { RESUMABLE_VERSION } from "./ordinary-scan.ts";
import type { Pace } from "./pace.ts";
import { readEntries, readIndex } from "./read-index.ts";
import { headerFacts, type SessionSummary, SummaryFacts } from "./session-summary.ts";

/** Issues about links, versions and ids rather than lines: nothing is lost. */
const HARMLESS: ReadonlySet<IssueCode> = new Set([
  "PARENT_MISSING",
  "PARENT_BRIDGED",
  "PARENT_CYCLE",
  "VERSION_TOO_NEW",
  "VERSION_UNCLEAR",
  "FOREIGN_FORMAT",
  "ID_INVENTED",
]);

/** What the full path found. */
export interface FullSummary {
  readonly summary: SessionSummary;
  /** Id of the last entry; undefined if no scan can continue behind it. */
  readonly lastId: string | undefined;
}

/**
 * Summarises a session file in any state, as an open would read it: every relevant entry is parsed.
 *
 * @returns Undefined if it is no session.
 * @throws {SessionError} `ABORTED`
 * @remarks Cost: O(bytes), parsed.
 */
export async function summarizeFully(file: OpenFile, pace: Pace): Promise<FullSummary | undefined> {
  const index = await readIndex(file, pace);
  if (index?.header === undefined) return undefined;
  const facts = new SummaryFacts();
  const { tree } = index;
  for await (const batch of readEntries(file, index, ordinalsThatMatter(index), pace)) {
    for (const { ordinal, entry } of batch) {
      const record: JsonRecord | undefined = isJsonRecord(entry) ? entry : undefined;
      if (tree.typeAt(ordinal) === "message") {
        facts.messageCount++;
        facts.noteMessage(record, tree.timeAt(ordinal));
      } else facts.noteName(record);
    }
  }
  const issueCount = index.issues.filter((issue) => !HARMLESS.has(issue.code)).length;
  const isEnd = index.version >= RESUMABLE_VERSION && tree.size > 0 && !hasLooseEntry(index);
  const lastId = isEnd ? tree.idAt(tree.size - 1) : undefined;
  return { summary: facts.summary(headerFacts(index.header), issueCount), lastId };
}

/** Whether an entry stands before its parent, or its parent is missing. */
function hasLooseEntry({ tree, issues }: SessionIndex): boolean {
  if (issues.some((issue) => issue.code.startsWith("PARENT_"))) return true;
  for (let ordinal = 0; ordinal < tree.size; ordinal++) if (tree.parentAt(ordinal) > ordinal) return true;
  return false;
}

function* ordinalsThatMatter({ tree }: SessionIndex): Generator<number, void> {
  for (let ordinal = 0; ordinal < tree.size; ordinal++) {
    const type = tree.typeAt(ordinal);
    if (type === "message" || isNameType(type)) yield ordinal;
  }
}
