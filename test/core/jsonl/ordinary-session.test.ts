import { expect, test } from "vitest";
import { header, lines, message, NOW } from "../../fault/support/sessions.ts";
import { indexBytes, listIssues, readAtOnce, takeSnapshot } from "../../property/support/snapshots.ts";

const first = message("0000000a", null, "x");
const HEAD_BEHIND = {
  ...{ type: "message", message: { role: "user", content: "y", timestamp: NOW } },
  ...{ id: "0000000b", parentId: "0000000a", timestamp: "2026-02-03T09:00:01.000Z" },
};
const COMPACTION = {
  ...{ type: "compaction", id: "0000000f", parentId: "0000000a", timestamp: "2026-02-03T09:00:01.000Z" },
  ...{ summary: "So far.", firstKeptEntryId: "0000000a", tokensBefore: 1 },
};

/** Appends fields to a line. */
const withMore = (entry: object, more: string) => `${JSON.stringify(entry).slice(0, -1)},${more}}\n`;

const third = message("0000000c", "0000000a", "z");

/** Lines in which a field occurs twice. */
const TWICE: readonly (readonly [what: string, line: string])[] = [
  ["an id", withMore(third, '"id":"elsewhere"')],
  ["a parent", withMore(third, '"parentId":null')],
  ["a type", withMore(third, '"type":"custom"')],
  ["a time", withMore(third, '"timestamp":"2020-01-01T00:00:00.000Z"')],
  ["a time in another spelling", withMore(third, '"timestamp" : "2020-01-01T00:00:00.000Z"')],
];

test.each(TWICE)("%s that occurs twice has the same meaning in every way of reading", (_, line) => {
  for (const before of [
    [first],
    [first, HEAD_BEHIND],
    [first, COMPACTION],
    [first, HEAD_BEHIND, COMPACTION],
  ]) {
    const bytes = new TextEncoder().encode(`${lines(header(), ...before)}${line}`);
    const index = indexBytes(bytes);
    for (const _step of index.readWhole(bytes));
    index.end();
    expect(takeSnapshot(index)).toEqual(takeSnapshot(readAtOnce(bytes)));
    expect(listIssues(index)).toEqual(listIssues(readAtOnce(bytes)));
  }
});

test("an index with entries is not read again", () => {
  const bytes = new TextEncoder().encode(lines(header(), first));
  const index = readAtOnce(bytes);
  expect(() => [...index.readWhole(bytes)]).toThrow(TypeError);
});
