import { requiredWords, type SearchQuery } from "../../search/search-query.ts";
import { MatchWalk, textPatterns } from "../../search/text-bytes.ts";
import type { SessionModel } from "./session-model.ts";

/** Letters in a row: the page puts marks of its own between what stands on a line. */
const LETTERS = /[\p{L}\p{N}_]+/gu;

/** Begins a colour in a terminal's output, which may stand between the letters of a word. */
const ESCAPE = "\u001b";

/**
 * Tells which entries may show what is looked for, by the bytes of their lines: those of which the longest word is not there are
 * not parsed.
 *
 * @returns Their ordinals, in the order of the file, as many at a time as lie in one block.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function* entriesThatMayHold(session: SessionModel, query: SearchQuery): Generator<number[], void> {
  const { bytes, kinds, labels, lines, size } = session;
  const [word = ""] = requiredWords(query)
    .flatMap((one) => one.match(LETTERS) ?? [])
    .sort((a, b) => b.length - a.length);
  // What was migrated is shown in today's words.
  const patterns = session.isMigrated ? undefined : textPatterns(word, query.caseSensitive, ESCAPE);
  const ordinals = lines.allInFileOrder(size);
  let next = 0;
  for (const { offset, bytes: block } of bytes.between(0, bytes.size)) {
    const walks =
      patterns &&
      Object.values(patterns).map(
        (pattern) => new MatchWalk((from) => pattern.find(block, from, block.length)),
      );
    const some: number[] = [];
    for (; next < size; next++) {
      const ordinal = ordinals[next] ?? 0;
      const start = lines.offsetAt(ordinal) - offset;
      if (start >= block.length) break;
      const end = start + lines.lengthAt(ordinal);
      const isTold = kinds[ordinal]?.tone === "quiet" || labels.has(ordinal);
      if (isTold || walks?.some((walk) => walk.next(start) < end) !== false) some.push(ordinal);
    }
    yield some;
  }
}
