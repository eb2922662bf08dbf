import { expect, test } from "vitest";
import { searchForm } from "../../../src/stores/contract/rows.ts";
import { makeColumnKey, makeLikePattern, makePartPattern } from "../../../src/stores/postgres/rows.ts";
import fc from "../../support/fast-check.ts";

test("keeps ids unchanged, and replaces long ones with something short and unique", () => {
  expect(makeColumnKey("000000a1")).toBe("000000a1");
  const long = "x".repeat(5_000);
  expect(makeColumnKey(long)).toHaveLength("sha256:".length + 64);
  // An id that looks like the hash of another one is not mistaken for it.
  expect(
    new Set([long, `${long}y`, makeColumnKey(long), makeColumnKey(makeColumnKey(long))].map(makeColumnKey))
      .size,
  ).toBe(4);
});

test("keeps a text's parts as parts of its search form", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      (a, b, c) => {
        expect(searchForm(a + b + c)).toContain(searchForm(b));
      },
    ),
  );
  expect(searchForm("ΟΔΟΣ")).toBe(searchForm("οδος"));
});

test("treats every character of a pattern literally", () => {
  expect(makeLikePattern("50%_\\")).toBe("50\\%\\_\\\\");
  expect(makePartPattern("a%")).toBe("%A\\%%");
});
