import { describe, expect, test } from "vitest";
import { getRequiredWords, hasWord, parseQuery } from "../../../src/catalog/query/search-query.ts";
import { makeLiteralFinder } from "../../../src/catalog/query/text-matcher.ts";
import fc from "../../support/fast-check.ts";

const termsOf = (text: string) => parseQuery(text).terms;

describe("a query", () => {
  test.each<[string, string[]]>([
    ["one two", ["one", "two"]],
    ["  one\n two\tone ", ["one", "two"]],
    ['"one two" three', ["one two", "three"]],
    ['say "hi" now', ["say", "hi", "now"]],
    ['"timestamp": 5', ['"timestamp":', "5"]],
    ['one"two', ['one"two']],
    ['"not closed', ['"not', "closed"]],
    ['""', []],
    ['" "', []],
    ["", []],
  ])("%j has the words and phrases %j", (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  test("is a regular expression on request", () => {
    expect(parseQuery("a b", { regex: true })).toEqual({ terms: [], regex: "a b", caseSensitive: false });
    expect(parseQuery("", { regex: true }).regex).toBeUndefined();
  });

  test.each([
    ["x".repeat(10_240), {}],
    ["x".repeat(10_240), { regex: true }],
    [Array.from({ length: 40 }, (_, i) => `w${i}`).join(" "), {}],
    ["(", { regex: true }],
    ["(?<a>x)(?<a>y)", { regex: true }],
  ])("is refused if invalid: %.20s", (text, options) => {
    expect(() => parseQuery(text, options)).toThrow(expect.objectContaining({ code: "INVALID_QUERY" }));
  });
});

test("matches any white space for white space in a phrase", () => {
  const find = makeLiteralFinder("one  two", false, 2);
  expect(find("x One\n\t two ONE TWO one two")).toEqual([
    { start: 2, length: 9 },
    { start: 12, length: 7 },
  ]);
  expect(find("onetwo")).toEqual([]);
});

test("finds the required words in upper case in every matching text, in every script", () => {
  const characters = fc.oneof(
    fc.constantFrom(..."aAkK sSßſµΜμıİiIςΣσθϑK\u0345ǅdžΐ🙂\ud83d \n"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  );
  const texts = fc.array(characters, { maxLength: 8 }).map((all) => all.join(""));
  fc.assert(
    fc.property(texts, texts, texts, fc.constantFrom(0, 1, 2), (before, text, after, form) => {
      const query = parseQuery(text);
      const written = [text, text.toUpperCase(), text.toLowerCase()][form] ?? "";
      const whole = `${before}${written}${after}`;
      fc.pre(query.terms.every((term) => makeLiteralFinder(term, false, 1)(whole).length > 0));
      for (const word of getRequiredWords(query)) expect(hasWord(whole, word)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
