import { BytePattern } from "../../jsonl/byte-pattern.ts";
import { CURRENT_SESSION_VERSION } from "../../schema/version.ts";
import { requiredWords, type SearchQuery } from "../../search/search-query.ts";
import { textPatterns } from "../../search/text-bytes.ts";
import { NONE } from "../../tree/entry-tree.ts";
import type { SessionModel } from "./session-model.ts";

/** What the page says of entries in words of its own, which stand on no line. */
const OWN_WORDS =
  `Content of an unknown kind. This entry cannot be read. It keeps its position in the tree. Details State Usage
  Message Entry of the type result Nested calls (unnamed tool) cancelled, exit code output truncated kept from the model Section
  removed Tools added Tools removed The model failed. Aborted. The answer ends here: it reached its greatest length. (thinking)
  (aborted) failed: the body cannot be read [images] -token context → (none)`.toLowerCase();

/** Letters in a row: the page puts marks of its own between what stands on a line. */
const LETTERS = /[\p{L}\p{N}_]+/gu;

/** The beginning of a colour in a terminal's output, which may stand between the letters of a word. */
const ESCAPE = new BytePattern(
  ["\\", "u", "0", "0", "1", "bB"].map((forms) => new TextEncoder().encode(forms)),
);

/**
 * Tells which entries may show what is looked for, by the bytes of their lines: those of which the longest word is not there are
 * not parsed.
 *
 * @returns 1 for each, by ordinal.
 * @remarks Cost: O(bytes), most of which are passed over.
 */
export function entriesThatMayHold(session: SessionModel, query: SearchQuery): Uint8Array {
  const { size, tree, kinds, labels } = session;
  const own = (word: string) => OWN_WORDS.includes(word.toLowerCase());
  const [word] = requiredWords(query)
    .flatMap((one) => one.match(LETTERS) ?? [])
    .filter((one) => !own(one))
    .sort((a, b) => b.length - a.length);
  const patterns = word === undefined ? undefined : textPatterns(word, query.caseSensitive);
  // What was migrated is shown in today's words.
  if (word === undefined || patterns === undefined || session.version < CURRENT_SESSION_VERSION)
    return new Uint8Array(size).fill(1);
  const marks = new Uint8Array(size);
  const inId = word.toLowerCase();
  for (let ordinal = 0; ordinal < size; ordinal++) {
    const isTold = kinds[ordinal]?.tone === "quiet" || labels.has(ordinal);
    if (isTold || tree.idAt(ordinal).toLowerCase().includes(inId)) marks[ordinal] = 1;
  }
  for (const pattern of [patterns.plain, patterns.escaped, ESCAPE]) markLines(session, pattern, marks);
  return marks;
}

/** Marks the entries on whose lines a pattern stands. */
function markLines({ bytes, lines, size }: SessionModel, pattern: BytePattern, marks: Uint8Array): void {
  const ordinals = lines.allInFileOrder(size);
  const endOf = (ordinal: number) => lines.offsetAt(ordinal) + lines.lengthAt(ordinal);
  let next = 0;
  for (const block of bytes.between(0, bytes.size)) {
    const find = (from: number) => pattern.find(block.bytes, from, block.bytes.length);
    for (let at = find(0); at !== -1; ) {
      const found = block.offset + at;
      while (next < size && endOf(ordinals[next] ?? NONE) <= found) next++;
      const ordinal = ordinals[next];
      if (ordinal === undefined) return;
      const start = lines.offsetAt(ordinal);
      if (start <= found) marks[ordinal] = 1;
      at = find((start <= found ? endOf(ordinal) : start) - block.offset);
    }
  }
}
