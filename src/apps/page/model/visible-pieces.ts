/** A piece of a text, from its first character to the one behind it. */
export type Piece = readonly [start: number, end: number];

/** Lines and characters of a text that are shown before the reader asks for more. */
const MOST_LINES = 300;
const MOST_CHARACTERS = 40_000;

/** Lines of its beginning where a reader came for what stands behind. */
const FEW_LINES = 12;

/** Lines and characters that are shown before a spot that the reader came for. */
const LINES_BEFORE = 60;
const CHARACTERS_BEFORE = 8_000;

/**
 * Chooses the pieces of a long text that are shown: its beginning, and what stands around spots that lie behind that.
 *
 * @param spots - Indices of characters that must be shown.
 */
export function shownPieces(text: string, spots: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  const head = endAfter(text, 0);
  const isHeadEnough = spots.every((spot) => spot < head);
  let [from, to] = [0, isHeadEnough ? head : endAfter(text, 0, FEW_LINES)];
  for (const spot of [...spots].sort((a, b) => a - b)) {
    if (spot < to) continue;
    const start = startBefore(text, spot);
    if (start > to) {
      pieces.push([from, to]);
      from = start;
    }
    to = endAfter(text, Math.max(start, to));
  }
  return [...pieces, [from, to]];
}

function endAfter(text: string, start: number, lines = MOST_LINES): number {
  const end = Math.min(text.length, start + MOST_CHARACTERS);
  let at = start - 1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= end) return end;
  }
  return at;
}

function startBefore(text: string, spot: number): number {
  const least = Math.max(0, spot - CHARACTERS_BEFORE);
  let at = spot;
  for (let line = 0; line <= LINES_BEFORE; line++) {
    at = at <= 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (at < least) return least;
  }
  return at + 1;
}
