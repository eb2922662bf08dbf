import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { quoteForShell } from "../../../src/apps/text/shell-quoting.ts";

test("a shell reads a quoted path unchanged, and runs nothing in it", () => {
  const paths = [
    "/s/a.jsonl",
    "$(echo run)",
    "`echo run`",
    "it's",
    "a b",
    '"',
    "~/a",
    "$HOME",
    "a\nb",
    "\\",
    "!x",
    "",
    "C:\\Users\\Ada L\\$(echo run).jsonl",
    "C:\\Users\\Ada L\\a.jsonl",
    "\\\\server\\share\\a.jsonl",
  ];
  for (const path of paths) {
    expect(execFileSync("sh", ["-c", `printf %s ${quoteForShell(path)}`], { encoding: "utf8" })).toBe(path);
  }
  expect(quoteForShell("/s/a-1.jsonl")).toBe("/s/a-1.jsonl");
  // cmd.exe does not support single quotes.
  expect(quoteForShell("C:\\Users\\Ada L\\a.jsonl")).toBe('"C:\\Users\\Ada L\\a.jsonl"');
});
