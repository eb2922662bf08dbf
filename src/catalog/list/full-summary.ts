import { factsAdded, factsOfHeader, type SessionFacts, Summarizer } from "../../core/facts/session-facts.ts";
import type { IssueCode } from "../../core/format/issue.ts";
import { isJsonRecord } from "../../core/format/json.ts";
import { isNameType } from "../../core/format/session-name.ts";
import type { LineSource } from "../../core/jsonl/line-source.ts";
import type { SessionIndex } from "../../core/jsonl/session-index.ts";
import { type SessionRow, sessionRow } from "../../session/files/session-row.ts";
import { Pace } from "../../session/files/time-slices.ts";
import { RESUMABLE_VERSION } from "./list-scan.ts";
import { readEntries } from "./read-entries.ts";
import { CallRecorder, type SessionCalls } from "./session-calls.ts";

/** Issues about links, versions and ids rather than lines: nothing is lost, and alone they do not count in a list. */
const HARMLESS: ReadonlySet<IssueCode> = new Set([
  "PARENT_MISSING",
  "PARENT_BRIDGED",
  "PARENT_CYCLE",
  "VERSION_TOO_NEW",
  "VERSION_UNCLEAR",
  "FOREIGN_FORMAT",
  "ID_INVENTED",
]);

/** What a reading of a file found. */
export interface Findings {
  /** Undefined if the file is no session. */
  readonly summary: SessionFacts | undefined;
  /** The calls of models; undefined if nobody asks for them. */
  readonly calls: SessionCalls | undefined;
  /** All issues, if a line is not exactly one header or one entry; else 0. */
  readonly issueCount: number;
  /** Id of the last entry; undefined if no scan can continue behind it. */
  readonly lastId: string | undefined;
}

/**
 * Summarises a session in any state, as an open would read it: every relevant entry is parsed.
 *
 * @param source - Undefined if it is no session.
 * @param needsCalls - Whether the calls of models are asked for.
 */
export async function summarizeSource(
  source: LineSource | undefined,
  pace: Pace,
  needsCalls = false,
): Promise<Findings> {
  const { index } = source ?? {};
  if (source === undefined || index?.header === undefined)
    return { summary: undefined, calls: undefined, issueCount: 0, lastId: undefined };
  const facts = factsOfHeader(index.header);
  const summarizer = new Summarizer(facts);
  const recorder = needsCalls ? new CallRecorder(facts.createdMs) : undefined;
  const { tree } = index;
  const ordinals = needsCalls ? tree.ordinals() : ordinalsThatMatter(index);
  for await (const batch of readEntries(source, ordinals, pace)) {
    for (const { ordinal, entryId, entry } of batch) {
      const type = tree.typeAt(ordinal);
      // A damaged entry counts, and says no more.
      const isWhole = isJsonRecord(entry) && entry["type"] === type;
      const entryMs = tree.timeAt(ordinal);
      summarizer.add(isWhole ? factsAdded(type, entry, entryMs) : { type });
      if (isWhole) recorder?.add(entry, index.version > 1 ? entryId : undefined, entryMs);
      else recorder?.pass();
    }
  }
  const isDamaged = index.issues.some((issue) => !HARMLESS.has(issue.code));
  const issueCount = isDamaged ? index.issues.length : 0;
  const isEnd = index.version >= RESUMABLE_VERSION && tree.size > 0 && !hasLooseEntry(index);
  const lastId = isEnd ? tree.idAt(tree.size - 1) : undefined;
  return { summary: summarizer.facts, calls: recorder?.found, issueCount, lastId };
}

/** Returns the row of a session that has no file; undefined if it is no session. */
export async function rowOfLines(source: LineSource): Promise<SessionRow | undefined> {
  const { summary } = await summarizeSource(source, new Pace());
  return summary && sessionRow(summary);
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
