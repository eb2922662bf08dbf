import { single } from "fuzzysort";
import { plainLine } from "../../../core/facts/plain-text.ts";
import { titleOf } from "../../../core/facts/session-title.ts";
import type { FileRow } from "../../../session/files/session-row.ts";

/** Characters of a title in which letters are looked for one by one; of a longer text any letters could be found. */
const TITLE_LENGTH = 200;

/** Letters that stand further apart than this rank are chance. */
const LEAST_RANK = 0.25;

/** Rank of a session that holds all the words as they were typed, wherever: higher than any of letters. */
const WORDS_RANK = 2;

/** What was found last for a list, which is asked for several times between two keys. */
const known = new WeakMap<readonly FileRow[], { filter: string; matches: readonly FileRow[] }>();

/**
 * Returns the sessions that fit what was typed: first those that hold its words anywhere, in their order, then those
 * with its letters in order in the title, the best first.
 *
 * @remarks Cost: O(text of their rows), once for each list and filter.
 */
export function bestMatches(sessions: readonly FileRow[], filter: string): readonly FileRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  const before = known.get(sessions);
  if (before?.filter === filter) return before.matches;
  const ranked = sessions.flatMap((session) => {
    const rank = rankOf(session, words);
    return rank < LEAST_RANK ? [] : [{ session, rank }];
  });
  const matches = ranked.sort((a, b) => b.rank - a.rank).map(({ session }) => session);
  known.set(sessions, { filter, matches });
  return matches;
}

function rankOf(session: FileRow, words: readonly string[]): number {
  const text = searchedOf(session);
  if (words.every((word) => text.includes(word))) return WORDS_RANK;
  return single(words.join(" "), titleOf(session).slice(0, TITLE_LENGTH))?.score ?? 0;
}

const searched = new WeakMap<FileRow, string>();

/** What a filter looks into, in lower case. */
function searchedOf(session: FileRow): string {
  const { name = "", firstMessage = "", id, cwd } = session;
  const text =
    searched.get(session) ?? `${plainLine(name)}\n${plainLine(firstMessage)}\n${id}\n${cwd}`.toLowerCase();
  searched.set(session, text);
  return text;
}
