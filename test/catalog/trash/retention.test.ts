import { planRetention, type RetentionCandidate } from "sessiontree/catalog";
import { describe, expect, test } from "vitest";
import fc from "../../support/fast-check.ts";
import { IS_WINDOWS } from "../../support/platform.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse("2026-02-10T12:00:00.000Z");

function session(id: string, daysAgo: number, fields: Partial<RetentionCandidate> = {}): RetentionCandidate {
  return { path: `/projects/${id}.jsonl`, id, modified: new Date(NOW_MS - daysAgo * DAY_MS), ...fields };
}

const idsOf = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id);

function plan(sessions: RetentionCandidate[], policy = {}, others: RetentionCandidate[] = []) {
  const { toDelete, kept } = planRetention(sessions, { olderThanMs: 90 * DAY_MS, ...policy }, NOW_MS, others);
  return { gone: idsOf(toDelete), kept: kept.map(({ session: { id }, reason }) => `${id} ${reason}`) };
}

describe("planRetention", () => {
  test("removes what was unused for longer than the policy allows", () => {
    const sessions = [session("a", 89), session("b", 90), session("c", 90.01), session("d", 1000)];
    expect(plan(sessions)).toEqual({ gone: ["c", "d"], kept: ["a recent", "b recent"] });
  });

  test("keeps sessions from the future or of an unknown time", () => {
    const sessions = [session("a", -5), session("b", Number.NaN)];
    expect(plan(sessions)).toEqual({ gone: [], kept: ["a recent", "b recent"] });
  });

  test("keeps named and labeled ones on request", () => {
    const sessions = [
      session("a", 100, { name: "Bugfix", isLabeled: false }),
      session("b", 100, { isLabeled: true }),
      session("c", 100, { isLabeled: false }),
      session("d", 100),
    ];
    expect(plan(sessions).gone).toEqual(["a", "b", "c", "d"]);
    expect(plan(sessions, { keepNamed: true, keepLabeled: true })).toEqual({
      gone: ["c"],
      kept: ["a named", "b labeled", "d labeled"],
    });
  });

  // The paths are of another system.
  test.skipIf(IS_WINDOWS)(
    "keeps the ancestors of kept sessions, by path, relative path, and id, unless parents are included",
    () => {
      const sessions = [
        session("a", 100),
        session("b", 100, { parentSession: "/projects/a.jsonl" }),
        session("c", 100, { parentSession: "b" }),
        session("d", 1, { parentSession: "c.jsonl" }),
        session("e", 100, { parentSession: "/projects/d.jsonl" }),
      ];
      expect(plan(sessions)).toEqual({ gone: ["e"], kept: ["a parent", "b parent", "c parent", "d recent"] });
      expect(plan(sessions, { includeParents: true })).toEqual({
        gone: ["a", "b", "c", "e"],
        kept: ["d recent"],
      });
    },
  );

  test("keeps the parents of sessions outside the plan", () => {
    const other = session("x", 1000, { parentSession: "a" });
    expect(plan([session("a", 100), session("b", 100)], {}, [other])).toEqual({
      gone: ["b"],
      kept: ["a parent"],
    });
  });

  test("terminates for sessions that descend from each other or from themselves", () => {
    const sessions = [
      session("a", 100, { parentSession: "b" }),
      session("b", 100, { parentSession: "a" }),
      session("c", 100, { parentSession: "c" }),
    ];
    expect(plan(sessions).gone).toEqual(["a", "b", "c"]);
    expect(plan(sessions, {}, [session("x", 0, { parentSession: "a" })]).gone).toEqual(["c"]);
  });

  test.each([Number.NaN, -1])("refuses %d milliseconds", (olderThanMs) => {
    expect(() => plan([], { olderThanMs })).toThrow(TypeError);
  });
});

const candidates = fc
  .array(
    fc.record({
      days: fc.integer({ min: -10, max: 400 }),
      name: fc.option(fc.constant("named"), { nil: undefined }),
      isLabeled: fc.boolean(),
      parent: fc.option(fc.nat({ max: 30 }), { nil: undefined }),
      byPath: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((records) =>
    records.map(({ days, name, isLabeled, parent, byPath }, i) => {
      const parentSession = byPath ? `/projects/s${parent}.jsonl` : `s${parent}`;
      return session(`s${i}`, days, {
        isLabeled,
        ...(name !== undefined && { name }),
        ...(parent !== undefined && { parentSession }),
      });
    }),
  );

const policies = fc.record({
  olderThanMs: fc.integer({ min: 0, max: 400 * DAY_MS }),
  keepNamed: fc.boolean(),
  keepLabeled: fc.boolean(),
  includeParents: fc.boolean(),
});

describe("for any sessions and any policy", () => {
  test("each session is in exactly one half of the plan, in the given order", () => {
    fc.assert(
      fc.property(candidates, policies, (sessions, policy) => {
        const { toDelete, kept } = planRetention(sessions, policy, NOW_MS);
        const stays = new Set(kept.map(({ session: one }) => one));
        expect(toDelete).toEqual(sessions.filter((one) => !stays.has(one)));
        expect([...stays]).toEqual(sessions.filter((one) => stays.has(one)));
      }),
    );
  });

  test("nothing is removed that the policy protects, and nothing is kept without its reason", () => {
    fc.assert(
      fc.property(candidates, policies, (sessions, policy) => {
        const { toDelete, kept } = planRetention(sessions, policy, NOW_MS);
        const isOld = (one: RetentionCandidate) => NOW_MS - one.modified.getTime() > policy.olderThanMs;
        for (const one of toDelete) {
          expect(isOld(one)).toBe(true);
          expect(policy.keepNamed && one.name !== undefined).toBe(false);
          expect(policy.keepLabeled && one.isLabeled).toBe(false);
        }
        for (const { session: one, reason } of kept) {
          if (reason === "recent") expect(isOld(one)).toBe(false);
          if (reason === "named") expect(policy.keepNamed && one.name).toBe("named");
          if (reason === "labeled") expect(policy.keepLabeled && one.isLabeled).toBe(true);
          if (reason === "parent") expect(policy.includeParents).toBe(false);
        }
      }),
    );
  });

  test("no parent of a kept session is removed, unless parents are included", () => {
    fc.assert(
      fc.property(candidates, policies, fc.nat({ max: 30 }), (all, policy, cut) => {
        const [sessions, others] = [all.slice(cut), all.slice(0, cut)];
        const { toDelete, kept } = planRetention(
          sessions,
          { ...policy, includeParents: false },
          NOW_MS,
          others,
        );
        const named = [...kept.map(({ session: one }) => one), ...others].map((one) =>
          one.parentSession === `/projects/${one.id}.jsonl` || one.parentSession === one.id
            ? undefined
            : one.parentSession,
        );
        for (const one of toDelete) {
          expect(named).not.toContain(one.path);
          expect(named).not.toContain(one.id);
        }
      }),
    );
  });

  test("a longer time removes no more", () => {
    fc.assert(
      fc.property(candidates, policies, fc.nat({ max: 100 * DAY_MS }), (sessions, policy, more) => {
        const before = new Set(planRetention(sessions, policy, NOW_MS).toDelete);
        const longer = { ...policy, olderThanMs: policy.olderThanMs + more };
        for (const one of planRetention(sessions, longer, NOW_MS).toDelete)
          expect(before.has(one)).toBe(true);
      }),
    );
  });
});
