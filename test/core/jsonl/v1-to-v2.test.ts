import { describe, expect, it } from "vitest";
import { upgradeV1Record } from "../../../src/core/jsonl/migrate.ts";

const place = {
  id: "mine",
  parentId: "before",
  entryIdFrom: (number: number) => (number < 9 ? `e${number}` : undefined),
};

describe("upgradeV1Record", () => {
  it("puts the place behind the type, instead of what the record says of it", () => {
    const record = { timestamp: "t", id: "old", type: "message", parentId: "x", message: 1 };
    expect(JSON.stringify(upgradeV1Record(record, place))).toBe(
      '{"type":"message","id":"mine","parentId":"before","timestamp":"t","message":1}',
    );
    expect(record.id).toBe("old");
  });

  it("turns a compaction's index into an id, its own where the index is behind all entries", () => {
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

  it("leaves the index of any other entry, and a field named __proto__, alone", () => {
    const record = JSON.parse('{"type":"custom","firstKeptEntryIndex":3,"__proto__":{"a":1}}');
    expect(JSON.stringify(upgradeV1Record(record, place))).toBe(
      '{"type":"custom","id":"mine","parentId":"before","firstKeptEntryIndex":3,"__proto__":{"a":1}}',
    );
  });
});
