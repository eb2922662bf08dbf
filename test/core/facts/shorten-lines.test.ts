import { expect, test } from "vitest";
import { shortenLines } from "../../../src/core/facts/shorten-lines.ts";

const BOUNDS = { maxLines: 4, maxLineLength: 10 };

test("keeps both ends of a long text, and states how many lines are left out", () => {
  const lines = ["1", "2", "3", "4", "5", "6"];
  expect(shortenLines(lines.join("\n"), BOUNDS)).toBe("1\n2\n… 2 lines left out …\n5\n6");
  // One line in place of another would save nothing.
  expect(shortenLines(lines.slice(1).join("\n"), BOUNDS)).toBe("2\n3\n4\n5\n6");
});

test("keeps the beginning of a long line, and no half of a surrogate pair", () => {
  expect(shortenLines(`${"x".repeat(9)}😀y\nz`, BOUNDS)).toBe("xxxxxxxxx… (3 more characters)\nz");
  expect(shortenLines("", BOUNDS)).toBe("");
});
