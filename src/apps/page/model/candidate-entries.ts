import { requiredWords, type SearchQuery } from "../../../catalog/query/search-query.ts";
import { MatchWalk, textPatterns } from "../../../catalog/query/text-bytes.ts";
import type { SessionModel } from "./session-model.ts";

/** Letters in a row: the page puts marks of its own between what stands on a line. */
const LETTERS = /[\p{L}\p{N}_]+/gu;

/** Entries of one block that may hold what is looked for. */
export interface SomeThatMayHold {
  readonly ordinals: readonly number[];
  /** How many entries were passed so far, in the order of the file. */
  readonly passed: number;
}

/** Begins a colour in a terminal's output, which may stand between the letters of a word. */
const ESCAPE = "\u001b";

/**
 * Tells which entries may show what is looked for, by the bytes of their lines: those of which the longest word is not there are
 * not parsed.
 *
 * @param from - How many entries are passed over, in the order of the file.
 * @returns In the order of the file, as many at a time as lie in one block.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function* entriesThatMayHold(
  session: SessionModel,
  query: SearchQuery,
  from = 0,
): Generator<SomeThatMayHold, void> {
  const { bytes, kinds, labels, lines, size } = session;
  const [word = ""] = requiredWords(query)
    .flatMap((one) => one.match(LETTERS) ?? [])
    .sort((a, b) => b.length - a.length);
  // What was migrated is shown in today's words.
  const patterns = session.isMigrated ? undefined : textPatterns(word, query.caseSensitive, ESCAPE);
  const all = lines.allInFileOrder(size);
  const first = all[from];
  if (first === undefined) return;
  let next = from;
  for (const { offset, bytes: block } of bytes.between(lines.offsetAt(first), bytes.size)) {
    const walks =
      patterns &&
      Object.values(patterns).map(
        (pattern) => new MatchWalk((start) => pattern.find(block, start, block.length)),
      );
    const ordinals: number[] = [];
    for (; next < size; next++) {
      const ordinal = all[next] ?? 0;
      const start = lines.offsetAt(ordinal) - offset;
      if (start >= block.length) break;
      const end = start + lines.lengthAt(ordinal);
      const isTold = kinds[ordinal]?.tone === "quiet" || labels.has(ordinal);
      if (isTold || walks?.some((walk) => walk.next(start) < end) !== false) ordinals.push(ordinal);
    }
    yield { ordinals, passed: next };
  }
}
