import { describe, expect, test } from "vitest";
import {
  formatRelativeDay,
  getMessageTimeRange,
  getTimeRange,
  parseMoment,
} from "../../../src/core/facts/times.ts";
import { toIdKey } from "../../../src/core/format/id-key.ts";
import { ColumnTree } from "../../../src/core/tree/column-tree.ts";

const NOON = Date.UTC(2026, 1, 11, 12);

test.each([
  ["today", Date.UTC(2026, 1, 11), Date.UTC(2026, 1, 12)],
  ["yesterday", Date.UTC(2026, 1, 10), Date.UTC(2026, 1, 11)],
  // A Wednesday: the week began on Monday.
  ["week", Date.UTC(2026, 1, 9), Date.UTC(2026, 1, 16)],
  ["month", Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1)],
  ["year", Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)],
])("%s is the current one", (name, fromMs, toMs) => {
  expect(parseMoment(name, NOON, true)).toEqual({ fromMs, toMs });
});

test("Sunday is the last day of its week, and other words are not moments", () => {
  const sunday = Date.UTC(2026, 1, 15, 23);
  expect(parseMoment("week", sunday, true)?.fromMs).toBe(Date.UTC(2026, 1, 9));
  expect(parseMoment("weekend", NOON, true)).toBeUndefined();
  expect(parseMoment("toString", NOON, true)).toBeUndefined();
});

describe("the time range of messages", () => {
  const MINUTE_MS = 60_000;

  /** Creates a tree in which each entry is a child of the previous one. */
  function makeTree(...entries: readonly (readonly [type: string, timeMs: number])[]): ColumnTree {
    const tree = new ColumnTree();
    for (const [type, timeMs] of entries) {
      const parent = tree.size === 0 ? null : toIdKey(`e${tree.size - 1}`);
      tree.add(type, toIdKey(`e${tree.size}`), parent, timeMs);
    }
    return tree;
  }

  test("ignores settings before and after them", () => {
    const tree = makeTree(
      ["model_change", NOON - 1000 * MINUTE_MS],
      ["message", NOON],
      ["message", Number.NaN],
      ["message", NOON + 5 * MINUTE_MS],
      ["session_info", NOON + 500_000 * MINUTE_MS],
      ["label", NOON + 500_001 * MINUTE_MS],
    );
    expect(getMessageTimeRange(tree)).toEqual([NOON, NOON + 5 * MINUTE_MS]);
    expect(getMessageTimeRange(tree, [0, 3, 4])).toEqual([NOON + 5 * MINUTE_MS, NOON + 5 * MINUTE_MS]);
    expect(getTimeRange(tree)).toEqual([NOON - 1000 * MINUTE_MS, NOON + 500_001 * MINUTE_MS]);
  });

  test("is that of all entries if no message has a time", () => {
    const tree = makeTree(["session_info", NOON], ["message", Number.NaN], ["label", NOON + MINUTE_MS]);
    expect(getMessageTimeRange(tree)).toEqual([NOON, NOON + MINUTE_MS]);
    expect(getMessageTimeRange(makeTree())).toEqual([Number.NaN, Number.NaN]);
  });
});

test.each([
  ["Today", new Date(2026, 1, 11, 0, 0)],
  ["Yesterday", new Date(2026, 1, 10, 23, 59)],
  ["Monday", new Date(2026, 1, 9)],
  ["Thursday", new Date(2026, 1, 5, 23)],
  ["2026-02-04", new Date(2026, 1, 4, 23)],
  ["2026-02-12", new Date(2026, 1, 12)],
  ["", new Date(Number.NaN)],
])("formats another day from a Wednesday as %s", (day, time) => {
  expect(formatRelativeDay(time.getTime(), new Date(2026, 1, 11, 9).getTime())).toBe(day);
});
