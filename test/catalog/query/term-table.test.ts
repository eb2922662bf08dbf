import { describe, expect, test } from "vitest";
import { TermTable, TermTableBuilder } from "../../../src/catalog/query/term-table.ts";
import { readWords } from "../../../src/catalog/query/words.ts";
import fc from "../../support/fast-check.ts";

type Entry = {
  readonly texts: readonly (readonly [text: string, weight: number])[];
  readonly offset: number;
  readonly timeMs: number;
  readonly role: number;
};

function build(builder: TermTableBuilder, entries: readonly Entry[]): TermTable {
  for (const { texts, ...facts } of entries) {
    for (const [text, weight] of texts) builder.addText(text, weight);
    builder.endEntry(facts);
  }
  return builder.build();
}

/** Counts words with maps. */
function countWords(texts: Entry["texts"]): { weights: Map<number, number>; words: number } {
  const weights = new Map<number, number>();
  let words = 0;
  for (const [text, weight] of texts)
    readWords(text, (hash) => {
      words++;
      weights.set(hash, Math.min(255, (weights.get(hash) ?? 0) + weight));
    });
  return { weights, words };
}

/** Expects a table to find what maps find. */
function expectTable(table: TermTable, entries: readonly Entry[]): void {
  const counted = entries.map(({ texts }) => countWords(texts));
  expect(table.size).toBe(entries.length);
  const facts = entries.map(({ texts: _, ...rest }, i) => ({ ...rest, words: counted[i]?.words }));
  expect(entries.map((_, i) => table.getEntry(i))).toEqual(facts);
  const hashes = new Set(counted.flatMap(({ weights }) => [...weights.keys()]));
  for (const hash of hashes) {
    const expected = counted.flatMap(({ weights }, i) => (weights.has(hash) ? [[i, weights.get(hash)]] : []));
    expect(findAll(table, hash)).toEqual(expected);
  }
  for (const hash of [1, 0xffffffff, 0x80000000, 12_345])
    if (!hashes.has(hash)) expect(findAll(table, hash)).toEqual([]);
}

function findAll(table: TermTable, hash: number): number[][] {
  const found: number[][] = [];
  table.findWord(hash, (entry, weight) => found.push([entry, weight]));
  return found;
}

const text = fc
  .oneof(
    fc.array(fc.constantFrom("the", "The", "tests", "testing", "getUserName", "日本語", "🙂", "\ud83d"), {
      maxLength: 40,
    }),
    fc.array(fc.nat(300).map(String), { maxLength: 40 }),
    fc.array(fc.string({ unit: "binary" }), { maxLength: 4 }),
  )
  .map((words) => words.join(" "));

const entry: fc.Arbitrary<Entry> = fc.record({
  texts: fc.array(fc.tuple(text, fc.constantFrom(3, 4, 5, 6, 8, 10)), { maxLength: 4 }),
  offset: fc.nat(Number.MAX_SAFE_INTEGER),
  timeMs: fc.oneof(fc.constant(Number.NaN), fc.integer()),
  role: fc.integer({ min: -1, max: 7 }),
});

test("a table finds what maps find, and the builder starts the next one empty", () => {
  const builder = new TermTableBuilder();
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
      const table = build(builder, entries);
      expectTable(table, entries);
      expectTable(new TermTable(Uint8Array.from(table.bytes)), entries);
    }),
    { numRuns: 500 },
  );
});

test("a builder accepts more words and entries than its initial capacity", () => {
  const builder = new TermTableBuilder();
  const many = Array.from({ length: 2_000 }, (_, i): Entry => {
    const words = Array.from({ length: 20 }, (_, k) => `w${i * 20 + k}x`).join(" ");
    return {
      texts: [[`the ${words} ${i % 130 === 0 ? "rare" : ""}`, 10]],
      offset: i * 5e9,
      timeMs: i,
      role: i % 8,
    };
  });
  const one: Entry = { texts: [["the last", 10]], offset: 0, timeMs: 0, role: 0 };
  const large = build(builder, many);
  const words = (hashed: string) => {
    let found = 0;
    readWords(hashed, (hash) => {
      found = hash;
    });
    return found;
  };
  expect(findAll(large, words("the"))).toEqual(many.map((_, i) => [i, 10]));
  expect(findAll(large, words("rare")).map(([i]) => i)).toEqual(
    many.flatMap((_, i) => (i % 130 === 0 ? [i] : [])),
  );
  for (const i of [0, 1, 39_998, 39_999])
    expect(findAll(large, words(`w${i}x`))).toEqual([[Math.floor(i / 20), 10]]);
  expect(findAll(large, words("w40000x"))).toEqual([]);
  expect(large.getEntry(1_999).offset).toBe(1_999 * 5e9);
  // A small table after a large one has none of its words.
  expectTable(build(builder, [one]), [one]);
});

describe("bytes that are not a table", () => {
  const whole = build(new TermTableBuilder(), [
    { texts: [["a table of some words, the words of a table", 10]], offset: 1, timeMs: 2, role: 3 },
    { texts: [["more words", 5]], offset: 100, timeMs: 3, role: 0 },
  ]).bytes;

  test("are refused if they are truncated or extended", () => {
    for (let length = 0; length < whole.length; length++)
      expect(() => new TermTable(whole.slice(0, length))).toThrow(RangeError);
    expect(() => new TermTable(Uint8Array.from([...whole, 0]))).toThrow(RangeError);
    for (const length of [0, 1, 4, 5, 1_000]) {
      expect(() => new TermTable(new Uint8Array(length))).toThrow(RangeError);
      expect(() => new TermTable(new Uint8Array(length).fill(255))).toThrow(RangeError);
    }
  });

  test("never hang a search, whatever they contain", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(0xffffffff),
        (damages, hash) => {
          const bytes = Uint8Array.from(whole);
          for (const [at, value] of damages) bytes[at] = value;
          let count = 0;
          try {
            const table = new TermTable(bytes);
            readWords(`table words more ${hash}`, (word) => {
              table.findWord(word, () => {
                if (++count > 10 * whole.length) throw new Error("endless");
              });
            });
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
