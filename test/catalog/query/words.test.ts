import { describe, expect, test } from "vitest";
import { getStem, readWords } from "../../../src/catalog/query/words.ts";
import fc from "../../support/fast-check.ts";

const RUNS = 1_000;

interface Word {
  readonly text: string;
  readonly hash: number;
  readonly start: number;
  readonly end: number;
}

function words(text: string): Word[] {
  const found: Word[] = [];
  readWords(text, (hash, start, end) => found.push({ text: text.slice(start, end), hash, start, end }));
  return found;
}

const texts = (text: string) => words(text).map((word) => word.text);

/** Returns the hash of a text that is one word. */
function hash(word: string): number | undefined {
  return words(word).at(-1)?.hash;
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}\p{Surrogate}]/u;

/** Finds word positions by rules on runs of units instead of one pass over them. */
function listSpans(text: string): string[] {
  const units = Array.from({ length: text.length }, (_, i) => text.charAt(i));
  const kinds = units
    .map((unit) =>
      UNSPACED.test(unit) ? "i" : !IN_WORD.test(unit) ? "." : unit.toLowerCase() === unit ? "a" : "A",
    )
    .join("");
  const spans: string[] = [];
  for (const { index, 0: run } of kinds.matchAll(/[aA]+/g)) {
    const parts = run.split(/(?<=a)(?=A)/);
    let at = index;
    for (const part of parts) {
      const isShort = at - index + part.length <= 64;
      if (parts.length > 1 && part.length > 1 && isShort) spans.push(`${at}-${at + part.length}`);
      at += part.length;
    }
    if (run.length <= 64) spans.push(`${index}-${at}`);
  }
  for (const { index, 0: run } of kinds.matchAll(/i+/g)) {
    if (run.length === 1) spans.push(`${index}-${index + 1}`);
    for (let i = 1; i < run.length; i++) spans.push(`${index + i - 1}-${index + i + 1}`);
  }
  return spans.sort();
}

const pieces = fc.oneof(
  fc.constantFrom("getUserName", "HTTP2Server", "don't", "x", "Z", "7", " ", "-", "_", '"', "\n", "\ufeff"),
  fc.constantFrom(
    "日本語",
    "猫",
    "ひらがな",
    "カタカナー",
    "ภาษาไทย",
    "한국어",
    "العربية",
    "Ελλάς",
    "é",
    "e\u0301",
    "ǅ",
    "İ",
    "K",
    "ß",
  ),
  fc.constantFrom("🙂", "👨‍👩‍👧", "\ud83d", "\ude42", "𠮷", "\u0000"),
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.nat(80).map((length) => "aB".repeat(length)),
);
const wildTexts = fc.array(pieces, { maxLength: 12 }).map((some) => some.join(""));

describe("words of a text", () => {
  test.each([
    ["", []],
    [" \n\t-–—…", []],
    ["The quick, brown fox.", ["The", "quick", "brown", "fox"]],
    ["snake_case kebab-case a.b.c", ["snake", "case", "kebab", "case", "a", "b", "c"]],
    ["getUserName", ["get", "User", "Name", "getUserName"]],
    ["aB", ["aB"]],
    ["HTTPServer iPhone15Pro", ["HTTPServer", "Phone15", "Pro", "iPhone15Pro"]],
    ["日本語", ["日本", "本語"]],
    ["猫 and 猫", ["猫", "and", "猫"]],
    ["use日本for", ["use", "日本", "for"]],
    ["한국어 테스트", ["한국어", "테스트"]],
    ["ภาษา", ["ภา", "าษ", "ษา"]],
    ["مرحبا بالعالم", ["مرحبا", "بالعالم"]],
    ["🙂🙂 ok", ["🙂🙂", "ok"]],
    ["\ud83d", ["\ud83d"]],
    ["x".repeat(64), ["x".repeat(64)]],
    ["x".repeat(65), []],
    [`${"x".repeat(65)} next`, ["next"]],
  ])("of %j", (text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  test("are the runs of letters, in any script, whatever is truncated or damaged", () => {
    fc.assert(
      fc.property(wildTexts, (text) => {
        const found = words(text);
        expect(found.map(({ start, end }) => `${start}-${end}`).sort()).toEqual(listSpans(text));
        for (const one of found) {
          expect(one.hash).toBe(one.hash >>> 0);
          expect(one.hash).toBeGreaterThan(0);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("have the same hash alone and in any case", () => {
    fc.assert(
      fc.property(wildTexts, (text) => {
        for (const one of words(text)) expect(hash(one.text)).toBe(one.hash);
        const ascii = text.replace(/[^ -~]/g, "");
        const capitals = new Set(words(ascii.toUpperCase()).map((one) => one.hash));
        // In lower case a word has no parts.
        for (const one of words(ascii.toLowerCase())) expect(capitals).toContain(one.hash);
      }),
      { numRuns: RUNS },
    );
  });

  test("take no longer in a text of one kind than in another", () => {
    for (const unit of ["a", "aB", "日", "🙂", " ", "\ud83d", "e\u0301"]) {
      let count = 0;
      readWords(unit.repeat(200_000), () => count++);
      expect(count).toBeLessThanOrEqual(400_000);
    }
  });
});

describe("forms of an English word", () => {
  test.each([
    ["test", "tests", "tested", "testing", "TESTS"],
    ["deploy", "deploys", "deployed", "deploying"],
    ["study", "studies", "studied"],
    ["make", "makes", "making"],
    ["stop", "stops", "stopped", "stopping"],
    ["process", "processes", "processed", "processing"],
    ["class", "classes"],
    ["access", "accessed", "accesses"],
    ["tell", "tells", "telling"],
    ["agree", "agrees", "agreed", "agreeing"],
    ["employee", "employees"],
    ["tree", "trees"],
    ["cache", "caches", "cached", "caching"],
    ["fix", "fixes", "fixed", "fixing"],
  ])("%s has the same hash in all of them", (word, ...forms) => {
    expect(forms.map(hash)).toEqual(forms.map(() => hash(word)));
  });

  test.each([
    ["is", "as"],
    ["red", "ring"],
    ["king", "kings1"],
    ["user", "use"],
    ["test", "tester"],
    ["日本", "日"],
    ["e\u0301", "é"],
  ])("%s is another word than %s", (one, other) => {
    expect(hash(one)).not.toBe(hash(other));
  });

  test("share the stem that a lookup uses, parts of names too", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."aeilosyxtpn"), minLength: 1, maxLength: 9 });
    const forms = fc.constantFrom("", "s", "es", "ed", "ing", "e", "y", "ies", "ied");
    fc.assert(
      fc.property(letters, forms, letters, forms, (a, first, b, second) => {
        const [one, other] = [`${a}${first}`, `${b}${second}`];
        for (const [x, y] of [
          [one, other],
          [one, `${a}${second}`],
        ] as const) {
          expect(x).toMatch(new RegExp(`^${getStem(x)}`));
          if (hash(x) === hash(y)) expect(y.startsWith(getStem(x))).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("have the word itself as the stem if it is not an English word", () => {
    for (const word of ["", "a", "🙂", "\ud83d", "日本", "x".repeat(65), "İİİİ", "1234"])
      expect(word.startsWith(getStem(word))).toBe(true);
    expect(getStem("x".repeat(100))).toBe("x".repeat(100));
  });
});
