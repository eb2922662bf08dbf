import { describe, expect, test } from "vitest";
import { parseQuestion } from "../../../src/catalog/query/question.ts";
import { QuestionRanking } from "../../../src/catalog/query/question-ranking.ts";
import { type TermTable, TermTableBuilder, WEIGHT_UNIT } from "../../../src/catalog/query/term-table.ts";
import { readWords } from "../../../src/catalog/query/words.ts";
import fc from "../../support/fast-check.ts";

const builder = new TermTableBuilder();

function makeTable(texts: readonly string[]): TermTable {
  for (const [i, text] of texts.entries()) {
    builder.addText(text, WEIGHT_UNIT);
    builder.endEntry({ offset: i, timeMs: Number.NaN, role: 0 });
  }
  return builder.build();
}

/** Ranks entries of sessions; each is the number of its session and its own. */
function rank(question: string, sessions: readonly (readonly string[])[], getFactor = () => 1, max = 100) {
  const ranking = new QuestionRanking<number>(parseQuestion(question).words ?? []);
  for (const [i, texts] of sessions.entries()) ranking.add(i, makeTable(texts), getFactor);
  return ranking.rank(max);
}

const places = (...given: Parameters<typeof rank>) =>
  rank(...given).map((one) => `${one.session}.${one.offset}`);

describe("entries are ranked", () => {
  test("by the number and the rarity of their words", () => {
    const sessions = [["server", "server lock", "lock server zebra", "zebra", "server", "server"]];
    expect(places("server lock zebra", sessions)[0]).toBe("0.2");
    expect(places("zebra server", [["server"], ["x"], ["x"], ["server"], ["zebra"]])[0]).toBe("4.0");
  });

  test("higher with an answer next to them, and in a session with the other words", () => {
    const sessions = [["lock", "x"], ["lock", "lock"], ["x"]];
    expect(places("lock", sessions)).toEqual(["1.0", "1.1", "0.0"]);
    expect(
      places("lock zebra", [
        ["lock", "x", "y"],
        ["lock", "x", "zebra"],
      ]).indexOf("1.0"),
    ).toBeLessThan(
      places("lock zebra", [
        ["lock", "x", "y"],
        ["lock", "x", "zebra"],
      ]).indexOf("0.0"),
    );
  });

  test("in insertion order if they are equal", () => {
    expect(places("lock", [["lock"], ["lock"], ["lock"]])).toEqual(["0.0", "1.0", "2.0"]);
    expect(places("lock", [["lock"], ["lock"], ["lock"]], () => 1, 2)).toEqual(["0.0", "1.0"]);
    expect(places("lock", [["lock"]], () => 1, 0)).toEqual([]);
  });

  test("by stop words only if there is nothing else", () => {
    expect(places("the lock", [["the", "the"], ["lock"]])).toEqual(["1.0"]);
    expect(places("the", [["the", "x"]])).toEqual(["0.0"]);
    expect(places("", [["the"]])).toEqual([]);
  });

  test("not at all if they keep nothing of their score, though neighbors profit from them", () => {
    const sessions = [["lock", "lock", "x", "lock"]];
    expect(places("lock", sessions, () => 0)).toEqual([]);
    let n = 0;
    expect(places("lock", sessions, () => [0, 1, 1][n++] ?? 1)).toEqual(["0.1", "0.3"]);
  });
});

test("with scores above 0, at most 1, and descending; each found entry has a word of the question", () => {
  const word = fc.constantFrom("lock", "locks", "the", "zebra", "userName", "user", "日本語", "🙂", "x");
  const text = fc
    .tuple(fc.array(word, { maxLength: 8 }), fc.nat(30))
    .map(([all, times]) => `${all.join(" ")} `.repeat(times));
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(text, { maxLength: 6 }), { maxLength: 4 }),
      (asked, sessions) => {
        const { words = [] } = parseQuestion(asked.join(" "));
        const maxWeight = Math.max(...words.map(({ weight }) => weight));
        const wanted = new Set(words.filter(({ weight }) => weight === maxWeight).map(({ hash }) => hash));
        const expected = sessions.flatMap((texts, session) =>
          texts.flatMap((one, offset) => {
            let isHeld = false;
            readWords(one, (hash) => {
              isHeld ||= wanted.has(hash);
            });
            return isHeld ? [`${session}.${offset}`] : [];
          }),
        );
        const ranked = rank(asked.join(" "), sessions);
        expect(ranked.map(({ session, offset }) => `${session}.${offset}`).sort()).toEqual(expected.sort());
        for (const [i, { score }] of ranked.entries()) {
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(ranked[i - 1]?.score ?? 1);
        }
      },
    ),
    { numRuns: 500 },
  );
});
