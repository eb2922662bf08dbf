import { expect, test } from "vitest";
import { readSourceText } from "../../../src/interop/import/source-text.ts";
import { part, text, user } from "./support/claude-records.ts";
import { meta, said } from "./support/codex-records.ts";

const gemini = (id: string) => ({ id, timestamp: "2026-11-22T05:00:00.000Z", type: "gemini", content: id });

test.each([
  ["Claude Code", [user("q", null, "hello"), part("a", "q", "m", text("{hi}")), user("p", "a", "more")]],
  ["Codex", [meta(), said("user", "hello"), said("assistant", "hi")]],
  ["Gemini CLI", [gemini("a"), gemini("b"), { $set: { lastUpdated: "2026-11-22T05:00:00.000Z" } }]],
])("reads all three records of %s on a line with a torn one", (_, records) => {
  const [one = "", two = "", three = ""] = records.map((record) => JSON.stringify(record));
  for (const torn of [two.slice(0, -1), two.slice(0, two.length / 2), two.slice(0, 12), two.slice(-12)]) {
    const lines = [
      [one, torn, two, three],
      [torn, one, two, three],
      [one, two, three, torn],
    ];
    for (const line of lines) {
      const { records: found, issues } = readSourceText(`${line.join("")}\n${one}\n`);
      expect(
        found.map(({ value }) => value),
        line.join(""),
      ).toEqual([...records, records[0]]);
      expect(issues).toMatchObject([{ code: "RECORDS_GLUED", line: 1 }]);
      expect(issues[0]?.message).toContain("a damaged one next to them was left out");
    }
  }
  const { issues } = readSourceText(`${one}${two} ${three}\n`);
  expect(issues[0]?.message).toBe("3 records are on one line; all were imported.");
});
