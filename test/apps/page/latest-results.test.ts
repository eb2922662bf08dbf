import { expect, test } from "vitest";
import { makeConversationRows } from "../../../src/apps/page/model/conversation-rows.ts";
import { rememberLatest } from "../../../src/apps/page/model/latest-results.ts";
import { viewPath } from "../../../src/apps/page/model/path-items.ts";
import { getPathTo } from "../../../src/apps/page/model/session-model.ts";
import { chooseForDetail, getTrunk, makePageTreeRows } from "../../../src/apps/page/model/tree-rows.ts";
import { findStretches } from "../../../src/apps/page/model/turns.ts";
import { getUsage, groupCalls, orderCalls, sumCosts } from "../../../src/apps/page/model/usage.ts";
import { makeModel } from "./support/session.ts";

test("remembers the latest results of each first argument, and computes forgotten ones again", () => {
  const computed: string[] = [];
  const join = rememberLatest((owner: { name: string }, ...parts: readonly unknown[]) => {
    const text = [owner.name, ...parts].join(" ");
    computed.push(text);
    return { text };
  }, 2);
  const [one, other] = [{ name: "one" }, { name: "other" }];
  const first = join(one, 1);
  expect(join(one, Number.NaN)).toBe(join(one, Number.NaN));
  expect(join(one, 1)).toBe(first);
  expect(join(other, 1).text).toBe("other 1");
  expect(computed).toEqual(["one 1", "one NaN", "other 1"]);
  // The first result was asked for again, so the second one is the oldest.
  expect(join(one, 2).text).toBe("one 2");
  expect(join(one, 1)).toBe(first);
  join(one, Number.NaN);
  expect(computed).toEqual(["one 1", "one NaN", "other 1", "one 2", "one NaN"]);
});

test("a path, its rows, its times, the tree, and the usage of a session are made once", () => {
  const session = makeModel([
    ["a", null, "ask"],
    ["b", "a", "ask again"],
    ["c", "b", { type: "compaction", summary: "", firstKeptEntryId: "b", tokensBefore: 1 }],
  ]);
  const path = viewPath(session, session.leaf);
  expect(viewPath(session, session.leaf)).toBe(path);
  expect(path.shownItems).toBe(path.shownItems);
  const rowsWith = (isOpen: boolean) => makeConversationRows(path.items, () => isOpen);
  const closed = rowsWith(false);
  expect(rowsWith(true)).not.toEqual(closed);
  expect(rowsWith(false)).toBe(closed);
  expect(rowsWith(true)).toBe(rowsWith(true));
  const steps = getPathTo(session, session.leaf);
  expect(findStretches(session, steps)).toBe(findStretches(session, steps));
  const open: ReadonlySet<number> = new Set();
  const drawn = () => chooseForDetail(session, getTrunk(session), "all");
  const rows = () => makePageTreeRows(session, getTrunk(session), drawn(), open, false);
  expect(rows()).toBe(rows());
  const usage = getUsage(session);
  expect(getUsage(session)).toBe(usage);
  expect(sumCosts(usage)).toBe(sumCosts(usage));
  expect(groupCalls(usage.counted, 2)).toBe(groupCalls(usage.counted, 2));
  expect(orderCalls(usage.calls, "cost", 1)).toBe(orderCalls(usage.calls, "cost", 1));
});
