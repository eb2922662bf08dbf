import { describe, expect, test } from "vitest";
import { findEnglishFaults } from "./support/english.ts";
import { ENGLISH_RULES } from "./support/english-rules.ts";
import { listDocuments, readSources, readText } from "./support/repository.ts";

/** Words that stay, by file, each with its reason. */
const EXCEPTIONS: { readonly [path: string]: { readonly [words: string]: string } } = {
  "src/core/compaction/request-summary.ts": { cancelled: "pi's error messages" },
  "src/core/jsonl/redaction-zones.ts": { cancelled: "a field of pi's messages" },
  "src/stores/postgres/tables.ts": { told: "the name of a table in SQL" },
};

const sources = ["src", "test"].flatMap((folder) => [...readSources(folder)]);
const documents = listDocuments().map((path) => [path, readText(path)] as const);

test("comments, messages, titles of tests, and documents use the field's words", () => {
  const faults = [...sources, ...documents].flatMap(([path, text]) => findEnglishFaults(path, text));
  const unexpected = faults.filter(({ at, words }) => {
    const [path = ""] = at.split(":");
    return EXCEPTIONS[path]?.[words] === undefined;
  });
  expect(unexpected.map(({ at, words, instead }) => `${at}: "${words}": ${instead}`)).toEqual([]);
});

test("every exception is still needed", () => {
  const needed = (path: string, words: string) =>
    findEnglishFaults(path, readText(path)).some((fault) => fault.words === words);
  const exceptions = Object.entries(EXCEPTIONS).flatMap(([path, words]) =>
    Object.keys(words).map((word) => [path, word] as const),
  );
  expect(exceptions.filter(([path, word]) => !needed(path, word))).toEqual([]);
});

describe("the rules", () => {
  const find = (path: string, text: string) => findEnglishFaults(path, text).map(({ words }) => words);

  test("are at least 60, each with a replacement", () => {
    expect(ENGLISH_RULES.length).toBeGreaterThanOrEqual(60);
    expect(ENGLISH_RULES.filter(({ instead }) => instead === "")).toEqual([]);
  });

  test("apply to docstrings, comments, messages, JSX, and prose", () => {
    expect(find("a.ts", "/** What it is. */\nconst a = 1;")).toEqual(["What"]);
    expect(find("a.ts", "const a = 1; // the one behind it")).toEqual(["behind"]);
    expect(find("a.ts", "const a = `The file $" + "{b} stands beside that one`;")).toEqual([
      "beside",
      "stands",
    ]);
    expect(find("a.tsx", "const a = <p>There is nobody here now</p>;")).toEqual(["nobody"]);
    expect(find("a.md", "One line.\n\nThe other goes on.")).toEqual(["goes on"]);
  });

  test("apply to comments and titles of tests, but not to their data", () => {
    const findInTest = (text: string) => find("test/a.test.ts", text);
    expect(findInTest('test("what is gone", () => {});')).toEqual(["is gone"]);
    expect(findInTest('describe("behind", () => {});')).toEqual(["behind"]);
    expect(findInTest('it.each([["goes on"]])("%s stands", () => {});')).toEqual(["stands"]);
    expect(findInTest('test.skipIf(a === "this goes on")(`$' + "{a} goes on`, () => {});")).toEqual([
      "goes on",
    ]);
    expect(findInTest('describeStore("a " + "behind it", () => {});')).toEqual(["behind"]);
    expect(findInTest("// The one behind it.")).toEqual(["behind"]);
    expect(findInTest('const a = "The file stands behind it"; tested("It stands behind it");')).toEqual([]);
  });

  test("leave code, addresses, and names alone", () => {
    expect(find("a.ts", 'const behind = "beside"; /** Returns `behind`. */')).toEqual([]);
    expect(
      find("a.md", "See [it](behind.md), `beside`, and https://a.example/behind.\n\n```\nbeside\n```"),
    ).toEqual([]);
    expect(find("a.md", "There is no file. It is no longer here.")).toEqual([]);
  });
});
