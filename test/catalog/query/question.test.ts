import { describe, expect, test } from "vitest";
import { parseQuestion } from "../../../src/catalog/query/question.ts";
import fc from "../../support/fast-check.ts";

const words = (text: string) => parseQuestion(text).words?.map((word) => word.text);
const rare = (text: string) =>
  parseQuestion(text)
    .words?.filter(({ weight, isPart }) => weight === 1 && !isPart)
    .map((word) => word.text);

describe("a question", () => {
  test.each([
    ["How do we deploy to staging?", ["deploy", "staging"]],
    ["HOW DO WE DEPLOY?", ["DEPLOY"]],
    ["the of and", []],
    ["test tests testing", ["test"]],
    ["where is getUserName called", ["getUserName", "called"]],
    ["getUserName get user name", ["user", "name", "getUserName"]],
    ["ロックは?", ["ロッ", "ック", "クは"]],
    ["🙂", ["🙂"]],
  ])("%j has the words that count", (text, expected) => {
    expect(rare(text)).toEqual(expected);
  });

  test.each(["", " ", "?!", '""', '" "', "\u0000", "—"])("%j has none", (text) => {
    expect(parseQuestion(text)).toMatchObject({
      terms: [],
      words: [],
      regex: undefined,
      caseSensitive: false,
    });
  });

  test("has each word once, as first written, or where it is not part of another", () => {
    expect(words("Lock locks LOCKED lock")).toEqual(["Lock"]);
    expect(parseQuestion("userName user").words).toMatchObject([
      { text: "user", isPart: false, weight: 1 },
      { text: "Name", isPart: true },
      { text: "userName", isPart: false },
    ]);
  });

  test.each([
    ['"make release" lock', ["make release"]],
    ['why "make release"?', []],
    ['"a" "b" "a"', ["a", "b"]],
    ['"not closed', []],
    ['5" or 6" wide', []],
    ['say "" or " "', []],
    ['"with\nbreak"', ["with\nbreak"]],
    ['"日本"', ["日本"]],
    ['""double""', []],
  ])("%j has phrases where quotes enclose them", (text, phrases) => {
    expect(parseQuestion(text).terms).toEqual(phrases);
  });

  test("of 100,000 characters is read, and a longer one is refused", () => {
    const long = "word ".repeat(20_000);
    expect(words(long)).toEqual(["word"]);
    expect(() => parseQuestion(`${long}x`)).toThrow(
      expect.objectContaining({
        code: "INVALID_QUERY",
        message: expect.stringMatching(/100001 characters.*shorten/),
      }),
    );
  });

  test("has at most 32 phrases, since each is searched for in every text", () => {
    const quote = (count: number) => Array.from({ length: count }, (_, i) => `"${i}"`).join(" ");
    expect(parseQuestion(quote(32)).terms).toHaveLength(32);
    expect(() => parseQuestion(quote(33))).toThrow(
      expect.objectContaining({
        code: "INVALID_QUERY",
        message: expect.stringMatching(/33 quoted phrases.*at most 32.*remove/),
      }),
    );
  });

  test("has at most 500 words", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `w${i}x`);
    expect(words(many.join(" "))).toEqual(many.slice(0, 500));
    expect(words("日本語".repeat(10_000))).toEqual(["日本", "本語", "語日"]);
  });

  test("is read, whatever it contains", () => {
    const pieces = fc.constantFrom(
      '"',
      " ",
      "\n",
      "a",
      "getUserName",
      "日本",
      "\ud83d",
      "\ude42",
      "🙂",
      "the",
      "’",
    );
    const texts = fc.oneof(
      fc.array(pieces).map((all) => all.join("")),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const { terms, words: found = [] } = parseQuestion(text);
        expect(new Set(found.map(({ hash }) => hash)).size).toBe(found.length);
        const pieces = [...terms, ...found.map((word) => word.text)];
        expect(pieces.filter((one) => one.trim() === "" || !text.includes(one))).toEqual([]);
        expect(found.filter(({ weight }) => weight !== 1 && weight !== 0.1)).toEqual([]);
        // A part is never alone: its word is present too, unless it is too long to be a word.
        if (found.length > 0) expect(found.some(({ isPart }) => !isPart)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["quotes", '"'.repeat(100_000)],
    ["quoted letters", '"a '.repeat(33_000)],
    ["spaces", " ".repeat(100_000)],
    ["parts of words", "aB".repeat(50_000)],
    ["one phrase", '"a" '.repeat(25_000)],
  ])("of nothing but %s is read immediately", (_, text) => {
    const start = performance.now();
    parseQuestion(text);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
