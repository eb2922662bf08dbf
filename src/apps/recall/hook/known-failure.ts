import type { SearchHit } from "../../../catalog/search/search.ts";
import { findFailureLine } from "../../../core/facts/failure-text.ts";
import type { Answer } from "../answer.ts";
import { formatEntryText } from "../entry-text.ts";
import {
  findAftermath,
  findFinishedCall,
  findWords,
  formatFailureLines,
  measureLikeness,
} from "../find-failures.ts";
import type { Recall } from "../recall.ts";
import type { OpenedEntry, SessionOpener } from "../session-opener.ts";
import { holdsEcho } from "./echo.ts";

/** How many of the longest words a failure must hold; fewer if none does. */
const SEARCHED_WORDS = [3, 1];

/** Hits of one search that are looked at, latest first. */
const MAX_HITS = 20;

/** Part of the words of a failure that a known one has at least: unrequested help must fit. */
const ALIKE = 0.6;

/** Failures that are shown. */
const MAX_SHOWN = 2;

/** Characters of a command whose words count. */
const MAX_COMMAND = 400;

/** Adds what worked after the last failures like this one; nothing if none is known, or nothing worked. */
export async function writeKnownFailure(
  recall: Recall,
  sessions: SessionOpener,
  { command, output }: { readonly command: string; readonly output: string },
  answer: Answer,
): Promise<void> {
  const words = findWords(
    `${command.slice(0, MAX_COMMAND)}\n${findFailureLine(output) ?? output.slice(-1000)}`,
  );
  const shown = new Set<string>();
  for await (const { hit, found } of findFixed(recall, sessions, words)) {
    const { id } = hit.session;
    if (shown.has(id)) continue;
    const [first = "", ...others] = formatFailureLines(found);
    const heading = await recall.formatRow(hit.session);
    // What worked is in the last line; what was tried before may take more than there is.
    const isAdded = answer.add(heading, first, ...others) || answer.add(heading, first, ...others.slice(-1));
    if (!isAdded || shown.add(id).size >= MAX_SHOWN) break;
  }
  if (shown.size > 0) answer.note("This failed before; what then worked is above.");
}

/** A failure after which something for the same purpose worked. */
interface FixedFailure {
  readonly hit: SearchHit;
  readonly found: OpenedEntry;
}

/** Yields failures like one, the latest first. */
async function* findFixed(
  recall: Recall,
  sessions: SessionOpener,
  words: readonly string[],
): AsyncGenerator<FixedFailure, void, undefined> {
  const seen = new Set<string>();
  for (const count of SEARCHED_WORDS.filter((one) => one <= words.length)) {
    const query = { text: words.slice(0, count).join(" "), cwd: recall.settings.project, failed: true };
    let [looked, fixed] = [0, 0];
    for await (const hit of sessions.search(query)) {
      // A fork has the entries of its parent.
      if (seen.has(hit.entryId)) continue;
      seen.add(hit.entryId);
      const found = await sessions.openEntry(hit);
      if (found !== undefined && isFixed(found, words)) {
        yield { hit, found };
        fixed++;
      }
      looked++;
      if (looked >= MAX_HITS) break;
    }
    if (fixed > 0) return;
  }
}

function isFixed(found: OpenedEntry, words: readonly string[]): boolean {
  const { session, ordinal } = found;
  if (measureLikeness(found, words, () => 1) < ALIKE) return false;
  if (holdsEcho(formatEntryText(session.entryAt(ordinal), false))) return false;
  const failed = findFinishedCall(session, ordinal);
  return failed !== undefined && findAftermath(session, failed).worked !== undefined;
}
