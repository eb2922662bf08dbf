import { expect, test } from "vitest";
import { parseMoment } from "../../../src/core/facts/times.ts";

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

test("a Sunday is the last day of its week, and other words are not moments", () => {
  const sunday = Date.UTC(2026, 1, 15, 23);
  expect(parseMoment("week", sunday, true)?.fromMs).toBe(Date.UTC(2026, 1, 9));
  expect(parseMoment("weekend", NOON, true)).toBeUndefined();
  expect(parseMoment("toString", NOON, true)).toBeUndefined();
});
