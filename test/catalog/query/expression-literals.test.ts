import { describe, expect, test } from "vitest";
import { getRequiredLiterals } from "../../../src/catalog/query/expression-literals.ts";
import { hasWord, parseExpression } from "../../../src/catalog/query/search-query.ts";
import { isSessionError } from "../../../src/core/format/errors.ts";
import fc from "../../support/fast-check.ts";
import { getMinimum } from "../../support/share.ts";

describe("literals contained in each match of an expression", () => {
  test.each([
    ["timeout", ["timeout"]],
    ["time ?out", ["time", "out"]],
    ["error: .* at line \\d+", ["error: ", " at line "]],
    ["colou?r", ["colo", "r"]],
    ["a{2}b", ["a", "b"]],
    ["xa{0}b", ["x", "b"]],
    ["xa{,3}b", ["xa", ",3", "b"]],
    ["xa{,2}{0}b", ["xa", ",2", "b"]],
    ["xa*?b+?c", ["x", "b", "c"]],
    ["fix(es|ed)?_#", ["fix", "_#"]],
    ["src\\/a\\.ts", ["src/a.ts"]],
    ["[abc]def", ["def"]],
    ["[^\\]]x", ["x"]],
    ["[]x|y]z", []],
    ["\\bword\\b", ["word"]],
    ["a\\u0042c\\x44e\\cFg", ["a", "c", "e", "g"]],
    ["\\p{L}x\\k<n>(?<n>y)", ["x"]],
    ["日本?語🙂+", ["日", "語🙂"]],
    ["^(?=x)(?!y)z$", ["z"]],
    ["(a|b)", []],
    ["a|b", []],
    ["(a)|", []],
    ["[|]a", ["a"]],
    ["\\|a", ["|a"]],
    ["", []],
  ])("of %j", (source, expected) => {
    expect(getRequiredLiterals(source)).toEqual(expected);
  });
});

/** An expression and a text that it matches. */
type Pair = readonly [source: string, text: string];

const character = fc.constantFrom(..."abcE 1_-é日🙂");
const exact: fc.Arbitrary<Pair> = character.map((one) => [one, one]);
const escaped: fc.Arbitrary<Pair> = fc.constantFrom(
  ["\\.", "."],
  ["\\/", "/"],
  ["\\\\", "\\"],
  ["\\(", "("],
  ["\\]", "]"],
  ["\\d", "7"],
  ["\\w", "w"],
  ["\\s", "\n"],
  ["\\t", "\t"],
  ["\\x41", "A"],
  ["\\u0041", "A"],
  ["\\cJ", "\n"],
  ["\\0", "\0"],
  ["\\b", ""],
  ["(?:)", ""],
  ["(?=)", ""],
  ["(?!x{9})", ""],
  [".", "z"],
);
const classes: fc.Arbitrary<Pair> = fc.constantFrom(
  ["[abc]", "b"],
  ["[^x]", "a"],
  ["[)]", ")"],
  ["[(|]", "|"],
  ["[\\]]", "]"],
  ["[[]", "["],
  ["[^]", "q"],
  ["[\\\\]", "\\"],
);

const atoms = fc.letrec<{ atom: Pair; sequence: Pair; group: Pair }>((tie) => ({
  atom: fc.oneof({ depthSize: "small" }, exact, exact, escaped, classes, tie("group")),
  group: fc
    .tuple(fc.constantFrom("(", "(?:"), fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }), fc.nat(2))
    .map(([open, all, which]): Pair => {
      const [, text = ""] = all[which % all.length] ?? [];
      return [`${open}${all.map(([source]) => source).join("|")})`, text];
    }),
  sequence: fc
    .array(
      fc.tuple(
        tie("atom"),
        fc.constantFrom(
          ["", 1],
          ["", 1],
          ["", 1],
          ["*", 0],
          ["*?", 2],
          ["+", 3],
          ["+?", 1],
          ["?", 0],
          ["??", 1],
        ),
        fc.constantFrom(["", 1], ["", 1], ["{0}", 0], ["{0,2}", 0], ["{2}", 2], ["{1,}", 1], ["{00,1}", 0]),
        fc.boolean(),
      ),
      { maxLength: 6 },
    )
    .map((all): Pair => {
      const parts = all.map(([[source, text], mark, braces, isMark]): Pair => {
        const [quantifier, count] = isMark ? mark : braces;
        // An assertion is not repeated.
        const isBare = /^(?:\(\?[=!]|\\b)/.test(source);
        return isBare ? [source, text] : [`${source}${quantifier}`, text.repeat(Number(count))];
      });
      return [parts.map(([source]) => source).join(""), parts.map(([, text]) => text).join("")];
    }),
}));

/** Maximum length of a tested text in UTF-16 code units: an expression can take exponential time. */
const MAX_UNITS = 14;

/** Expects a match to contain the literals in any case. */
function expectHeld(source: string, tried: string): void {
  const text = tried.slice(0, MAX_UNITS);
  const { flags } = parseExpression(source, "i");
  for (const form of [text, text.toUpperCase(), text.toLowerCase()]) {
    const [match] = new RegExp(source, flags).exec(form) ?? [];
    if (match === undefined) continue;
    const lacking = getRequiredLiterals(source).filter(
      (literal) => literal === "" || !hasWord(match, literal),
    );
    expect({ source, match, lacking }).toEqual({ source, match, lacking: [] });
  }
}

test("every match of an expression contains all of its literals", () => {
  let matches = 0;
  fc.assert(
    fc.property(atoms.sequence, fc.array(atoms.sequence, { maxLength: 1 }), ([source, text], others) => {
      const whole = [source, ...others.map(([other]) => other)].join("|");
      fc.pre(text.length <= MAX_UNITS);
      if (new RegExp(whole, parseExpression(whole, "i").flags).test(text)) matches++;
      expectHeld(whole, text);
      expectHeld(whole, `x${text}x${text}`);
    }),
    { numRuns: 3_000 },
  );
  expect(matches).toBeGreaterThan(getMinimum(1_000));
});

test("so does every match of any text that the engine accepts as an expression", () => {
  const tokens = fc.constantFrom(
    ..."abE1 |()[]{}*+?^$.,\\-:=!<>_/é日🙂\n",
    ...["(?:", "(?=", "(?<!", "(?<n>", "\\k<n>", "\\1", "\\12", "\\u{41}", "\\u004", "\\x4", "\\c", "\\p{L}"],
    ...["{1}", "{0}", "{,2}", "{2,", "{a}", "\\b", "\\B", "\\-", "[^]", "[]", "[\\]a]", "\ud83d", "\ude42"],
  );
  const sources = fc.array(tokens, { maxLength: 10 }).map((all) => all.join(""));
  const texts = fc.array(fc.constantFrom(..."abE1 |[]{},-:=u4xckp<n>L_é日\n", "🙂", "\ud83d"), {
    maxLength: MAX_UNITS,
  });
  fc.assert(
    fc.property(sources, texts, (source, text) => {
      try {
        expectHeld(source, text.join(""));
        expectHeld(source, source);
      } catch (error) {
        if (!isSessionError(error, "INVALID_QUERY")) throw error;
      }
    }),
    { numRuns: 10_000 },
  );
});

test("an expression of 2,000 characters is read immediately", () => {
  for (const piece of ["a", "(", "[", "\\", "{1", "(?:a|", "[a\\]"]) {
    const source = piece.repeat(2_000 / piece.length);
    expect(getRequiredLiterals(source).join("").length).toBeLessThanOrEqual(2_000);
  }
});
