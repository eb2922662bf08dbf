import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../src/core/format/json.ts";
import { migrateSessionEntries, readStatedVersion, upgradeRecord } from "../../../src/core/jsonl/migrate.ts";
import fc from "../../support/fast-check.ts";

const message = (fields: object = {}): JsonRecord => ({ type: "message", timestamp: "t", ...fields });
const header = (fields: object = {}): JsonRecord => ({ type: "session", id: "s", ...fields });
const compaction = (firstKeptEntryIndex: number): JsonRecord => ({ type: "compaction", firstKeptEntryIndex });

describe("statedVersion", () => {
  it.each([
    [{}, 1, true],
    [{ version: 3 }, 3, true],
    [{ version: "2" }, 2, true],
    [{ version: 4 }, 4, true],
    [{ version: 3.5 }, 3.5, true],
    [{ version: "99999999999999999999" }, Number.MAX_SAFE_INTEGER, true],
    [{ version: 2.5 }, undefined, false],
    [{ version: "0.1.0" }, undefined, false],
    [{ version: " 3" }, undefined, false],
    [{ version: "" }, undefined, false],
    [{ version: 0 }, undefined, false],
    [{ version: -1 }, undefined, false],
    [{ version: null }, undefined, false],
    [{ version: true }, undefined, false],
    [{ version: [3] }, undefined, false],
  ])("of %j is %j", (fields, version, isClear) => {
    expect(readStatedVersion(fields)).toEqual({ version, isClear });
  });
});

describe("upgradeRecord", () => {
  const place = { id: "new", parentId: null, entryIdFrom: () => undefined };
  const hook = message({ id: "old", message: { role: "hookMessage" } });

  it("takes every step from the record's version on, and no other", () => {
    expect(upgradeRecord(hook, 1, place)).toMatchObject({ id: "new", message: { role: "custom" } });
    expect(upgradeRecord(hook, 2, place)).toMatchObject({ id: "old", message: { role: "custom" } });
    expect(upgradeRecord(hook, 3, place)).toBe(hook);
  });
});

describe("migrateSessionEntries", () => {
  it("makes a chain of a version-1 list, in place", () => {
    const records = [header(), message(), message({ id: "own", parentId: "odd" }), message({ id: "own" })];
    const same = [...records];
    expect(migrateSessionEntries(records)).toBe(true);
    expect(records.every((record, i) => record === same[i])).toBe(true);
    const [head, first, second, third] = records;
    expect(head).toEqual(header({ version: 3 }));
    expect(first).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{8}$/), parentId: null });
    expect(second).toMatchObject({ id: "own", parentId: first?.["id"] });
    expect(third).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{8}$/), parentId: "own" });
    expect(Object.keys(first ?? {})).toEqual(["type", "id", "parentId", "timestamp"]);
  });

  it("counts firstKeptEntryIndex with the header at 0", () => {
    const records = [
      header(),
      message({ id: "a" }),
      message({ id: "b" }),
      compaction(2),
      message({ id: "c" }),
    ];
    migrateSessionEntries(records);
    expect(records[3]).toMatchObject({ firstKeptEntryId: "b", parentId: "b" });
    expect(records[3]).not.toHaveProperty("firstKeptEntryIndex");
  });

  it.each([
    ["the header", 0, "a"],
    ["a number below 0", -5, "a"],
    ["a record that is not an entry", 2, "b"],
    ["a later entry", 5, "c"],
    ["nothing", 6, "own"],
    ["nothing far away", 1e300, "own"],
  ])("resolves an index at %s to the first entry from there on", (_name, index, id) => {
    const records = [
      header(),
      message({ id: "a" }),
      { odd: "no type" },
      message({ id: "b" }),
      { ...compaction(index), id: "own" },
      message({ id: "c" }),
    ];
    migrateSessionEntries(records);
    expect(records[4]).toMatchObject({ firstKeptEntryId: id });
    expect(records[2]).toEqual({ odd: "no type" });
  });

  it("counts from the header even if a record precedes it, or if it is missing", () => {
    const behind = [{ type: "title" }, header(), message({ id: "a" }), message({ id: "b" }), compaction(2)];
    migrateSessionEntries(behind);
    expect(behind[0]).toEqual({ type: "title" });
    expect(behind[4]).toMatchObject({ firstKeptEntryId: "b" });
    const none = [message(), message(), compaction(2)];
    expect(migrateSessionEntries(none)).toBe(true);
    expect(none[2]).toMatchObject({ firstKeptEntryId: none[1]?.["id"] });
  });

  it("only renames roles in version 2", () => {
    const records = [
      header({ version: 2 }),
      message({ id: "a", parentId: "x", message: { role: "hookMessage" } }),
      message({ id: "b", parentId: null }),
    ];
    expect(migrateSessionEntries(records)).toBe(true);
    expect(records).toEqual([
      header({ version: 3 }),
      message({ id: "a", parentId: "x", message: { role: "custom" } }),
      message({ id: "b", parentId: null }),
    ]);
  });

  it.each([3, 4, 3.5, "4"])("keeps version %j, except for its spelling", (version) => {
    const records = [header({ version }), message({ message: { role: "hookMessage" } })];
    const before = structuredClone(records);
    expect(migrateSessionEntries(records)).toBe(false);
    expect(records).toEqual(before);
  });

  it("detects an unclear version by the ids", () => {
    const tree = [header({ version: "0.1.0" }), message({ id: "a", parentId: "x" })];
    expect(migrateSessionEntries(tree)).toBe(true);
    expect(tree).toEqual([header({ version: 3 }), message({ id: "a", parentId: "x" })]);
    const list = [header({ version: "0.1.0" }), message({ id: "" })];
    migrateSessionEntries(list);
    expect(list[1]?.["id"]).toMatch(/^[0-9a-f]{8}$/);
  });

  it("is deterministic and idempotent", () => {
    const record = fc.oneof(
      fc.record(
        {
          type: fc.constantFrom("message", "custom", "title"),
          id: fc.constantFrom("a", "b", "", "__proto__"),
        },
        { requiredKeys: ["type"] },
      ),
      fc.record({
        type: fc.constant("compaction"),
        firstKeptEntryIndex: fc.double({ min: -2, max: 9, noNaN: true }),
      }),
      fc.record({
        type: fc.constant("message"),
        message: fc.record({ role: fc.constantFrom("hookMessage", "user") }),
      }),
      fc.record({
        type: fc.constant("session"),
        id: fc.constant("s"),
        version: fc.constantFrom<unknown>(1, "2", 3, 4, "x", null),
      }),
      fc.constant({ odd: 1 }),
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 9 }), (records) => {
        const [once, again] = [structuredClone(records), structuredClone(records)];
        const isChanged = migrateSessionEntries(once);
        expect(migrateSessionEntries(again)).toBe(isChanged);
        expect(again).toEqual(once);
        if (!isChanged) expect(once).toEqual(records);
        migrateSessionEntries(again);
        expect(again).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });

  it("keeps a field named __proto__ as a field", () => {
    const odd: JsonRecord = JSON.parse('{"type":"custom","__proto__":{"polluted":true}}');
    migrateSessionEntries([header(), odd]);
    expect(Object.hasOwn(odd, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(odd)).toBe(Object.prototype);
  });

  it("handles 100,000 entries of one id", () => {
    const records = Array.from({ length: 100_000 }, () => message({ id: "same" }));
    records.unshift(header({ version: 1 }));
    migrateSessionEntries(records);
    expect(new Set(records.map((record) => record["id"])).size).toBe(100_001);
  });
});
