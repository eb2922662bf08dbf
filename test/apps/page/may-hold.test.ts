import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findEntriesThatMayHold, getPageText, readQuery } from "../../../src/apps/page/model/search.ts";
import type { SessionModel } from "../../../src/apps/page/model/session-model.ts";
import { getEntries, type Line, makeModel, modelOfText, said, searchModel } from "./support/session.ts";

const mayHold = (model: SessionModel, text: string) =>
  [...findEntriesThatMayHold(model, readQuery(text).query)].flatMap(({ ordinals }) => ordinals);

const FIXTURES = fileURLToPath(new URL("../../../fixtures/", import.meta.url));

test("a search misses no entry that shows a word, however its line is encoded", () => {
  const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" });
  let words = 0;
  for (const file of files.filter((name) => name.endsWith(".jsonl"))) {
    const bytes = readFileSync(FIXTURES + file);
    if (bytes.length > 100_000) continue;
    const model = modelOfText(bytes);
    for (const [ordinal, entry] of getEntries(model).entries()) {
      const { text } = getPageText(model, ordinal, entry);
      const longest = text.match(/[^\s"\p{Cc}]{5,}/gu)?.sort((a, b) => b.length - a.length) ?? [];
      for (const word of longest.slice(0, 5)) {
        words++;
        expect(mayHold(model, word.slice(0, 40)), `${file}: ${word}`).toContain(ordinal);
      }
    }
  }
  expect(words).toBeGreaterThan(100);
});

test("finds words through escapes, colors, IDs, and labels, but not in the page's own labels; reads no other lines", () => {
  const lines: Line[] = [
    ["a", null, 'caf\u00e9 "quoted" back\\\\slash'],
    [
      "b",
      "a",
      said("toolResult", [{ type: "text", text: "one li\u001b[31mghthou\u001b[0mse" }], { toolName: "bash" }),
    ],
    ["c3d4e5", "b", said("assistant", [], { stopReason: "length" })],
    ["d", "c3d4e5", { type: "label", targetId: "a", label: "herons" }],
    ["e", "d", "nothing"],
  ];
  const model = makeModel(lines);
  const found = (text: string) => searchModel(model, text).map(({ ordinal }) => ordinal);
  expect(["CAF\u00c9", "quoted", "slash", "lighthouse", "c3d4", "herons", "greatest"].map(found)).toEqual([
    ...[[0], [0], [0], [1], [2], [0, 3], []],
  ]);
  expect(mayHold(model, "nothing")).toEqual([0, 1, 3, 4]);
});
