import { expect, test } from "vitest";
import { SessionBuilder } from "../../../src/interop/import/session-builder.ts";

const ORIGIN = { source: "codex", sourceId: "own", startedAt: undefined } as const;
const builderOf = (more: object) =>
  new SessionBuilder({ importedAt: "2027-01-01T00:00:00.000Z" }, { ...ORIGIN, ...more });

test.each([
  [{}, undefined],
  [{ startedBy: "own", forkOf: "own" }, undefined],
  [
    { startedBy: "own", forkOf: "other" },
    { sourceId: "other", relation: "fork" },
  ],
  [
    { startedBy: "main", forkOf: "other" },
    { sourceId: "main", relation: "subagent" },
  ],
])("never makes a session its own parent: %j", (origin, parent) => {
  expect(builderOf(origin).finish().parent).toEqual(parent);
});

test("uses the first path as the working directory, and reports an invalid one after the other issues", () => {
  const known = { code: "TAIL_TORN", line: 0, offset: 0, length: 0, message: "torn" } as const;
  const { header, issues } = builderOf({ folders: [7, "", "/a\0", "/b", "/c"], issues: [known] }).finish();
  expect(header.cwd).toBe("/b");
  expect(issues).toEqual([known, expect.objectContaining({ message: expect.stringContaining("zero byte") })]);
});

test("numbers records without an id, and no longer finds a withdrawn entry", () => {
  const builder = builderOf({});
  expect(["a", "b", "a", "a"].map((key) => builder.numbered(key))).toEqual(["a", "b", "a 1", "a 2"]);
  const kept = builder.keep("one", undefined, undefined, "note", { said: 1 });
  expect(kept).toMatchObject({ type: "custom", customType: "codex.note", data: { said: 1 } });
  expect(builder.findDraft(kept.id)).toBe(kept);
  expect(builder.takeBack(kept)).toBe(true);
  expect(builder.findDraft(kept.id)).toBeUndefined();
});
