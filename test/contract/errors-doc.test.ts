import { describe, expect, test } from "vitest";
import { compareCodes, findUnknownThrows } from "./support/codes.ts";
import { readSources, readText } from "./support/repository.ts";
import { parse, readStringUnion } from "./support/syntax.ts";

function codesOf(path: string, type: string): string[] {
  return readStringUnion(parse(path, readText(path)), type);
}

const errorCodes = codesOf("src/core/format/errors.ts", "SessionErrorCode");
const issueCodes = codesOf("src/core/format/issue.ts", "IssueCode");

test("every code has its heading in docs/errors.md, and every heading its code", () => {
  expect(compareCodes([errorCodes, issueCodes], readText("docs/errors.md"))).toEqual([]);
});

test("every code in a @throws tag exists", () => {
  const faults = [...readSources("src")].flatMap(([path, text]) => findUnknownThrows(path, text, errorCodes));
  expect(faults).toEqual([]);
});

describe("the checks find", () => {
  test("codes without a heading, headings without a code, and duplicate headings", () => {
    const unions = [
      ["GONE_WRONG", "TWICE_MEANT"],
      ["TWICE_MEANT", "TORN"],
    ];
    const document = (...headings: string[]) => `# Errors\n\n${headings.map((h) => `## ${h}\n`).join("\n")}`;
    const good = ["How to read this", "`GONE_WRONG`", "TWICE_MEANT", "TWICE_MEANT", "TORN"];
    expect(compareCodes(unions, document(...good))).toEqual([]);
    expect(compareCodes(unions, document("`GONE_WRONG`", "TORN", "TORN", "OLD_CODE"))).toEqual([
      "TWICE_MEANT has no heading",
      "TORN has more headings than meanings",
      "the heading OLD_CODE is no code",
    ]);
    expect(compareCodes([["A_CODE"]], "```\n# A_CODE\n```\n")).toEqual(["A_CODE has no heading"]);
  });

  test("thrown codes that do not exist", () => {
    const text =
      "/**\n * @throws {SessionError} `GONE_WRONG` when it did, `WENT_ASTRAY` too.\n * @throws {TypeError} on `x`.\n */" +
      "\nexport function f(): void {}";
    expect(findUnknownThrows("a.ts", text, ["GONE_WRONG"])).toEqual([
      "a.ts:2 @throws names WENT_ASTRAY, which is no code",
    ]);
  });

  test("a union that is not one of string literals", () => {
    const source = parse("a.ts", 'type Good = "A" | "B";\ntype Bad = "A" | string;');
    expect(readStringUnion(source, "Good")).toEqual(["A", "B"]);
    expect(() => readStringUnion(source, "Bad")).toThrow("more than a union");
    expect(() => readStringUnion(source, "None")).toThrow("declares no type None");
  });
});
