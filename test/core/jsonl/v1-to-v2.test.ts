import { describe, expect, it } from "vitest";
import { upgradeV1Record } from "../../../src/core/jsonl/migrate.ts";

const place = {
  id: "mine",
  parentId: "before",
  entryIdFrom: (number: number) => (number < 9 ? `e${number}` : undefined),
};

describe("upgradeV1Record", () => {
  it("inserts the position after the type, instead of the record's own fields", () => {
    const record = { timestamp: "t", id: "old", type: "message", parentId: "x", message: 1 };
    expect(JSON.stringify(upgradeV1Record(record, place))).toBe(
      '{"type":"message","id":"mine","parentId":"before","timestamp":"t","message":1}',
    );
    expect(record.id).toBe("old");
  });

  it("converts a compaction's index to an id, its own if the index is past all entries", () => {
    const base = { type: "compaction", id: "mine", parentId: "before" };
    const upgrade = (fields: object) => upgradeV1Record({ type: "compaction", ...fields }, place);
    expect(upgrade({ firstKeptEntryIndex: 3 })).toEqual({ ...base, firstKeptEntryId: "e3" });
    expect(upgrade({ firstKeptEntryIndex: 9 })).toEqual({ ...base, firstKeptEntryId: "mine" });
    expect(upgrade({ firstKeptEntryIndex: 3, firstKeptEntryId: "own" })).toEqual({
      ...base,
      firstKeptEntryId: "own",
    });
    expect(upgrade({ firstKeptEntryIndex: "3" })).toEqual({ ...base, firstKeptEntryIndex: "3" });
  });

  it("keeps the index of any other entry, and a field named __proto__", () => {
    const record = JSON.parse('{"type":"custom","firstKeptEntryIndex":3,"__proto__":{"a":1}}');
    expect(JSON.stringify(upgradeV1Record(record, place))).toBe(
      '{"type":"custom","id":"mine","parentId":"before","firstKeptEntryIndex":3,"__proto__":{"a":1}}',
    );
  });
});
