import { findFailureLine } from "../../../core/facts/failure-text.ts";
import type { Answer } from "../answer.ts";
import {
  findAftermath,
  findFinishedCall,
  findWords,
  formatFailureLines,
  measureLikeness,
} from "../find-failures.ts";
import type { Recall } from "../recall.ts";
import type { OpenedEntry, SessionOpener } from "../session-opener.ts";

/** Number of the longest words that a known failure must contain. */
const SEARCHED_WORDS = 2;

/** Maximum number of failures to examine, starting with the latest sessions. */
const MAX_HITS = 12;

/** Minimum share of a failure's words that a known failure must contain: unrequested help must be relevant. */
const ALIKE = 0.6;

/** Maximum number of failures shown. */
const MAX_SHOWN = 2;

/** Maximum number of characters of a command from which words are taken. */
const MAX_COMMAND = 400;

/** Adds what worked after the latest similar failures; adds nothing if none are known, or if nothing worked. */
export async function writeKnownFailure(
  recall: Recall,
  sessions: SessionOpener,
  { command, output }: { readonly command: string; readonly output: string },
  answer: Answer,
): Promise<void> {
  const words = findWords(
    `${command.slice(0, MAX_COMMAND)}\n${findFailureLine(output) ?? output.slice(-1000)}`,
  );
  if (words.length === 0) return;
  const query = { text: findQuery(words), cwd: recall.settings.project, failed: true };
  const [shown, seen] = [new Set<string>(), new Set<string>()];
  let looked = 0;
  for await (const hit of sessions.search(query)) {
    const { id } = hit.session;
    // A fork has the entries of its parent.
    if (shown.has(id) || seen.has(hit.entryId)) continue;
    seen.add(hit.entryId);
    const found = await sessions.openEntry(hit);
    if (found !== undefined && isFixed(found, words) && !(await sessions.isEcho(hit))) {
      const [first = "", ...others] = formatFailureLines(found);
      const heading = await recall.formatRow(hit.session);
      // The last line shows what worked; the attempts before it may be too long.
      const isAdded =
        answer.add(heading, first, ...others) || answer.add(heading, first, ...others.slice(-1));
      if (!isAdded || shown.add(id).size >= MAX_SHOWN) break;
    }
    looked++;
    if (looked >= MAX_HITS) break;
  }
  if (shown.size > 0) answer.note("This failed before; what then worked is above.");
}

/**
 * Returns the search text: includes words with digits, such as names of temporary files, only if the failure has no
 * other words.
 */
function findQuery(words: readonly string[]): string {
  const lasting = words.filter((word) => !/\d/.test(word));
  return (lasting.length > 0 ? lasting : words).slice(0, SEARCHED_WORDS).join(" ");
}

function isFixed(found: OpenedEntry, words: readonly string[]): boolean {
  const { session, ordinal } = found;
  if (measureLikeness(found, words, () => 1) < ALIKE) return false;
  const failed = findFinishedCall(session, ordinal);
  return failed !== undefined && findAftermath(session, failed).worked !== undefined;
}
