import { single } from "fuzzysort";
import type { PickerSession } from "./picker-session.ts";

/** Characters of a title in which letters are looked for one by one; of a longer text any letters could be found. */
const TITLE_LENGTH = 200;

/** Letters that stand further apart than this rank are chance. */
const LEAST_RANK = 0.25;

/** Rank of a session that holds all the words as they were typed, wherever: higher than any of letters. */
const WORDS_RANK = 2;

/** What was found last for a list, which is asked for several times between two keys. */
const known = new WeakMap<readonly PickerSession[], { filter: string; matches: readonly PickerSession[] }>();

/**
 * Gives the sessions that fit what was typed: first those that hold its words anywhere, in the order given, then those
 * with its letters in order in the title, the best first.
 *
 * @remarks Cost: O(text of their rows), once for each list and filter.
 */
export function bestMatches(sessions: readonly PickerSession[], filter: string): readonly PickerSession[] {
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

function rankOf({ searched, title }: PickerSession, words: readonly string[]): number {
  if (words.every((word) => searched.includes(word))) return WORDS_RANK;
  return single(words.join(" "), title.slice(0, TITLE_LENGTH))?.score ?? 0;
}
