import { sumNumbers } from "./query-matcher.ts";
import { type TableEntry, type TermTable, WEIGHT_UNIT } from "./term-table.ts";
import type { QuestionWord } from "./words.ts";

/** BM25 parameters. */
const K1 = 1.2;
const B = 0.75;

/** Number of words in an entry of typical length. Constant, so that all stores rank entries the same way. */
const USUAL_WORDS = 50;

/** Share of the better neighbor's score that is added to an entry's score, because a question and its answer are two entries. */
const NEIGHBOR_PART = 0.3;

/** Share of a word's value that is added to the score of every entry in a session that contains the word. */
const SESSION_PART = 0.3;

/** Entry that contains words from a question. */
export interface RankedEntry<Session> {
  readonly session: Session;
  readonly offset: number;
  /** From 0 to 1. */
  readonly score: number;
}

/** Entries in a session that contain words from a question, in file order. */
interface Candidates<Session> {
  readonly session: Session;
  /** Indexes of the entries in the session's table. */
  readonly places: Uint32Array;
  readonly offsets: Float64Array;
  /** Factor for each entry's score; 0 for an entry that cannot be a hit. */
  readonly factors: Float64Array;
  readonly wordCounts: Uint32Array;
  /** For each entry, the weight of each word in the question. */
  readonly weights: Uint8Array;
}

/**
 * Ranks the entries of many sessions by how well they answer a question.
 *
 * Uses BM25 over entries, plus a share of the scores of neighboring entries and of the session.
 *
 * @remarks Cost: O(entries that contain a word) in time and memory.
 */
export class QuestionRanking<Session> {
  readonly #words: readonly QuestionWord[];
  readonly #candidates: Candidates<Session>[] = [];
  readonly #entryCounts: Float64Array;
  #entries = 0;

  constructor(words: readonly QuestionWord[]) {
    // Sorted because entries with only stop words are ignored, unless the question has no other words.
    this.#words = words.toSorted((a, b) => b.weight - a.weight);
    this.#entryCounts = new Float64Array(words.length);
  }

  /**
   * Adds a session.
   *
   * @param getFactor - Returns the factor for an entry's score; 0 if the entry cannot be a hit.
   * @param size - Number of entries in the session, used to determine how rare words are.
   */
  add(session: Session, table: TermTable, getFactor: (entry: TableEntry) => number, size = table.size): void {
    this.#entries += size;
    const words = this.#words;
    const rows = new Map<number, number>();
    const found: [entry: number, word: number, weight: number][] = [];
    for (const [word, { hash, weight: worth }] of words.entries()) {
      const isStopWord = worth < (words[0]?.weight ?? 0);
      table.findWord(hash, (entry, weight) => {
        this.#entryCounts[word] = (this.#entryCounts[word] ?? 0) + 1;
        if (!isStopWord && !rows.has(entry)) rows.set(entry, rows.size);
        if (rows.has(entry)) found.push([entry, word, weight]);
      });
    }
    if (rows.size === 0) return;
    const places = Uint32Array.from(rows.keys()).sort();
    for (const [row, place] of places.entries()) rows.set(place, row);
    const entries = Array.from(places, (place) => table.getEntry(place));
    const weights = new Uint8Array(places.length * words.length);
    for (const [entry, word, weight] of found) weights[(rows.get(entry) ?? 0) * words.length + word] = weight;
    this.#candidates.push({
      session,
      places,
      offsets: Float64Array.from(entries, ({ offset }) => offset),
      factors: Float64Array.from(entries, getFactor),
      wordCounts: Uint32Array.from(entries, ({ words }) => words),
      weights,
    });
  }

  /**
   * Returns the entries with the highest scores, in descending order. Ties keep the order in which the sessions were
   * added.
   *
   * @param max - Maximum number of entries returned.
   */
  rank(max: number): RankedEntry<Session>[] {
    const worths = this.getWorths();
    const best = sumNumbers(worths) * ((K1 + 1) * (1 + NEIGHBOR_PART) + SESSION_PART);
    const ranked: RankedEntry<Session>[] = [];
    for (const candidates of this.#candidates) {
      const scores = scoreSession(candidates, worths);
      for (const [row, score] of scores.entries())
        if (score > 0)
          ranked.push({
            session: candidates.session,
            offset: candidates.offsets[row] ?? 0,
            score: Math.min(1, score / best),
          });
    }
    return ranked.sort((a, b) => b.score - a.score).slice(0, max);
  }

  /** Returns the value of each word in the question, by hash. Rarer words have higher values. */
  getWorthByHash(): Map<number, number> {
    const worths = this.getWorths();
    return new Map(this.#words.map(({ hash }, word) => [hash, worths[word] ?? 0]));
  }

  /** Returns the value of each word: its weight times its rarity. */
  getWorths(): number[] {
    return this.#words.map(({ weight }, word) => {
      const held = this.#entryCounts[word] ?? 0;
      return weight * Math.log(1 + (this.#entries - held + 0.5) / (held + 0.5));
    });
  }
}

function scoreSession<Session>(
  { places, factors, wordCounts, weights }: Candidates<Session>,
  worths: readonly number[],
): Float64Array {
  const count = worths.length;
  const own = new Float64Array(places.length);
  const isHeld = new Uint8Array(count);
  for (let row = 0; row < places.length; row++) {
    const length = K1 * (1 - B + (B * (wordCounts[row] ?? 0)) / USUAL_WORDS);
    let score = 0;
    for (let word = 0; word < count; word++) {
      const amount = (weights[row * count + word] ?? 0) / WEIGHT_UNIT;
      if (amount === 0) continue;
      isHeld[word] = 1;
      score += ((worths[word] ?? 0) * amount * (K1 + 1)) / (amount + length);
    }
    own[row] = score;
  }
  const ofSession = SESSION_PART * sumNumbers(worths.filter((_, word) => isHeld[word] === 1));
  return own.map((score, row) => {
    const before = (places[row] ?? 0) - 1 === places[row - 1] ? (own[row - 1] ?? 0) : 0;
    const after = (places[row] ?? 0) + 1 === places[row + 1] ? (own[row + 1] ?? 0) : 0;
    return (factors[row] ?? 0) * (score + NEIGHBOR_PART * Math.max(before, after) + ofSession);
  });
}
