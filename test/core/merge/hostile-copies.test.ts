import { mergeSessionContents, readSession } from "sessiontree/core";
import { describe, expect, test } from "vitest";

const HEADER =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-02-03T09:00:00.000Z","cwd":"/projects/a"}';
const START_MS = Date.parse("2026-02-03T09:00:00.000Z");

const entry = (id: string, parentId: string | null, data: unknown, ms = 0) => {
  const timestamp = new Date(START_MS + ms).toISOString();
  return JSON.stringify({ type: "custom", id, parentId, timestamp, customType: "x", data });
};
const label = (id: string, targetId: string) =>
  JSON.stringify({
    type: "label",
    id,
    parentId: targetId,
    timestamp: "2026-02-03T09:00:01.000Z",
    targetId,
    label: "x",
  });
const file = (...lines: string[]) => `${[HEADER, ...lines].join("\n")}\n`;
const merged = (a: string, b: string) => Buffer.from(mergeSessionContents(a, b).content).toString();
const idsIn = (text: string) => [...readSession(text).entries].map(({ id }) => id);

/** Pairs of copies that no program writes, with the number of their entries together. */
const PAIRS: Readonly<Record<string, readonly [a: string, b: string, entries: number]>> = {
  "ids that objects have already": [
    file(entry("__proto__", null, 1), entry("constructor", "__proto__", 2)),
    file(entry("__proto__", null, 2), entry("constructor", "__proto__", 2)),
    3,
  ],
  "an entry that is its own parent": [file(entry("a", "a", 1)), file(entry("a", "a", 2)), 2],
  "line breaks of two kinds": [
    file(entry("a", null, 1), entry("b", "a", 2)).replaceAll("\n", "\r\n"),
    file(entry("a", null, 1), entry("b", "a", 3)),
    3,
  ],
  "a byte order mark in one": [`\ufeff${file(entry("a", null, 1))}`, file(entry("a", null, 1)), 1],
  "two records on one line": [
    file(entry("a", null, 1) + entry("b", "a", 2)),
    file(entry("a", null, 1), entry("b", "a", 2)),
    2,
  ],
  "an id that looks like one that a merge made": [
    file(entry(`a~${"0".repeat(36)}`, null, 1), entry("a", null, 5)),
    file(entry("a", null, 2)),
    3,
  ],
  "times that are none": [
    file('{"type":"custom","id":"a","parentId":null,"timestamp":1e300,"customType":"x"}'),
    file('{"type":"custom","id":"a","parentId":null,"customType":"x"}'),
    1,
  ],
  "last lines without end": [
    file(entry("a", null, 1)).trimEnd(),
    file(entry("a", null, 1), entry("b", "a", 1)).trimEnd(),
    2,
  ],
  "a line that was torn in one": [
    file(entry("a", null, 1), entry("b", "a", "long")).slice(0, -10),
    file(entry("a", null, 1), entry("b", "a", "long")),
    2,
  ],
  "nothing but headers": [file(), file(), 0],
  "the same line twice in one": [
    file(entry("a", null, 1), entry("a", null, 1), entry("b", "a", 1)),
    file(entry("a", null, 1)),
    2,
  ],
  "labels on entries in conflict": [
    file(entry("a", null, 1), label("l", "a")),
    file(entry("a", null, 0), label("l", "a")),
    3,
  ],
};

describe.each(Object.entries(PAIRS))("copies with %s", (_, [a, b, entries]) => {
  test("merge to one session, the same in either order, and the same when merged again", () => {
    const result = merged(a, b);
    expect(merged(b, a)).toBe(result);
    expect(merged(result, result)).toBe(result);
    const { issues } = readSession(result);
    expect(issues).toEqual([]);
    expect(idsIn(result).length).toBe(entries);
    expect(new Set(idsIn(result)).size).toBe(entries);
  });
});

test("entries that form cycles across copies become a tree, and none is lost", () => {
  const [a, b] = [file(entry("a", "b", 1), entry("c", "a", 3)), file(entry("b", "c", 2))];
  const result = merged(a, b);
  expect(merged(b, a)).toBe(result);
  expect(idsIn(result).sort()).toEqual(["a", "b", "c"]);
  expect(readSession(result).issues).toEqual([]);
});
