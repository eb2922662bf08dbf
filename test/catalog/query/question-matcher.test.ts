import { describe, expect, test } from "vitest";
import { parseQuestion } from "../../../src/catalog/query/question.ts";
import { makeQuestionMatcher } from "../../../src/catalog/query/question-matcher.ts";
import { readWords } from "../../../src/catalog/query/words.ts";
import fc from "../../support/fast-check.ts";

const said = (text: string) => ({ kind: "said" as const, text });

/** Matches one entry; returns the matched text. */
function match(question: string, ...parts: readonly (string | { kind: "output" | "date"; text: string })[]) {
  const texts = parts.map((part) => (typeof part === "string" ? said(part) : part));
  const [found] = makeQuestionMatcher(parseQuestion(question))([texts]);
  if (found === undefined) return undefined;
  const { index, match: place, missing } = found;
  return { index, text: texts[index]?.text.substr(place.start, place.length), missing };
}

describe("an entry matches a question", () => {
  test.each([
    ["lock lost", "The locks were lost.", { text: "locks", missing: [] }],
    ["lock lost zebra", "no LOCK here", { text: "LOCK", missing: ["lost", "zebra"] }],
    ["why the lock?", "the lock", { text: "lock", missing: [] }],
    ["the", "the", { text: "the", missing: [] }],
    ["getUserName", "the user", { text: "user", missing: ["getUserName"] }],
    ["user name", "call getUserName()", { text: "User", missing: [] }],
    ["ロック", "スレッドのロックが外れた", { text: "ロッ", missing: [] }],
    ["🙂 ok", "fine 🙂", { text: "🙂", missing: ["ok"] }],
  ])("%j by %j", (question, text, expected) => {
    expect(match(question, text)).toMatchObject(expected);
  });

  test.each([
    ["lock", "nothing"],
    ["lock", "locksmith"],
    ['"make release" lock', "lock"],
    ['"make release" lock', "make a release with a lock"],
    ["本", "日本語"],
    ["lock", ""],
  ])("%j, but not by %j", (question, text) => {
    expect(match(question, text)).toBeUndefined();
  });

  test("by words in different texts, a phrase in one of them", () => {
    expect(match('"make release" zebra lock', "make  RELEASE", "a lock")).toMatchObject({
      missing: ["zebra"],
    });
    expect(match('"make release"', "make", "release")).toBeUndefined();
  });

  test("shows the text in which most words are close together", () => {
    const far = `lock ${"x ".repeat(200)} lost ${"x ".repeat(200)} lock lost server`;
    expect(match("lock lost server", "lock", far)).toMatchObject({ index: 1 });
    const [found] = makeQuestionMatcher(parseQuestion("lock lost server"))([[said(far)]]);
    expect(found?.match.start).toBe(far.lastIndexOf("lock"));
    expect(match("lock", { kind: "output", text: "lock" }, "lock")).toMatchObject({ index: 1 });
  });

  test("never shows the words of its day", () => {
    const found = match("what happened in May", "nothing", { kind: "date", text: "8 May 2026-05-08" });
    expect(found).toEqual({ index: 0, text: "", missing: ["happened"] });
  });

  test("with a word after very many others", () => {
    const text = `${"the lock ".repeat(20_000)}zebra`;
    expect(match("the lock zebra", text)).toMatchObject({ text: "lock", missing: [] });
    expect(match("the zebra", text)).toMatchObject({ missing: [] });
  });
});

test("reports as missing exactly the words whose stem is in no text, except stop words", () => {
  const word = fc.constantFrom(
    "lock",
    "locks",
    "the",
    "How",
    "zebra",
    "getUserName",
    "user",
    "日本語",
    "本語",
    "🙂",
    "\ud83d",
    "May",
  );
  const texts = fc.array(
    fc.array(word, { maxLength: 4 }).map((some) => some.join(" ")),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), texts, (asked, parts) => {
      const question = asked.join(" ");
      const held = new Set<number>();
      for (const text of parts) readWords(text, (hash) => held.add(hash));
      const { words = [] } = parseQuestion(question);
      const found = match(question, ...parts);
      expect(found !== undefined).toBe(words.some(({ hash }) => held.has(hash)));
      const lacking = words.filter(({ hash, weight, isPart }) => weight === 1 && !isPart && !held.has(hash));
      if (found !== undefined) expect(found.missing).toEqual(lacking.map(({ text }) => text));
      if (found !== undefined) expect(found.text).not.toBe("");
    }),
    { numRuns: 1_000 },
  );
});
