import { expect, test } from "vitest";
import { withoutMarkdown } from "../../../src/core/facts/plain-text.ts";

test.each([
  ["## **Goal**\nShip it.", "Goal\nShip it."],
  ["See [the docs](https://a.example/b) and `npm test`.", "See the docs and npm test."],
  ["```sh\nnpm test\n```", "\nnpm test\n"],
  ["It is *really* done, _as_ `said`.", "It is really done, _as_ said."],
  [
    "<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>",
    "/init",
  ],
  [
    "<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n  <command-args>keep **all**</command-args>",
    "/compact keep all",
  ],
  ["<command-message>cut", "<command-message>cut"],
  ["**Done:** all *.ts files in **src**", "Done: all *.ts files in src"],
])("removes Markdown marks: %j", (text, plain) => {
  expect(withoutMarkdown(text)).toBe(plain);
});

test.each([
  "__init__.py and snake_case",
  "2**3**4",
  "#!/bin/sh",
  "a * b * c",
  "*.ts and *.js",
  "2*3*4",
  "it`s",
])("keeps ambiguous characters: %j", (text) => {
  expect(withoutMarkdown(text)).toBe(text);
});

test("runs in linear time on a text of marks", () => {
  for (const mark of ["**", "`", "[", "[a](", "# ", "```\n"])
    expect(withoutMarkdown(mark.repeat(1_000_000)).length).toBeLessThanOrEqual(4000);
});
