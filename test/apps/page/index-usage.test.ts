import { expect, test } from "vitest";
import {
  dropEmptyYears,
  isWithin,
  parsePeriod,
  readIndexUsage,
  sumByKey,
  sumSpans,
} from "../../../src/apps/page/model/index-usage.ts";
import {
  chooseSessions,
  type ListedSession,
  type SessionNode,
} from "../../../src/apps/page/model/session-list.ts";
import { sumSpent } from "../../../src/core/facts/usage-tally.ts";

function listed(href: string, fields: Partial<ListedSession> = {}): ListedSession {
  const times = { created: "2026-03-01T12:00:00Z", modified: "2026-03-02T12:00:00Z" };
  return {
    href,
    path: href,
    id: href,
    cwd: "",
    title: href,
    messageCount: 1,
    issueCount: 0,
    isFork: false,
    startedBy: undefined,
    ...times,
    ...fields,
  };
}

const namesOf = (nodes: readonly SessionNode[]): unknown[] =>
  nodes.map(({ session, subagents }) =>
    subagents.length === 0 ? session.href : [session.href, ...namesOf(subagents)],
  );

test("reads any answer of a server; missing facts stay unknown, and stated and estimated costs stay separate", () => {
  const { groups, sources, starters } = readIndexUsage({
    sessions: { a: { source: "codex" }, b: { source: null, startedBy: "a" }, c: 5 },
    groups: [
      { session: "a", day: "2026-03-01", model: null, calls: 1, total: 10, cost: 0.5, estimated: null },
      { session: "b", day: null, model: "m", calls: "2", total: 5, cost: null, estimated: 0.25, unpriced: 3 },
      null,
    ],
  });
  expect([...sources]).toEqual([
    ["a", "codex"],
    ["b", ""],
    ["c", ""],
  ]);
  expect([...starters]).toEqual([["b", "a"]]);
  expect(sumSpent(groups)).toMatchObject({ calls: 1, total: 15, cost: 0.5, estimated: 0.25, unpriced: 3 });
  expect(sumSpent([])).toMatchObject({ cost: null, estimated: null });
  expect([...sumByKey(groups, ({ model }) => model).keys()]).toEqual(["(unknown model)", "m"]);
  expect(readIndexUsage("nothing").groups).toEqual([]);
});

test("periods are days of the reader's calendar; an unknown time is in no bounded period", () => {
  const today = new Date(2026, 2, 2);
  expect(parsePeriod("7 days", today)).toEqual({ from: "2026-02-24" });
  expect(parsePeriod("last month", today)).toEqual({ from: "2026-02-01", to: "2026-02-28" });
  expect(parsePeriod("this year", today)).toEqual({ from: "2026-01-01" });
  expect(parsePeriod("2026-02-24", today)).toEqual({ from: "2026-02-24", to: "2026-02-24" });
  expect(parsePeriod("nonsense", today)).toEqual({});
  const february = parsePeriod("2026-02", today);
  expect(
    ["2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01", ""].map((day) => isWithin(day, february)),
  ).toEqual([false, true, true, false, false]);
  expect(isWithin("", {})).toBe(true);
});

test("includes empty spans between two with calls; very many days become months", () => {
  const groupsAt = (...days: string[]) =>
    readIndexUsage({ groups: days.map((day) => ({ day, model: "m", total: 1 })) }).groups;
  const sizesOf = (...days: string[]) =>
    sumSpans(groupsAt(...days)).map(({ name, models }) => [name, models.get("m")?.total ?? 0]);
  expect(sizesOf("2026-03-01", "2026-02-27", "2026-03-01")).toEqual([
    ["2026-02-27", 1],
    ["2026-02-28", 0],
    ["2026-03-01", 2],
  ]);
  expect(sizesOf("2026-01-31", "2026-06-30").map(([name]) => name)).toEqual([
    "2026-01",
    "2026-02",
    "2026-03",
    "2026-04",
    "2026-05",
    "2026-06",
  ]);
  expect(sizesOf("")).toEqual([]);
});

test("omits leading years whose bars would be too small to see, including those without cost", () => {
  const { groups } = readIndexUsage({
    groups: [
      { day: "2019-05-01", model: "m", calls: 1, total: 9, cost: null },
      { day: "2021-05-01", model: "m", calls: 1, total: 9, cost: 0.01 },
      { day: "2023-05-01", model: "m", calls: 1, total: 9, cost: 5 },
      { day: "2024-05-01", model: "m", calls: 1, total: 9, cost: 0.01 },
      { day: "2026-05-01", model: "m", calls: 1, total: 9, cost: 100 },
      { day: null, model: "m", calls: 1, total: 9, cost: 100 },
    ],
  });
  const daysOf = (getSize: (spent: { cost: number | null; total: number }) => number) =>
    dropEmptyYears(groups, getSize).map(({ day }) => day.slice(0, 4));
  expect(daysOf(({ cost }) => cost ?? 0)).toEqual(["2023", "2024", "2026"]);
  expect(daysOf(({ total }) => total)).toEqual(["2019", "2021", "2023", "2024", "2026"]);
  expect(dropEmptyYears([], () => 1)).toEqual([]);
});

test("subagents are below the session that started them, found or not, and are ordered by sums", () => {
  const sessions = ["a", "b", "c", "d"].map((href) =>
    listed(href, { startedBy: { b: "a" }[href], issueCount: { c: 2, d: 3 }[href] ?? 0 }),
  );
  const usage = readIndexUsage({
    sessions: { b: { startedBy: "a" }, c: { startedBy: "b" }, d: { startedBy: "gone" } },
    groups: [
      { session: "a", day: "2026-03-01", total: 5 },
      { session: "d", day: "2026-03-01", total: 9, cost: null, estimated: 1 },
    ],
  });
  const spent = sumByKey(usage.groups, ({ session }) => session);
  const choose = (wanted: string, sort: "latest" | "cost" | "issues" = "latest") =>
    chooseSessions(sessions, usage, {
      isFound: ({ href }) => wanted.includes(href),
      period: {},
      spent,
      sort,
    });
  expect(namesOf(choose("abcd"))).toEqual([["a", ["b", "c"]], "d"]);
  expect(namesOf(choose("abcd", "cost"))).toEqual(["d", ["a", ["b", "c"]]]);
  expect(namesOf(choose("abcd", "issues"))).toEqual(["d", ["a", ["b", "c"]]]);
  // A subagent found alone is below its parent, which is unfolded for it.
  const [around] = choose("c");
  expect([namesOf(choose("c")), around?.isAround]).toEqual([[["a", ["b", "c"]]], true]);
  expect(namesOf(choose("a"))).toEqual([["a", ["b", "c"]]]);
  expect(
    namesOf(
      chooseSessions(sessions, undefined, {
        isFound: () => true,
        period: {},
        spent: undefined,
        sort: "cost",
      }),
    ),
  ).toEqual([["a", "b"], "c", "d"]);
  const later = { isFound: () => true, period: { from: "2026-03-03" }, spent, sort: "latest" } as const;
  expect(chooseSessions(sessions, usage, later)).toEqual([]);
});
